"""The servers of the benchmarks: how each is started, and stopped again."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS = 60
STOP_SECONDS = 60
# "before" is an older program, measured in turn with the one that is to replace it.
SIGHTLINES = ("sightline", "before")
# Answers RecordEvents with fixed bytes, in any mode: the library beneath Sightline, and nothing else.
BARE = "bare"


class Server:
    """A running server with a data folder of its own, which goes when it stops.

    With `door` it also serves HTTP, at `url`; and with the paths of a certificate and its key, by
    TLS. Sightline reads `configuration`, in YAML.
    """

    def __init__(self, name: str, mode: str, data: pathlib.Path, sightline: pathlib.Path,
                 sink: str | None = "discard", admin: str = "off", variables: dict | None = None,
                 door: bool = False, tls: tuple[str, str] | None = None, configuration: str = ""):
        self.name = name
        self.data = data / f"{name}-{mode}-{os.getpid()}"
        self.data.mkdir(parents=True)
        self.log_path = data / f"{name}-{mode}.stderr"
        environment = os.environ | (variables or {})
        if name in SIGHTLINES:
            command = [sightline, "serve", "--listen", "127.0.0.1:0", "--admin", admin,
                       "--data-dir", self.data, *(["--sink", sink] if sink else [])]
            if configuration:
                path = data / f"{name}-{mode}.yaml"
                path.write_text(configuration)
                command += ["--config", path]
            if tls:
                command += ["--set=tls.mode=tls", f"--set=tls.certificate={tls[0]}",
                            f"--set=tls.key={tls[1]}"]
            if mode == "discard":
                environment["SIGHTLINE_JOURNAL_MODE"] = "off"
        elif name == BARE:
            command = [pathlib.Path(sightline).with_name("bareserver")]
        else:
            command = [HERE / ".build" / f"peer-{name}", "--listen", "127.0.0.1:0",
                       "--mode", mode, "--file", self.data / "journal"]
            if tls:
                command += ["--tls-certificate", tls[0], "--tls-key", tls[1]]
        if door:
            command += ["--http", "127.0.0.1:0"]
        if not pathlib.Path(command[0]).exists():
            raise FileNotFoundError(f"{command[0]} does not exist: build it first, see README.md")
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen([str(part) for part in command], env=environment,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=log)
        # A line for each port, in the order in which they come.
        lines = [self._read_line() for _ in range(1 + (admin != "off") + door)]
        self.target, self.page, self.url = (
            next((line.removeprefix(prefix) for line in lines if line.startswith(prefix)), "")
            for prefix in ("listening on ", "admin page on ", "HTTP on "))

    def _read_line(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        line = b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.kill()
                raise TimeoutError(f"{self.name} did not listen in {START_SECONDS} s")
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                self.kill()
                log = self.log_path.read_text(errors="replace").strip()
                raise RuntimeError(f"{self.name} ended before it listened: {log}")
            line += byte
        return line.decode().strip()

    def kill(self) -> None:
        """Ends it at once, and removes its data."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)

    def end(self) -> None:
        """Ends it as an operator would, and leaves its data."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(STOP_SECONDS)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        self.kill()
