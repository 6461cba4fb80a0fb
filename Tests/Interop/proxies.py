"""nginx and Caddy with the configurations of docs/postback.md, on loopback and without TLS."""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from protos import ROOT
from server import wait_until

PAGE = ROOT / "docs" / "postback.md"


def snippet(language: str) -> str:
    """The page's one block of this language."""
    [text] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return text


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """The text with other addresses: each has to be there."""
    for old, new in pairs:
        assert old in text, f"{PAGE.name} has no {old!r}"
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def held_port(is_shared: bool = False):
    """A port of loopback that refuses connections, and that nobody else takes meanwhile; with
    `is_shared`, only who asks for SO_REUSEPORT, as both proxies do."""
    with socket.socket() as held:
        if is_shared:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def nginx_configuration(port: int, sightline: str, adobe: str, folder: pathlib.Path) -> str:
    server = changed(
        snippet("nginx"), ("127.0.0.1:8080", sightline), ("default https://adobe;",
                                                          "default http://adobe;"),
        ("server example.campaign.adobe.com:443;", f"server {adobe};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} reuseport;"),
        ("    ssl_certificate /etc/ssl/track.example.com.pem;\n", ""),
        ("    ssl_certificate_key /etc/ssl/track.example.com.key;\n", ""))
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return (f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr;\n"
            f"events {{}}\nhttp {{\n{paths}{server}}}\n")


def caddy_configuration(port: int, sightline: str, adobe: str, folder: pathlib.Path) -> str:
    site = changed(
        snippet("caddy"), ("track.example.com {", f"http://track.example.com:{port} {{"),
        ("127.0.0.1:8080", sightline), ("https://example.campaign.adobe.com", f"http://{adobe}"))
    return f"{{\n    admin off\n    auto_https off\n    storage file_system {folder}\n}}\n{site}"


CONFIGURATIONS = {"nginx": nginx_configuration, "caddy": caddy_configuration}


def program(name: str) -> str:
    """The program: nginx is Debian's, caddy comes with requirements.txt."""
    beside = pathlib.Path(sys.executable).with_name(name)
    path = str(beside) if beside.exists() else shutil.which(name) or shutil.which(f"/usr/sbin/{name}")
    assert path, f"no {name}: run `make bootstrap`"
    return path


@contextlib.contextmanager
def proxy(name: str, folder: pathlib.Path, sightline: str, adobe: str):
    """A running proxy; its port."""
    folder.mkdir()
    path = folder / "configuration"
    command = {"nginx": [program("nginx"), "-p", str(folder), "-c", str(path)],
               "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config", str(path)]}[name]
    command[0] = program(name)
    with held_port(is_shared=True) as port, (folder / "log").open("wb") as log:
        path.write_text(CONFIGURATIONS[name](port, sightline, adobe, folder))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_until(lambda: process.poll() is not None or accepts(port), f"{name} to listen")
            assert process.poll() is None, (folder / "log").read_text()
            yield port
        finally:
            process.terminate()
            process.wait(timeout=20)


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
