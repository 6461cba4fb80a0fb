"""The metrics as Prometheus's own tools see them, on a server under load."""

import json
import pathlib
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from facts import Facts
from otlp import Receiver
from protos import ROOT, service as s
from server import binary, wait_until

# How often Prometheus asks, and how long it waits: no longer than until it asks again, and no
# answer may be late.
SCRAPE_SECONDS = 5
# Extracted by Scripts/bootstrap: as a package it would start a service.
TOOLS = ROOT / ".venv/bin"
needs_prometheus = pytest.mark.skipif(
    not (TOOLS / "promtool").exists(), reason="no promtool: run `make bootstrap`")


def scrape(server, accept: str = "*/*") -> tuple[str, str]:
    """The exposition, and its media type."""
    request = urllib.request.Request(server.admin + "metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def values(text: str) -> dict[str, float]:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


class Load:
    """`sightline bench` beside a test."""

    def __init__(self, server, seconds: int):
        self.process = subprocess.Popen(
            [str(binary()), "bench", "--target", server.target, "--seconds", str(seconds),
             "--rate", "2000", "--batch", "20", "--mix", "real", "--json"],
            stdout=subprocess.PIPE, text=True)

    def figures(self) -> dict:
        output, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, output
        return json.loads(output)


@needs_prometheus
def test_promtool_finds_nothing_wrong_with_a_scrape_under_load(make_server):
    server = make_server("--sink", "discard").start()
    load = Load(server, 4)
    name = 'sightline_events_total{verdict="accepted",reason=""}'
    wait_until(lambda: values(scrape(server)[0])[name] > 0, "events to be counted")
    text, media_type = scrape(server)
    assert media_type == "text/plain; version=0.0.4; charset=utf-8"
    check = subprocess.run([TOOLS / "promtool", "check", "metrics"], input=text, text=True,
                           capture_output=True, timeout=60)
    # 3 is for what could be better, 1 for what is wrong; both say so.
    assert (check.returncode, check.stdout + check.stderr) == (0, "")
    load.figures()


def test_what_was_sent_is_what_was_counted(make_server):
    server = make_server("--sink", "discard").start()
    before = values(scrape(server)[0])
    figures = Load(server, 2).figures()
    events = 'sightline_events_total{verdict="accepted",reason=""}'
    # The last are counted as they are answered, the sink takes them after that.
    delivered = 'sightline_sink_delivered_hits_total{sink="discard"}'

    def all_delivered():
        now = values(scrape(server)[0])
        hits = sum(value for name, value in now.items() if name.startswith("sightline_hits_total"))
        return now if hits == now[delivered] else None
    now = wait_until(all_delivered, "all hits to be delivered")
    assert before[events] == 0 and now[events] == figures["accepted"]
    assert figures["accepted"] + figures["duplicate"] == figures["events"]
    assert now["sightline_received_bytes_total"] > 100 * figures["events"]
    assert now["sightline_commit_duration_seconds_count"] == now["sightline_journal_groups_total"]
    requests = now['sightline_requests_total{method="StreamEvents",outcome="answered"}']
    assert now["sightline_ack_duration_seconds_count"] == requests > 0
    assert now["sightline_journal_bytes"] <= now["sightline_journal_limit_bytes"]
    assert now["sightline_sink_lag_groups{sink=\"discard\"}"] == 0
    assert now["sightline_memory_in_flight_bytes"] == 0
    for name in ("resident_memory_bytes", "open_fds", "max_fds", "cpu_seconds_total"):
        assert now[f"process_{name}"] > 0
    assert abs(now["process_start_time_seconds"] - time.time()) < 300


def test_ready_reload_and_window(make_server, tmp_path):
    """A wrong configuration shows until a right one is in force, and the server stays ready."""
    path = tmp_path / "sightline.yaml"
    path.write_text("log: {level: info}\njournal: {recent_hits: 1000}\n")
    server = make_server("--config", str(path)).start()
    first = values(scrape(server)[0])
    assert (first["sightline_ready"], first["sightline_reload_succeeded"]) == (1, 1)
    assert (first["sightline_window_keys"], first["sightline_window_limit_keys"]) == (0, 1000)

    def reload(text: str, succeeded: int) -> dict[str, float]:
        path.write_text(text)
        server.process.send_signal(signal.SIGHUP)
        return wait_until(lambda: (now := values(scrape(server)[0]))
                          and now["sightline_reload_succeeded"] == succeeded and now, "the reload")

    wrong = reload("log: {level: loud}\n", 0)
    assert wrong["sightline_ready"] == 1
    time_of = "sightline_reload_timestamp_seconds"
    assert wrong[time_of] == first[time_of] <= time.time()
    right = reload("log: {level: debug}\njournal: {recent_hits: 1000}\n", 1)
    assert right[time_of] > first[time_of]
    facts = Facts(7, int(time.time()), space=94)
    events = [facts.push(flag="on").event for _ in range(3)]
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=20)
    now = values(scrape(server)[0])
    assert now["sightline_window_keys"] == 3
    assert now["sightline_request_events_sum"] == 3 and now["sightline_request_events_count"] == 1
    assert now['sightline_call_duration_seconds_count{method="RecordEvents"}'] == 1


def test_openmetrics_has_the_same_values_and_leads_to_traces(make_server):
    """Another one's parser reads it; an exemplar of an ack names the span that a receiver has."""
    receiver = Receiver()
    server = make_server("--sink", "discard", "--set", "telemetry.traces.delay_milliseconds=50",
                         "--set", f"telemetry.traces.endpoint={receiver.url}").start()
    facts = Facts(8, int(time.time()), space=95)
    with server.channel() as channel:
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[facts.push(flag="on").event]), timeout=20)
    plain = values(scrape(server)[0])
    text, media_type = scrape(server, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert media_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = [sample for family in families.values() for sample in family.samples]
    assert len(samples) == len(plain) > 100
    [accepted] = [sample.value for sample in families["sightline_events"].samples
                  if sample.labels == {"verdict": "accepted", "reason": ""}]
    assert accepted == 1
    [exemplar] = [sample.exemplar for sample in families["sightline_ack_duration_seconds"].samples
                  if sample.exemplar]
    assert 0 < exemplar.value < 60 and abs(float(exemplar.timestamp) - time.time()) < 300
    key = exemplar.labels["trace_id"], exemplar.labels["span_id"]
    assert receiver.wait_for(lambda span: span.key == key, "the exemplar's span")
    receiver.stop()


def test_the_build_is_told(make_server):
    server = make_server("--sink", "discard").start()
    told = json.loads(subprocess.run([binary(), "version", "--json"], check=True,
                                     capture_output=True).stdout)
    line = next(line for line in scrape(server)[0].splitlines()
                if line.startswith("sightline_build_info{"))
    assert line == (f'sightline_build_info{{version="{told["version"]}",commit="{told["commit"]}",'
                    f'swift="{told["swift"]}",traits="{",".join(told["traits"])}"}} 1')


def test_streams_and_connections_are_counted_on_and_off(make_server):
    server = make_server("--sink", "discard").start()
    gauges = ("sightline_streams", "sightline_connections")

    def are(*wanted):
        now = values(scrape(server)[0])
        return tuple(now[gauge] for gauge in gauges) == wanted
    end = threading.Event()

    def requests():
        yield s.StreamEventsRequest(
            sequence=1, events=[Facts(1, int(time.time()), space=91).push().event])
        end.wait(60)

    with server.channel() as channel:
        call = server.stub(channel).StreamEvents(requests(), timeout=60)
        wait_until(lambda: are(1, 1), "one stream on one connection")
        end.set()
        for _ in call:
            continue
        wait_until(lambda: are(0, 1), "no stream, and its connection")
    wait_until(lambda: are(0, 0), "no connection")


@needs_prometheus
def test_a_prometheus_scrapes_the_server(make_server, tmp_path, amount, figure):
    seconds = amount(20, 60)
    server = make_server("--sink", "discard").start()
    target = urllib.parse.urlsplit(server.admin).netloc
    (tmp_path / "prometheus.yml").write_text(
        f"global: {{scrape_interval: {SCRAPE_SECONDS}s, scrape_timeout: {SCRAPE_SECONDS}s}}\n"
        "scrape_configs:\n"
        f"  - {{job_name: sightline, static_configs: [{{targets: ['{target}']}}]}}\n")
    with (tmp_path / "log").open("wb") as log:
        prometheus = subprocess.Popen(
            [TOOLS / "prometheus", f"--config.file={tmp_path}/prometheus.yml",
             f"--storage.tsdb.path={tmp_path}/data", "--web.listen-address=127.0.0.1:0"],
            stdout=log, stderr=log)
    try:
        address = wait_until(lambda: listening(tmp_path / "log"), "Prometheus to listen")
        figures = Load(server, seconds).figures()

        def query(expression: str) -> float | None:
            path = "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
            with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
                result = json.loads(answer.read())["data"]["result"]
            return float(result[0]["value"][1]) if result else None

        accepted = 'sightline_events_total{verdict="accepted"}'
        wait_until(lambda: query(accepted) == figures["accepted"], "the last events to be scraped")
        scrapes = query("sum_over_time(up[70s])")
        failures = query("count_over_time(up[70s]) - sum_over_time(up[70s])")
        rate = query(f"max_over_time(rate({accepted}[{3 * SCRAPE_SECONDS}s])[60s:5s])")
        late = query("histogram_quantile(0.99, sum by (le) "
                     "(rate(sightline_ack_duration_seconds_bucket[1m])))")
    finally:
        prometheus.terminate()
        prometheus.wait(timeout=30)
    assert scrapes >= (seconds - 10) / SCRAPE_SECONDS and failures == 0
    assert 1000 < rate < 3000
    assert 0 < late < 5
    figure(f"metrics: {scrapes:.0f} scrapes, {rate:.0f} events/s, p99 of an ack {late * 1000:.1f} ms")


def listening(log: pathlib.Path) -> str | None:
    """The address that Prometheus says it listens on."""
    for line in log.read_text(errors="replace").splitlines():
        if 'msg="Listening on"' in line:
            return line.split("address=")[1].split()[0]
    return None
