"""Wrong configurations of each sink: the start ends with 78 before anything listens, and says where,
what was seen, the rule and so the fix."""

import base64
import json
import pathlib
import typing

import pytest

from test_configuration import CONFIGURATION, run, taken  # noqa: F401  pylint: disable=unused-import

FLAG = "--set"


class Wrong(typing.NamedTuple):
    """One wrong configuration: what is set, which key is told, and the words that say how."""

    sink: str
    values: dict[str, object]
    key: str
    words: tuple[str, ...]
    # The key whose place is told, if it is not that one.
    place: str = ""

    def __str__(self):
        return f"{self.sink}-{self.key}-{self.words[-1][:24]}"


def servers(*items: dict) -> str:
    return json.dumps(list(items))


def secret(size: int) -> str:
    return f"whsec_{base64.b64encode(bytes(size)).decode()}\n"


GOOD = {"campaign.servers": servers({"tenant": "a", "standard": "https://c.example"}),
        "webhook.url": "https://h.example/x?token=hidden", "webhook.secret_file": "FOLDER/secret"}
# Files of the table: FOLDER stands for where they are.
FILES = {"secret": secret(32), "short": secret(23), "three": secret(32) * 3, "none": "whpk_AAAA\n",
         "text": "no certificate\n", "password": "p\n"}


def campaign(key: str, value: object, *words: str) -> Wrong:
    return Wrong("campaign", GOOD | {f"campaign.{key}": value}, f"campaign.{key}", words)


def webhook(key: str, value: object, *words: str) -> Wrong:
    return Wrong("webhook", GOOD | {f"webhook.{key}": value}, f"webhook.{key}", words)


def nats(key: str, value: object, *words: str) -> Wrong:
    return Wrong("nats", {f"nats.{key}": value}, f"nats.{key}", words)


def sinks(text: str, *words: str) -> Wrong:
    return Wrong("", {"sinks": text}, "sinks", words)


def listed_secret(file: str, *words: str) -> Wrong:
    text = f"[{{type: webhook, url: 'https://h.example/', secret_file: {file}}}]"
    return Wrong("", {"sinks": text}, "webhook.secret_file", (file, *words), "sinks")


def file_sink(sink: str, key: str, value: object, *words: str) -> Wrong:
    return Wrong(sink, {f"{sink}.{key}": value}, f"{sink}.{key}", words)


# A sink that comes later has its rows here.
TABLE = [
    file_sink("sqlite", "unique_days", 0, '"0"', "1 to 3650"),
    file_sink("sqlite", "retain_days", -1, '"-1"', "0 to 36500"),
    file_sink("sqlite", "max_bytes", "lots", '"lots"', "whole number"),
    file_sink("sqlite", "filter_byte", 1, "did you mean "),
    file_sink("jsonl", "compression", "gzip", '"gzip"', "one of: none, zstd"),
    file_sink("jsonl", "zstd_level", 20, '"20"', "1 to 19"),
    file_sink("jsonl", "file_bytes", 0, '"0"', "1 to "),
    file_sink("jsonl", "retain_files", "1.5", '"1.5"', "whole number"),
    nats("stream", "a.b", '"a.b"', "letters, digits, - and _"),
    nats("subject_prefix", "a..b", '"a..b"', "single dots"),
    nats("user", "node", '"node"', "needs nats.password_file too"),
    nats("tls.key", "FOLDER/text", "needs nats.tls.certificate too"),
    nats("servers", "tls://a,nats://b", '"tls://a,nats://b"', "tls:// in all of its URLs"),
    nats("tls.roots", "FOLDER/nowhere", "FOLDER/nowhere", "No such file"),
    nats("tls.roots", "FOLDER/text", "FOLDER/text", "-----BEGIN"),
    nats("credentials_file", "FOLDER/nowhere", "FOLDER/nowhere", "this user can read"),
    nats("duplicate_seconds", 1, '"1"', "at least 660"),
    nats("max_age_seconds", 5, '"5"', "at least nats.duplicate_seconds"),
    nats("replicas", 6, '"6"', "1 to 5"),
    Wrong("campaign", {}, "campaign.servers", ('""', "the sink campaign needs one")),
    campaign("servers", "acme", '"acme"', "has to be a list, as in [{tenant: "),
    campaign("servers", servers({"tenant": "a", "standard": "http://c.example"}),
             'standard is "http://c.example"', "loopback alone"),
    campaign("servers", servers({"tenant": "a", "classic": "https://c.example/r/"}),
             'classic is "https://c.example/r/"', "without a path (campaign.path)"),
    campaign("servers", servers({"tenant": "a", "classic": "https://u:p@c.example"}),
             "item 1: classic", "https:// and a host"),
    campaign("servers", servers({"tenant": "a", "standart": "https://c.example"}),
             '"standart", which is none of its keys', "did you mean standard?"),
    campaign("servers", servers({"tenant": "a"}), "item 1 has neither standard nor classic"),
    campaign("servers", servers({"tenant": "A b", "standard": "https://c.example"}),
             "item 1: tenant", "characters of a-z"),
    campaign("servers", servers(*[{"tenant": "a", "standard": "https://c.example"}] * 2),
             "item 2 is the second one of the tenant a"),
    campaign("path", "r", '"r"', "has to begin with /"),
    campaign("max_in_flight", 2000, '"2000"', "1 to 1024"),
    campaign("standard_timeout_seconds", 0, '"0"', "1 to 300"),
    Wrong("webhook", {}, "webhook.url", ("needs it, as in https://",)),
    Wrong("webhook", {}, "webhook.secret_file", ("needs it", "openssl rand -base64 32")),
    webhook("url", "http://h.example/", "begin with https://", "unless its host is localhost"),
    webhook("url", "https://u:p@h.example/", "no user name and no password"),
    webhook("url", "https://h.example/#x", "have no fragment"),
    webhook("url", "https://h.example:0/", "a port from 1 to 65535"),
    webhook("secret_file", "FOLDER/nowhere", "FOLDER/nowhere", "this user can read"),
    webhook("secret_file", "FOLDER/short", "FOLDER/short", "24 to 64 bytes"),
    webhook("secret_file", "FOLDER/three", "FOLDER/three", "one secret, or two in a line each"),
    webhook("secret_file", "FOLDER/none", "FOLDER/none", "whsec_ and base64"),
    webhook("allow", "10.0.0.0/33", '"10.0.0.0/33" is neither a host', "such as 10.1.0.0/16"),
    webhook("source", "a b", '"a b"', "a URI reference"),
    webhook("max_bytes", 1, '"1"', "1024 to "),
    webhook("tls.roots", "FOLDER/text", "FOLDER/text", "-----BEGIN"),
    sinks("sqlite", '"sqlite"', "has to be a list, as in [{type: sqlite}"),
    sinks("[{type: kampagne}]", 'type of item 1 is "kampagne"', "one of: sqlite, jsonl"),
    Wrong("", {"sinks": "[{type: webhook}]"}, "webhook.url", ("the webhook sink needs it",)),
    sinks("[{type: sqlite}, {type: campaign, required: false, max_in_flite: 1}]",
          '"max_in_flite"', "did you mean max_in_flight?"),
    listed_secret("FOLDER/short", "24 to 64 bytes"),
    listed_secret("FOLDER/nowhere", "this user can read"),
    sinks("[{type: sqlite, required: false}]", "at least one sink has to be required"),
    sinks("[{type: nats}, {type: nats, name: b}]", "two sinks have the stream SIGHTLINE"),
]


@pytest.mark.parametrize("wrong", TABLE, ids=str)
@pytest.mark.parametrize("source", ["file", "flag", "variable"])
def test_a_wrong_sink_stops_the_start(taken, tmp_path, wrong, source):  # noqa: F811
    """By each way to set a key the same is told, with its place."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    values = {name: str(value).replace("FOLDER", str(tmp_path))
              for name, value in wrong.values.items()}
    if wrong.sink:
        values["sink"] = wrong.sink
    placed = wrong.place or wrong.key
    arguments, variables, place = told(source, values, placed, tmp_path)
    answer = run("serve", "--listen", taken, "--data-dir", str(tmp_path / "data"), *arguments,
                 **variables)
    assert answer.returncode == CONFIGURATION, answer
    assert answer.stdout == "" and not (tmp_path / "data").exists()
    lines = [line for line in answer.stderr.splitlines() if plain(wrong.key) in plain(line)]
    words = [word.replace("FOLDER", str(tmp_path)) for word in wrong.words]
    found = [line for line in lines if all(word in line for word in words)]
    assert found, (words, answer.stderr)
    if placed in values:
        assert any(place in line for line in found), (place, found)
    # The token in webhook.url.
    assert "hidden" not in answer.stderr


def plain(text: str) -> str:
    """A key, as a file or a variable has it."""
    return text.lower().replace("_", ".")


def told(source: str, values: dict[str, str], key: str, folder: pathlib.Path):
    """The arguments and variables that set the values, and the place that is told of the key."""
    if source == "flag":
        return [f"{FLAG}={name}={value}" for name, value in values.items()], {}, f"{FLAG}: "
    if source == "variable":
        names = {name: f"SIGHTLINE_{name.replace('.', '_').upper()}" for name in values}
        return [], {names[name]: value for name, value in values.items()}, names.get(key, "")
    file = folder / "sightline.yaml"
    document: dict = {}
    for name, value in values.items():
        section = document
        *parts, last = name.split(".")
        for part in parts:
            section = section.setdefault(part, {})
        section[last] = value
    # JSON in one line for each section is YAML as well.
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in document.items()))
    return ["--config", str(file)], {}, f"{file}:"
