"""What Benchmarks/run measures, by its options."""

import runpy
import sys

import pytest

from protos import ROOT


@pytest.fixture(scope="module")
def run():
    sys.path.insert(0, str(ROOT / "Benchmarks"))
    try:
        return runpy.run_path(str(ROOT / "Benchmarks" / "run"))
    finally:
        sys.path.pop(0)


def cases(run, monkeypatch, *options: str) -> dict[str, list[int]]:
    """The labels of all cases, each with its batches."""
    monkeypatch.setattr(sys, "argv", ["run", *options])
    found: dict[str, list[int]] = {}
    for case in run["cases_of"](run["parse"]()):
        found.setdefault(case.label, []).append(case.batch)
    return found


def test_streams_alone_are_measured_where_nothing_else_is_asked_for(run, monkeypatch):
    assert cases(run, monkeypatch) == {"discard": [1, 100, 500], "durable": [1, 100, 500]}


def test_calls_and_open_loops_come_to_streams(run, monkeypatch):
    assert cases(run, monkeypatch, "--batches", "1", "--modes", "durable", "--calls", "--open") == {
        "durable": [1], "durable, open loop at 2,000/s": [1], "durable, open loop at 40,000/s": [1],
        "durable, open loop at 250,000/s": [100], "durable, calls": [1, 100],
        "durable, calls, open loop at 2,000/s": [1],
        "durable, calls, open loop at 100,000/s": [100]}


def test_other_rates_take_the_place_of_the_usual_ones(run, monkeypatch):
    found = cases(run, monkeypatch, "--open", "--open-rates", "400000:500")
    assert found["durable, open loop at 400,000/s"] == [500] and len(found) == 3


@pytest.mark.parametrize("server, unchecked", [("bare", 1), ("sightline", 0), ("go", 0)])
def test_fixed_bytes_alone_go_unchecked(run, monkeypatch, server, unchecked):
    monkeypatch.setattr(sys, "argv", ["run", "--callers", "8"])
    options = run["parse"]()
    assert run["Case"]("durable", 1, is_of_calls=True).arguments(options, server) == [
        "--rate", 0, "--callers", 8, "--unchecked", unchecked]
    assert run["Case"]("durable", 1, 5).arguments(options, server) == ["--rate", 5]
