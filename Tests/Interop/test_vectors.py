"""The published vectors are what their oracle makes, and a server says the same."""

import json

import pytest
from google.protobuf import json_format

import vectors
from protos import event as e
from protos import service as s
from protos import verdict as v

# These depend on what came before.
OF_OTHERS = {"WARNING_OPEN_WITHOUT_CLICK", "WARNING_OPEN_AFTER_DISMISS",
             "WARNING_IMPRESSION_AFTER_CLICK"}


@pytest.mark.parametrize("name", vectors.FILES)
def test_a_file_is_what_its_oracle_makes(name):
    path = vectors.FOLDER / f"{name}.json"
    rows = vectors.FILES[name]()
    assert (len(rows) == 4) if name == "ios-dismissals" else 20 < len(rows) < 300
    assert path.read_text(encoding="utf-8") == vectors.text(rows)
    # A row's name tells it from others.
    names = [row["name"] for row in rows if "name" in row]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["flag-table", "verdicts", "raw-payloads"])
def test_a_server_says_what_the_vectors_say(stub, name):
    """By ExplainEvents, which takes no event for a duplicate of another."""
    rows = json.loads((vectors.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    events = [json_format.ParseDict(row["event"], e.TrackingEvent()) for row in rows]
    results = stub.ExplainEvents(s.ExplainEventsRequest(events=events)).results
    assert len(results) == len(rows)
    for row, result in zip(rows, results):
        assert v.Verdict.Name(result.verdict) == row["verdict"], (row, result)
        assert [v.HitKind.Name(hit) for hit in result.hits] == [
            hit["kind"] for hit in row["hits"]], (row, result)
        warnings = [v.Warning.Name(warning) for warning in result.warnings]
        assert [warning for warning in warnings if warning not in OF_OTHERS] == row[
            "warnings"], (row, result)
        assert [{"field": violation.field, "code": v.ViolationCode.Name(violation.code)}
                for violation in result.violations] == row["violations"], (row, result)
