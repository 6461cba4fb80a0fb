"""Wrong configurations stop the real program before its port is bound; SIGHUP reloads it."""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from server import binary, wait_until

SECONDS = 30
SAMPLE = 100
USAGE, UNAVAILABLE, CONFIGURATION = 64, 69, 78


def environment(**variables: str) -> dict[str, str]:
    """This process's variables without ours, and these."""
    inherited = {n: v for n, v in os.environ.items() if not n.startswith("SIGHTLINE_")}
    return inherited | variables


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run([binary(), *arguments], env=environment(**variables), text=True,
                          capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def taken():
    """An address that is in use: to bind it would end the server with 69, and not with 78."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(scope="module")
def keys() -> list[dict]:
    """Every key, as the program itself lists them."""
    answer = run("config", "print", "--json")
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


def yaml(name: str, value: str) -> str:
    """A document that sets one key."""
    parts = name.split(".")
    lines = ["  " * depth + part + ":" for depth, part in enumerate(parts)]
    return "\n".join(lines) + f" {value}\n"


def wrong_values(key: dict) -> list[str]:
    """Values that a key does not take: of a wrong type, and one beyond each end of its range."""
    if key["unit"] == "file":
        return ["/nowhere/at/all"]
    if "minimum" in key:
        return ["many", "1.5", str(key["minimum"] - 1), str(key["maximum"] + 1)]
    if "choices" in key:
        return ["perhaps", '""']
    return [] if key["default"] == "" else ['""']


def wrong_files(keys: list[dict]) -> list[tuple[str, str, str]]:
    """For every key: its name, a document, and what has to be said of it."""
    rows = []
    for key in keys:
        name = key["key"]
        # Before the word, not behind it: `sinkx` is as near to `sinks` as to `sink`.
        misspelt = f"{name[:name.rfind('.') + 1]}x{name[name.rfind('.') + 1:]}"
        rows.append((name, yaml(misspelt, "1"), f"{misspelt} is no key; did you mean {name}?"))
        rows += [(name, yaml(name, value), f"{name} is ") for value in wrong_values(key)]
        if key["unit"] == "list":
            rows += [(name, yaml(name, ""), f"{name} has to have a list"),
                     (name, yaml(name, "[1]"), f'{name} is "[1]", but item 1 has to have keys')]
        else:
            rows += [(name, yaml(name, value), f"{name} has to have one value")
                     for value in ("", "[1]")]
    return rows


def test_a_wrong_key_stops_the_start_before_the_port_is_bound(keys, taken, tmp_path, amount, seed,
                                                              figure):
    """Every key: misspelt, of a wrong type, beyond its range, with nothing, with a list."""
    rows = wrong_files(keys)
    rows = random.Random(seed).sample(rows, min(len(rows), amount(SAMPLE, len(rows))))

    def check(number: int) -> None:
        name, text, problem = rows[number]
        file = tmp_path / f"{number}.yaml"
        data = tmp_path / f"data{number}"
        file.write_text(text)
        listen = [] if name == "listen" else ["--listen", taken]
        directory = [] if name == "data_dir" else ["--data-dir", str(data)]
        answer = run("serve", "--config", str(file), *listen, *directory)
        depth = name.count(".")
        place = f"{file}:{depth + 1}:{2 * depth + 1}: "
        assert answer.returncode == CONFIGURATION, (text, answer)
        assert place in answer.stderr and problem in answer.stderr, (text, answer.stderr)
        assert answer.stdout == "" and not data.exists(), text

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert len(list(pool.map(check, range(len(rows))))) == len(rows) >= 40
    figure(f"configuration: {len(rows)} wrong files, each stopped with 78 before the bind")


@pytest.mark.parametrize("variables, flags, problem", [
    ({"SIGHTLINE_LISTN": "x"}, [], "did you mean SIGHTLINE_LISTEN?"),
    ({}, ["--set", "snk=jsonl"], "--set: snk is no key; did you mean sink?"),
    ({}, ["--set", "sink"], "sink needs a value"),
    ({}, ["--set", "sink=jsonl", "--set", "sink=sqlite"], "sink is given twice"),
    ({}, ["--sink", "jsonl", "--set", "sink=jsonl"], "sink is given twice"),
    ({}, ["--sink", "jsnl"], '--sink: sink is "jsnl"'),
    ({}, ["--listen", "localhost:1"], 'listen is "localhost:1", but has to be HOST:PORT'),
    ({}, ["--data-dir", "/dev/null/data"], 'data_dir is "/dev/null/data"'),
    ({}, ["--config", "/nowhere/sightline.yaml"], "/nowhere/sightline.yaml cannot be read"),
    ({}, ["--config", "/"], "/ cannot be read"),
])
def test_flags_and_variables_stop_the_start(variables, flags, problem, tmp_path):
    directory = [] if "--data-dir" in flags else ["--data-dir", str(tmp_path / "data")]
    answer = run("serve", *flags, *directory, **variables)
    assert answer.returncode == CONFIGURATION, answer
    assert problem in answer.stderr
    assert answer.stdout == ""


def test_a_port_in_use_ends_the_start_and_names_the_key(taken, tmp_path):
    answer = run("serve", "--listen", taken, "--admin", "off",
                 "--data-dir", str(tmp_path / "data"))
    assert answer.returncode == UNAVAILABLE
    assert f'listen is "{taken}", but that cannot be bound: address already in use' in answer.stderr
    assert "draining" not in answer.stderr
    assert answer.stdout == ""


def test_an_address_of_another_machine_names_the_key(tmp_path):
    # TEST-NET-1 of RFC 5737: nobody's. Loopback is all that may be listened on without TLS.
    answer = run("serve", "--listen", "192.0.2.1:50051",
                 "--data-dir", str(tmp_path / "data"), "--set", "allow_insecure=true")
    assert answer.returncode == UNAVAILABLE
    assert 'listen is "192.0.2.1:50051", but that cannot be bound' in answer.stderr


def limited(soft: int, hard: int):
    """A function that gives the process that is to be started these limits of open files."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_that_do_not_fit_the_limit_of_open_files_stop_the_start(tmp_path):
    answer = subprocess.run(
        [binary(), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
         str(tmp_path / "data"), "--set", "connections.max=2000"],
        env=environment(), text=True, capture_output=True, timeout=SECONDS,
        stdin=subprocess.DEVNULL, preexec_fn=limited(1024, 1024), check=False)
    assert answer.returncode == CONFIGURATION, answer
    assert ('--set: connections.max is "2000", but has to fit the hard limit of open files, 1024'
            in answer.stderr)
    # What it says can be set is taken.
    most = re.search(r"or set at most (\d+)", answer.stderr)[1]
    for connections, code in ((int(most), 0), (int(most) + 1, CONFIGURATION)):
        answer = subprocess.run(
            [binary(), "validate", "--set", "admin.listen=off", "--set",
             f"connections.max={connections}"], env=environment(), text=True, capture_output=True,
            timeout=SECONDS, preexec_fn=limited(1024, 1024), check=False)
        assert answer.returncode == code, answer


def test_the_soft_limit_of_open_files_is_raised(make_server, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_CONNECTIONS_MAX", "1000")
    server = make_server(limits=limited(256, 4000)).start()
    limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text()
    assert re.search(r"^Max open files +4000 +4000 ", limits, re.MULTILINE), limits


def test_a_second_server_on_a_directory_names_the_key(make_server):
    server = make_server().start()
    answer = run("serve", "--listen", "127.0.0.1:0", "--data-dir", str(server.directory))
    assert answer.returncode == UNAVAILABLE
    assert "data_dir" in answer.stderr and f"process {server.process.pid}" in answer.stderr
    assert answer.stdout == ""


def test_validate_lists_everything_at_once_and_changes_nothing(tmp_path):
    file = tmp_path / "sightline.yaml"
    file.write_text("snk: jsonl\nlimits:\n  event_bytes: 0\n  event_byte: 1\n"
                    f"data_dir: {file}/data\nsink:\n  - jsonl\n")
    answer = run("validate", str(file), SIGHTLINE_LISTEN="nowhere")
    lines = answer.stderr.splitlines()
    assert answer.returncode == CONFIGURATION and answer.stdout == ""
    for place in [f"{file}:1:1: snk is no key; did you mean sink?", f"{file}:3:3: limits.event_by",
                  f"{file}:4:3: limits.event_byte is no key; did you mean limits.event_bytes?",
                  f'{file}:5:1: data_dir is "{file}/data"', f"{file}:6:1: sink has to have one",
                  'SIGHTLINE_LISTEN: listen is "nowhere"']:
        assert sum(line.startswith(place) for line in lines) == 1, (place, answer.stderr)
    assert lines[-1] == "sightline: 6 problems" and len(lines) == 7
    assert list(tmp_path.iterdir()) == [file]


def test_sizes_and_times_take_units(tmp_path):
    """In a file, a variable, a flag, an item of `sinks` and the file of quotas."""
    (tmp_path / "quotas.yaml").write_text("tenants:\n  a: {bytes_per_second: 1MB, burst_seconds: 1m}\n")
    file = tmp_path / "sightline.yaml"
    file.write_text(f"journal: {{max_bytes: 4GB}}\nquotas: {{file: {tmp_path}/quotas.yaml}}\n"
                    f"data_dir: {tmp_path}/data\nlog: {{summary_seconds: 1m}}\n"
                    "sinks: [{type: sqlite}, {type: jsonl, required: false, max_lag_bytes: 64MB}]\n")
    answer = run("validate", str(file), "--set", "limits.event_bytes=16k",
                 SIGHTLINE_LEDGER_RETAIN_DAYS="48h")
    assert (answer.returncode, answer.stdout) == (0, f"{file} is valid\n"), answer.stderr


def test_validate_says_what_is_valid(tmp_path):
    file = tmp_path / "sightline.yaml"
    file.write_text(f"sink: jsonl\ndata_dir: {tmp_path}/data\n")
    answer = run("validate", str(file))
    assert (answer.returncode, answer.stdout) == (0, f"{file} is valid\n"), answer.stderr
    assert run("validate").stdout == "the configuration is valid\n"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_this_user_may_not_write_or_read_stops_the_start(taken):
    """Root may do both: the program runs as another user, in a directory that is open to it."""
    with tempfile.TemporaryDirectory() as home:
        closed = pathlib.Path(home, "closed")
        closed.mkdir(mode=0o755)
        secret = pathlib.Path(home, "secret.yaml")
        secret.touch(mode=0o600)
        pathlib.Path(home).chmod(0o755)
        program = pathlib.Path(home, "sightline")
        shutil.copy(binary(), program)

        def run_as_nobody(*arguments: str) -> str:
            answer = subprocess.run([program, *arguments], user="nobody", env=environment(),
                                    text=True, capture_output=True, timeout=SECONDS)
            assert answer.returncode == CONFIGURATION, answer
            return answer.stderr

        for command in [["validate"], ["serve", "--listen", taken]]:
            text = run_as_nobody(*command, "--set", f"data_dir={closed}",
                                 "--set", f"quotas.file={secret}")
            assert f'data_dir is "{closed}"' in text and "Permission denied" in text
            assert f'quotas.file is "{secret}"' in text
            assert f"{secret} cannot be read" in run_as_nobody(
                *command, *(["--config"] if command[0] == "serve" else []), str(secret))


def test_config_print_tells_each_value_and_its_origin(tmp_path):
    file = tmp_path / "sightline.yaml"
    file.write_text("sink: jsonl\nlimits:\n  event_bytes: 1000\n  request_events: 5\n")
    arguments = ["config", "print", "--config", str(file), "--set", "limits.request_events=7"]
    answer = run(*arguments, "--json", SIGHTLINE_SINK="stdout")
    assert answer.returncode == 0, answer.stderr
    lines = {line["key"]: line for line in map(json.loads, answer.stdout.splitlines())}
    expected = {
        "sink": ("stdout", "SIGHTLINE_SINK"), "limits.event_bytes": ("1000", f"{file}:3:3"),
        "limits.request_events": ("7", "--set"), "listen": ("127.0.0.1:50051", "default"),
    }
    assert {n: (lines[n]["value"], lines[n]["origin"]) for n in expected} == expected
    assert lines["limits.event_bytes"]["unit"] == "bytes"
    table = run(*arguments, SIGHTLINE_SINK="stdout").stdout.splitlines()
    assert len(table) == len(lines)
    row = next(line for line in table if line.startswith("limits.event_bytes "))
    assert "1000" in row and f"{file}:3:3" in row and "bytes of an event" in row


def test_config_print_shows_a_wrong_configuration_too(tmp_path):
    answer = run("config", "print", "--set", "sink=jsnl")
    assert answer.returncode == CONFIGURATION
    assert "jsnl" in answer.stdout and "sink is" in answer.stderr
    assert run("config", "print", "--json", "--markdown").returncode == USAGE


def test_the_documentation_is_what_the_program_prints():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    printed = run("config", "print", "--markdown").stdout
    assert printed == (root / "docs/configuration.md").read_text(), "run `make docs`"


def test_sighup_reloads_what_it_can_and_refuses_what_is_wrong(make_server, tmp_path):
    """The level is seen in what is logged: that the port was bound is a record of `info`."""
    file = tmp_path / "sightline.yaml"
    file.write_text("log:\n  level: error\n")
    server = make_server("--config", str(file)).start()

    def reload(text: str, record: str) -> str:
        """Rewrites the file, signals, and waits for a record that was not there before."""
        before = server.log(1 << 20).count(record)
        file.write_text(text)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: server.log(1 << 20).count(record) > before, f"{record} in the log")
        return server.log(1 << 20)

    info, reloaded = '"level":"info"', '"msg":"reloaded"'
    assert info not in server.log(1 << 20)
    assert '"changed":["log.level"]' in reload("log:\n  level: info\n", reloaded)
    log = reload("log:\n  level: loud\nsnk: jsonl\n", "snk is no key; did you mean sink?")
    assert r'log.level is \"loud\"' in log and log.count("not reloaded") == 2
    log = reload("stream:\n  max_bytes: 1000000\nlog:\n  level: info\n", "only after a restart")
    assert '"keys":["stream.max_bytes"]' in log
    reload("log:\n  level: debug\n", reloaded)
    assert server.terminate() == 0
    assert info in server.log(1 << 20)
