"""What a service manager such as systemd is told on its socket: ready, reloading, alive, stopping."""

import os
import signal
import socket

import pytest

from server import STOP_SECONDS, wait_until

WATCHDOG_SECONDS = 0.6
SECONDS = 30


class Manager:
    """A socket as the manager's, and what came by it."""

    def __init__(self, path: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(SECONDS)

    def take(self, name: str) -> dict[str, str]:
        """The next message that has this name; those before it are passed over."""
        while True:
            lines = self.socket.recv(4096).decode().split("\n")
            message = dict(line.split("=", 1) for line in lines)
            if name in message:
                return message

    def waiting(self) -> list[str]:
        """What has come so far and was not taken."""
        self.socket.setblocking(False)
        found = []
        try:
            while True:
                found.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            self.socket.settimeout(SECONDS)
            return found


@pytest.fixture(params=["file", "abstract"])
def manager(request, tmp_path):
    path = str(tmp_path / "notify") if request.param == "file" else f"\0sightline-{os.getpid()}"
    made = Manager(path)
    made.environment = os.environ | {"NOTIFY_SOCKET": path.replace("\0", "@")}
    yield made
    made.socket.close()


def test_the_life_of_a_server(make_server, manager):
    """Ready when it listens; a reload begins with the clock's time and ends with ready."""
    server = make_server(environment=manager.environment).start()
    assert server.target in manager.take("READY")["STATUS"]
    server.process.send_signal(signal.SIGHUP)
    assert int(manager.take("RELOADING")["MONOTONIC_USEC"]) > 0
    assert manager.take("READY")["READY"] == "1"
    server.process.terminate()
    assert manager.take("STOPPING")["STOPPING"] == "1"
    assert server.wait(STOP_SECONDS, "to end") == 0
    assert not any("WATCHDOG" in message for message in manager.waiting())


def test_signs_of_life(make_server, manager):
    """They come as long as the journal has its turns, and none while the process is stopped."""
    microseconds = str(int(WATCHDOG_SECONDS * 1e6))
    server = make_server(environment=manager.environment | {"WATCHDOG_USEC": microseconds}).start()
    for _ in range(5):
        assert manager.take("WATCHDOG")["WATCHDOG"] == "1"
    server.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: stopped(server.process.pid), "the process to be stopped")
    manager.waiting()
    manager.socket.settimeout(2 * WATCHDOG_SECONDS)
    with pytest.raises(TimeoutError):
        manager.take("WATCHDOG")
    server.process.send_signal(signal.SIGCONT)
    manager.socket.settimeout(SECONDS)
    manager.take("WATCHDOG")


def test_signs_of_life_are_anothers(make_server, manager):
    """With another process's number the time is not for this one."""
    environment = manager.environment | {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}
    server = make_server(environment=environment).start()
    manager.take("READY")
    assert server.terminate() == 0
    assert not any("WATCHDOG" in message for message in manager.waiting())


def test_a_manager_that_has_gone_harms_nothing(make_server, tmp_path):
    environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "none"), "WATCHDOG_USEC": "3000"}
    server = make_server(environment=environment).start()
    server.process.send_signal(signal.SIGHUP)
    assert server.terminate() == 0


def stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"
