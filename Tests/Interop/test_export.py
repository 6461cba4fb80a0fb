"""`sightline export`: hits with their details as CSV and as JSON lines, beside a running server."""

import csv
import io
import json
import sqlite3
import subprocess

import pytest

from protos import event as e
from protos import service as s
from server import binary
from test_details_view import IOS, apns, in_app, raw, send
from test_terminal_commands import lines, run

FORMULA = "=1+1"
FORMULAS = tuple("=+-@\t\r\n")
# What ends a cell, a row or a quote, and what begins a formula: alone, and one character with a
# sign before it (U+0600) or a mark behind it (U+0301).
HOSTILE = [text for mark in [",", '"', "\r\n", *FORMULAS] for text in (
    mark, f"\u0600{mark}", f"{mark}\u0301", f"\u0600{mark}\u0301", f'a{mark}\u0301",=1+1,\u0600"',
    f'\u0600",{mark}\u0301{FORMULA},\u0600"', f'"\u0301\r\n\u0301{mark}\u0600')]


@pytest.fixture(scope="module")
def stored(running, stub):
    """More hits than a page has row ids."""
    events = [apns(number, "received", "app://sale", {"segment": "gold, or \"tin\""})
              for number in range(1, 1200)]
    events += [apns(1200, "opened", action_identifier=FORMULA),
               in_app(1, click=e.InAppClick(action_text="Buy\0now", action_url="app://buy")),
               send(1201, e.PUSH_SEND_OUTCOME_SENT, provider_message_id=FORMULA, attempt=2),
               send(1202, e.PUSH_SEND_OUTCOME_FAILED, reason=e.PUSH_SEND_REASON_THROTTLED,
                    provider_code="TooManyRequests", display=e.PUSH_DISPLAY_SYSTEM)]
    stub.RecordEvents(s.RecordEventsRequest(events=events))
    running.wait_for_hits(1204)
    return running


def export(server, kind: str, *options) -> str:
    return run("export", "--data-dir", server.directory, "--format", kind, *options).stdout


def test_every_hit_is_a_line_with_its_details(stored):
    rows = lines(export(stored, "ndjson"))
    assert len(rows) == len({row["hit_id"] for row in rows}) == 1204
    assert rows[0]["custom_fields"] == {"segment": "gold, or \"tin\""}
    first = {"kind": "impression", "interaction": "received", "link": "app://sale",
             "delivery_id": "56c4", "platform": "ios"}
    assert rows[0] == rows[0] | first
    assert [row["button"] for row in rows[-5:]] == [FORMULA, FORMULA, "Buy\0now", None, None]
    sends = [("interaction", "sent", "failed"), ("send_reason", None, "throttled"),
             ("provider_code", None, "TooManyRequests"), ("provider_message_id", FORMULA, None),
             ("attempt", 2, None), ("display", None, "system")]
    for column, *values in sends:
        assert [row[column] for row in rows[-2:]] == values
    assert rows[0]["receive_time"].endswith("Z") and rows[0]["tenant"] == "default"
    assert {row["source"] for row in rows} == {"api"}


def test_the_sheet_has_the_same_cells_and_no_formula(stored):
    rows = lines(export(stored, "ndjson"))
    text = export(stored, "csv").replace("\0", "␀")
    sheet = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(sheet) == len(rows) and list(sheet[0]) == list(rows[0])
    assert [cell["hit_id"] for cell in sheet] == [row["hit_id"] for row in rows]
    assert sheet[0]["custom_fields"] == '{"segment":"gold, or \\"tin\\""}'
    assert [cell["button"] for cell in sheet[-5:-2]] == ["'" + FORMULA] * 2 + ["Buy␀now"]
    assert [cell["provider_message_id"] for cell in sheet[-2:]] == ["'" + FORMULA, ""]
    assert [cell["attempt"] for cell in sheet[-2:]] == ["2", ""]


def cells(server, *command) -> list[dict[str, str]]:
    """Rows of CSV by Python's reader, from the bytes themselves: `run` has one end of all lines."""
    done = subprocess.run([binary(), *command, "--data-dir", server.directory], check=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    text = io.StringIO(done.stdout.decode(), newline="")
    heading, *rows = csv.reader(text, strict=True)
    assert {len(row) for row in rows} == {len(heading)}
    return [dict(zip(heading, row)) for row in rows]


def test_no_text_of_a_client_is_a_row_a_cell_or_a_formula(make_server):
    server = make_server().start()
    events = [in_app(number, click=e.InAppClick(action_text=text, action_url="app://buy"),
                     message_id=f"message-{number}", campaign_name=text, app_data={"text": text})
              for number, text in enumerate(HOSTILE)]
    with server.channel() as channel:
        answer = server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    assert {result.verdict for result in answer.results} == {1}, answer
    server.wait_for_hits(len(HOSTILE))
    shown = [("'" if text.startswith(FORMULAS) else "") + text for text in HOSTILE]
    rows = cells(server, "export", "--format", "csv")
    assert [row["button"] for row in rows] == [row["campaign_name"] for row in rows] == shown
    assert [json.loads(row["custom_fields"]) for row in rows] == [{"text": text}
                                                                   for text in HOSTILE]
    rows = cells(server, "report", "--csv", "--limit", "1000")
    assert {row["id"]: row["campaign"] for row in rows} == {
        f"message-{number}": text for number, text in enumerate(shown)}
    assert len(rows) == len(HOSTILE)


def test_half_of_a_surrogate_pair_is_in_no_line(make_server):
    """D58: most readers fail at one, and with it at the whole file."""
    server = make_server().start()
    halves = ['"k": "\\ud83d"', '"o": {"k\\ud83d": ["v"]}', '"uri": "app://\\ude00"']
    events = [raw(number, IOS, "{IDS, " + part + "}")
              for number, part in enumerate([*halves, '"k": "\\ud83d\\ude00"'], 1)]
    with server.channel() as channel:
        answer = server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    assert {result.verdict for result in answer.results} == {1}, answer
    server.wait_for_hits(len(events))
    rows = lines(export(server, "ndjson"))
    assert json.dumps(rows, ensure_ascii=False).encode()
    assert [row["custom_fields"] for row in rows] == [{}, {}, {}, {"k": "\U0001f600"}]
    assert {row["link"] for row in rows} == {None}


@pytest.mark.parametrize("options, count", [
    (["--since", "1h"], 1204), (["--until", "1h"], 0), (["--delivery", "welcome"], 1),
    (["--tenant", "nobody"], 0), (["--tenant", "default", "--delivery", "56c4"], 1203)])
def test_a_filter_narrows_it(stored, options, count):
    assert len(lines(export(stored, "ndjson", *options))) == count
    assert export(stored, "csv", *options).count("\n") == count + 1


def test_what_is_wrong_is_said(stored, tmp_path):
    assert "--format" in run("export", "--data-dir", stored.directory, code=64).stderr
    assert "not before" in run("export", "--format", "csv", "--since", "1h", "--until", "2h",
                               code=64).stderr
    assert "--data-dir" in run("export", "--format", "csv", "--data-dir", tmp_path, code=69).stderr


def test_a_file_that_no_server_of_this_build_has_opened_is_refused(stored, tmp_path):
    with (sqlite3.connect(f"file:{stored.directory}/hits.db?mode=ro", uri=True) as file,
          sqlite3.connect(tmp_path / "hits.db") as copy):
        file.backup(copy)
        copy.execute("DROP VIEW details")
    done = run("export", "--format", "csv", "--data-dir", tmp_path, code=69)
    assert "sightline serve" in done.stderr and done.stdout == ""
