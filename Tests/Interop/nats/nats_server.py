"""Real nats-server processes, alone or as a cluster, and the folders that they leave."""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess

from server import wait_until

START_SECONDS = 30
# The ports of this process. Each worker of xdist has a part of its own: what another one has given
# and nobody has bound yet looks free.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
COUNT = 10_000 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
PORTS = range(20_000 + WORKER * COUNT, 20_000 + (WORKER + 1) * COUNT)
GIVEN: set[int] = set()


def free_port() -> int:
    """A port that nobody has, below those that the system gives to connections, and that is given
    out once: servers of a cluster have to know each other's before they start."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in GIVEN:
            GIVEN.add(port)
            return port


class NatsServer:
    """One nats-server with JetStream on a store of its own. It keeps its port when it is started
    again."""

    def __init__(self, folder: pathlib.Path, *arguments: str, tls: bool = False):
        self.store = folder / "store"
        self.store.mkdir(parents=True, exist_ok=True)
        self.log_path = folder / "log"
        self.port = free_port()
        self.arguments = arguments
        self.scheme = "tls" if tls else "nats"
        self.process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start(self) -> "NatsServer":
        """Starts the process, and waits until its port answers."""
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd",
                   str(self.store), "-l", str(self.log_path), *self.arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.answers, f"nats-server on port {self.port}\n{self.log()}", START_SECONDS)
        return self

    def answers(self) -> bool:
        """Whether its port takes connections; fails where the process has ended."""
        assert self.process.poll() is None, f"nats-server has ended\n{self.log()}"
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def log(self) -> str:
        """The last of what it logged."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "nats-server's log:\n" + text[-3000:]

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)

    def terminate(self) -> None:
        """SIGTERM: it hands its leaderships over, and ends."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)

    def wipe(self) -> None:
        """Empties the store of a server that is down: a disk that was lost."""
        shutil.rmtree(self.store)
        self.store.mkdir()

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.kill()


class Snapshot:
    """A server's store as it was at one moment, as after a power cut that took what came later."""

    def __init__(self, server: NatsServer, folder: pathlib.Path):
        self.server = server
        self.folder = folder
        server.process.send_signal(signal.SIGSTOP)
        shutil.copytree(server.store, folder)
        server.process.send_signal(signal.SIGCONT)

    def restore(self) -> None:
        """kill -9, the older store, and a new start."""
        self.server.kill()
        shutil.rmtree(self.server.store)
        shutil.copytree(self.folder, self.server.store)
        self.server.start()


class Cluster:
    """Servers that know each other: as many as a stream needs for its replicas."""

    def __init__(self, folder: pathlib.Path, count: int = 3):
        ports = [free_port() for _ in range(count)]
        routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
        self.servers = [
            NatsServer(folder / f"n{number}", "--server_name", f"n{number}", "--cluster_name",
                       "test", "--cluster", f"nats://127.0.0.1:{port}", "--routes", routes)
            for number, port in enumerate(ports)]

    @property
    def url(self) -> str:
        return ",".join(server.url for server in self.servers)

    def start(self) -> "Cluster":
        for server in self.servers:
            server.start()
        return self

    def named(self, name: str) -> NatsServer:
        """The server of that name, as the stream's leader is told."""
        return self.servers[int(name.removeprefix("n"))]

    def close(self) -> None:
        for server in self.servers:
            server.close()
