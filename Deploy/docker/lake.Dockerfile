# syntax=docker/dockerfile:1
# From the root of the repository:
#   docker build -f Deploy/docker/lake.Dockerfile -t "sightline-lake:$(cat VERSION)" .
ARG PYTHON_IMAGE=python:3.13-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /source
COPY VERSION ./
COPY Protos Protos
COPY Backends/lake Backends/lake
RUN python -m venv /usr/local/lib/sightline-lake \
    && /usr/local/lib/sightline-lake/bin/pip install --no-cache-dir ./Backends/lake

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="sightline-lake" \
    org.opencontainers.image.description="Keeps a Delta table of Sightline's hits." \
    org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10002 --no-create-home --shell /usr/sbin/nologin lake \
    && install -d -m 0700 -o lake -g lake /var/lib/sightline-lake
COPY --from=build /usr/local/lib/sightline-lake /usr/local/lib/sightline-lake
USER 10002:10002
WORKDIR /var/lib/sightline-lake
# The state has to outlive the container, and so has a local table.
VOLUME ["/var/lib/sightline-lake"]
EXPOSE 50061 9465
# It commits all that is staged: docker stop --time 90.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9465/metrics')"]
ENTRYPOINT ["/usr/local/lib/sightline-lake/bin/sightline-lake"]
CMD ["--table=hits", "--state=state"]
