"""The one list of what a page shows and no test runs: commands and code blocks, by how they begin, each
with its reason. A command or block that is neither run nor here fails its test, and so does a row
that no page needs."""

NOT_RUN = {
    # Commands, in consoles.
    "install ": "writes into the machine's own folders",
    "systemctl ": "needs systemd as the machine's first process",
    "runuser -u sightline ": "reads what the service of systemd keeps; test_packages.py has one",
    **dict.fromkeys(
        ("sightline keys new --config /etc/sightline", "sightline keys revoke --config /etc/sight",
         "sightline validate /etc/sightline"),
        "works on that service's files; test_root_runs_a_servers_commands.py has its own"),
    "docker ": "needs a container engine",
    "pip install Backends/lake": "loads from a registry; Backends/lake/tests run an installed one",
    "sightline-lake --table hits": "never ends; Backends/lake/tests start it",
    "sightline why 56c4": "needs a server that has events; test_why.py has one",
    "kubectl ": "needs a cluster",
    "Benchmarks/": "needs the peers, takes minutes, and measures nothing on a busy machine",
    ".venv/bin/python Benchmarks/": "the same",
    "sudo -u postgres ": "changes the machine's own PostgreSQL; test_postgresql.py has one of its own",
    "sightline tail --follow": "never ends; test_tap.py reads what it prints",
    "sightline sinks try webhook": "needs a receiver that refuses; test_sinks_try.py has one",
    "java -cp '.build/clients/java/*' First.java": "its program is a block above it, which is run",
    ".venv/bin/python Examples/lake/": "needs a table; test_lake_queries.py draws one",
    # Units.
    "[Service]\nSupplementaryGroups=": "needs systemd; test_unit_lets_a_group_read.py reads it",
    # Pictures and output.
    "client ──HTTP/2──▶ edge": "a picture",
    "clients ══▶ balancer": "a picture",
    "Commands   the command line": "a picture, compared with Package.swift by TidyTests",
    "WRONG  retry-later": "output of a wrong client; test_conformance.py has such clients",
    "POST /hits HTTP/1.1": "a request as a receiver gets it; test_webhook.py verifies those",
    "upstream sightline {": "a proxy's configuration; test_http_postback.py runs it",
    "track.example.com {": "the same",
    # Code. The blocks of docs/lake.md that are run are in test_lake_queries.py.
    "INSTALL delta;": "DuckDB loads its extension from the network",
    "INSTALL sqlite;": "the same",
    "spark.read.format(": "needs Spark",
    "CALL delta.system.register_table(": "needs Trino and a catalog",
    "CREATE EXTERNAL TABLE sightline.hits": "needs BigQuery",
    "import datetime\n\nimport pyarrow.compute\nfrom deltalake": "needs an Iceberg catalog",
    "dependencies: [.package(name": "a manifest's lines; Examples/client-swift has them",
    "func run() async throws {": "needs ServiceLifecycle, which the client library does not import",
    "func traceparent(ctx context.Context)": "needs OpenTelemetry for Go, which Debian has not packaged",
    "SELECT kind, delivery_id": "needs a PostgreSQL with hits; test_postgresql.py reads these tables",
    "GRANT USAGE ON SCHEMA sightline": "needs a PostgreSQL; test_postgresql.py grants the same",
}


def reason_not_to_run(text: str) -> str | None:
    """Why a command or a block is not run; None where it is."""
    return next((reason for beginning, reason in NOT_RUN.items()
                 if text.startswith(beginning)), None)
