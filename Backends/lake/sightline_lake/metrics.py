"""The lake's figures, as Prometheus reads them."""

import http.server
import threading
from collections.abc import Callable

FIGURES = {
    "hits_total": "Hits that were acknowledged.",
    "commits_total": "Commits of hits to the table.",
    "committed_hits_total": "Hits that were committed to the table.",
    "commit_failures_total": "Commits that failed; they are tried again.",
    "staged_bytes": "Bytes that are acknowledged and not in the table yet.",
    "lag_seconds": "Age of the oldest hits that are not in the table yet.",
    "files": "Files of the table when it was last tidied up.",
    "table_bytes": "Bytes of these files.",
    "last_commit_timestamp_seconds": "When hits were last committed; 0 before.",
    "last_compaction_timestamp_seconds": "When compaction last ended; 0 before.",
}


def text(values: dict[str, float]) -> str:
    """The figures in Prometheus' format."""
    return "".join(f"# HELP sightline_lake_{name} {help}\n"
                   f"# TYPE sightline_lake_{name} {'counter' if '_total' in name else 'gauge'}\n"
                   f"sightline_lake_{name} {values[name]:.15g}\n" for name, help in FIGURES.items())


def serve(address: str, read: Callable[[], dict[str, float]]) -> int:
    """Answers GET /metrics at host:port on a thread of its own; returns the port."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_known = self.path.partition("?")[0] == "/metrics"
            body = (text(read()) if is_known else "The figures are at /metrics.\n").encode()
            self.send_response(200 if is_known else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Requests are not logged."""

    host, _, port = address.rpartition(":")
    server = http.server.ThreadingHTTPServer((host.strip("[]"), int(port)), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
