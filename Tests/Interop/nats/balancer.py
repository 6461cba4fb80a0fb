"""haproxy with the configuration of Examples/cluster, in front of two ingest nodes."""

import os
import socket
import subprocess

import grpc

from nats_server import free_port
from protos import ROOT
from server import wait_until


class Balancer:
    """One address for several nodes. Nodes keep their addresses: each is started on a fixed one."""

    def __init__(self, targets: list[str], log_path):
        self.target = f"127.0.0.1:{free_port()}"
        self.log_path = log_path
        self.environment = os.environ | {
            "INGEST_LISTEN": self.target,
            **{f"INGEST_NODE_{number}": target for number, target in enumerate(targets, 1)}}
        self.process: subprocess.Popen | None = None

    def start(self) -> "Balancer":
        """Starts haproxy, and waits until its port answers."""
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                ["haproxy", "-db", "-f", str(ROOT / "Examples/cluster/haproxy.cfg")],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, f"haproxy on {self.target}: {self.log_path.read_text()}", 10)
        return self

    def answers(self) -> bool:
        """Whether its port takes connections."""
        assert self.process.poll() is None, self.log_path.read_text()
        host, port = self.target.split(":")
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            return False
        return True

    def channel(self) -> grpc.Channel:
        """A connection of its own to whichever node it is given."""
        return grpc.insecure_channel(self.target, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])

    def close(self) -> None:
        """Ends haproxy at once."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)
