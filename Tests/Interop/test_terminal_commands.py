"""The commands: what a person at a terminal sends, reads and asks."""

import json
import os
import re
import subprocess
import time

import pytest

from facts import Facts
from google.protobuf import json_format
from protos import ROOT
from protos import event as e
from protos import service as s
from server import binary

SECONDS = 60
USAGE = 64
FIXTURES = {"ios": ["apns-alert", "apns-tester"], "android": ["fcm-sent", "fcm-tester"]}


def run(*arguments, code: int | None = 0, environment: dict[str, str] | None = None
        ) -> subprocess.CompletedProcess:
    """Runs a command without a terminal, and holds it to its exit code where one is given."""
    done = subprocess.run([str(argument) for argument in (binary(), *arguments)], text=True,
                          capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
                          check=False, env=os.environ | (environment or {}))
    assert code is None or done.returncode == code, (
        f"exit {done.returncode}, not {code}: {' '.join(map(str, arguments))}\n{done.stdout}\n"
        f"{done.stderr}")
    return done


def lines(text: str) -> list[dict]:
    """NDJSON: every line is an object."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def strings(value) -> list[str]:
    """All strings in a JSON value, keys left aside."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [string for part in parts for string in strings(part)]


def mentions(line: dict, word: str) -> bool:
    """Whether a string of a line holds a word, in whatever case."""
    return any(word.lower() in string.lower() for string in strings(line))


def files(payloads, platform: str) -> list:
    return [payloads / f"{name}.json" for name in FIXTURES[platform]]


def send(server, payloads, platform: str, *options, code: int | None = 0):
    return run("send", *files(payloads, platform), "--target", server.target, "--platform",
               platform, "--interaction", "received,dismissed,opened", *options, code=code)


def test_the_fixtures_through_the_commands(make_server, payloads):
    """D14, D20, D35: sent with `send`, shown by `tail`, counted by the funnel."""
    server = make_server().start()
    ios = lines(send(server, payloads, "ios", "--json").stdout)
    rejected = [line for line in ios if mentions(line, "push.raw.json._dId")]
    assert len(rejected) == 3, f"apns-tester.json has no ids, so its three are rejected: {ios}"
    for line in rejected:
        assert mentions(line, "rejected") and mentions(line, "push.raw.json._mId"), line
    android = lines(send(server, payloads, "android", "--json").stdout)
    # fcm-tester.json holds the ids of fcm-sent.json, so all of it is known.
    assert sum(mentions(line, "duplicate") for line in android) >= 3, android

    server.wait_for_hits(6)
    check_tail(server)
    check_funnel(server)
    check_send_again(server, payloads)


def check_tail(server) -> None:
    hits = lines(run("tail", "--data-dir", server.directory, "--json").stdout)
    assert len(hits) == 6, hits
    assert sum(mentions(hit, "h138a") for hit in hits) == 3, hits
    assert sum(mentions(hit, "h1685a5") for hit in hits) == 3, hits
    table = run("tail", "--data-dir", server.directory).stdout
    assert "h138a" in table and "h1685a5" in table, table


def check_funnel(server) -> None:
    rows = {row["delivery_id"]: dict(row) for row in server.query("SELECT * FROM funnel")}
    assert rows.keys() == {"56c4", "d57fd6"}
    ios, android = rows["56c4"], rows["d57fd6"]
    assert [ios[f"{name}_ios"] for name in ("impressions", "clicks", "opens")] == [1, 1, 1]
    assert [ios[name] for name in ("impressions", "clicks", "opens")] == [0, 0, 0]
    assert ios["click_ratio"] is None
    assert [android[name] for name in ("impressions", "clicks", "opens")] == [1, 1, 1]
    assert android["click_ratio"] == android["open_ratio"] == 1


def check_send_again(server, payloads) -> None:
    """What is known is a final verdict too, and adds no hit."""
    table = send(server, payloads, "ios").stdout
    assert "duplicate" in table.lower(), table
    assert "push.raw.json._dId" in table, table
    assert server.hit_count() == 6


def test_events_in_ndjson(make_server, tmp_path):
    """`send` takes events in proto3 JSON, one on each line."""
    server = make_server().start()
    facts = Facts(3, int(time.time()))
    sent = [facts.accepted() for _ in range(200)]
    path = tmp_path / "events.ndjson"
    path.write_text("".join(
        json_format.MessageToJson(fact.event, indent=None) + "\n" for fact in sent))
    run("send", path, "--target", server.target)
    expected = {identity for fact in sent for identity in fact.hits}
    server.wait_for_hits(len(expected))
    stored = {bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")}
    assert stored == expected


def test_events_behind_a_byte_order_mark(make_server, payloads):
    """As an editor on Windows saves them, each counts."""
    server = make_server().start()
    run("send", payloads / "reported" / "c09-bom.ndjson", "--target", server.target)
    server.wait_for_hits(3)


def test_no_name_ends_at_a_zero_byte(make_server):
    """Two apps whose ids differ behind one are two in each table, and in JSON."""
    server = make_server().start()
    apps = ["a\0one", "a\0two"]
    events = []
    for app in apps:
        event = e.TrackingEvent(app_id=app, event_id="e", subject_id="s\0s")
        event.in_app.message_id, event.in_app.campaign_name = "m\0m", "c\0c"
        event.in_app.impression.SetInParent()
        events.append(event)
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=SECONDS)
    server.wait_for_hits(2)
    for command in (["tail"], ["report", "--by-app"]):
        words = [*command, "--data-dir", server.directory]
        found = [string for line in lines(run(*words, "--json").stdout) for string in strings(line)]
        assert [name for name in [*apps, "m\0m"] if name not in found] == [], found
        text = run(*words).stdout
        assert "a\\u{0}one" in text and "a\\u{0}two" in text, text
    assert "c\\u{0}c" in run("report", "--data-dir", server.directory).stdout
    assert "m\\u{0}m" in run("report", "--details", "--data-dir", server.directory).stdout


def test_a_server_that_is_not_there(payloads):
    """`send` says where it tried, and does not exit with 0."""
    path = payloads / "apns-alert.json"
    done = run("send", path, "--target", "127.0.0.1:1", "--platform", "ios", "--interaction",
               "received", code=None)
    assert done.returncode != 0
    assert "127.0.0.1:1" in done.stderr, done.stderr


@pytest.mark.parametrize("name, platform, words", [
    ("apns-alert", "ios", ["accepted", "click", "open"]),
    ("apns-tester", "ios", ["rejected", "push.raw.json._did", "push.raw.json._mid"]),
    ("fcm-sent", "android", ["accepted", "click", "open"])])
def test_explaining_a_payload(payloads, name, platform, words):
    """D11: the verdict and its steps, without a server."""
    text = run("explain", payloads / f"{name}.json", "--platform", platform, "--interaction",
               "opened", code=None).stdout.lower()
    assert [word for word in words if word not in text] == [], text


@pytest.mark.parametrize("number", ["D1", "d22", "D58"])
def test_explaining_a_rule(number):
    row = next(line for line in (ROOT / "docs/rules.md").read_text().splitlines()
               if f"</a>{number.upper()} |" in line)
    _, text, why = row.removesuffix(" |").split(" | ")
    assert run("explain", "--rule", number).stdout == f"{number.upper()}  {text}\nWhy  {why}\n"


@pytest.mark.parametrize("number", ["D0", "D99", "22", ""])
def test_explaining_no_rule(number):
    answer = run("explain", "--rule", number, code=None)
    assert answer.returncode == USAGE
    rules = re.findall(r"</a>D(\d+) \|", (ROOT / "docs/rules.md").read_text())
    assert f"from D1 to D{max(map(int, rules))}," in answer.stderr, answer.stderr


def test_inspecting_payloads(payloads):
    """D35: the findings name the keys that are missing."""
    text = run("inspect", payloads / "apns-tester.json", code=None).stdout
    assert "_dId" in text and "_mId" in text, text
    assert "_mId" not in run("inspect", payloads / "fcm-sent.json", code=None).stdout


def test_version():
    """One line, and the same as JSON: the commit is git's or unknown, never another one."""
    line = run("version").stdout
    assert line.count("\n") == 1 and run("--version").stdout == line
    told = json.loads(run("version", "--json").stdout)
    assert line.startswith(f"sightline {told['version']} (commit {told['commit'][:12]}"), line
    assert line.endswith(f"traits: {', '.join(told['traits']) or 'none'})\n"), line
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?\S*", told["swift"]), told
    assert told["commit"] == "unknown" or is_commit(told["commit"]), told


def is_commit(name: str) -> bool:
    """Whether the program's repository has this commit."""
    done = subprocess.run(["git", "cat-file", "-e", f"{name}^{{commit}}"], cwd=ROOT, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("arguments", [
    ["serve", "--listen", "nowhere"], ["send"], ["tail", "--colour"], ["explain", "no-such-file"]])
def test_wrong_usage(arguments):
    """It ends with an error on stderr, and says what."""
    done = run(*arguments, code=None)
    assert done.returncode != 0 and done.stderr.strip(), done
