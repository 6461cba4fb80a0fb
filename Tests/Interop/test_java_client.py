"""The Java client without a server: each case is a method of clients/client-java/ClientCases.java."""

import subprocess

import pytest

from protos import ROOT
from test_client_libraries import BUILT, built

SECONDS = 120


@pytest.mark.parametrize("case", [
    "a token that fails", "an error of the channel", "an error of a callback",
    "an interrupt and trySend", "the backoff of the channel", "a silent connection",
    "streams that are closed in a row", "a status of a proxy", "a delay beyond reason",
    "a channel that cannot be built", "an answer after close", "a large event", "a large answer",
    "the last failure", "a failure that is told", "a loss is thrown once", "forms of a token",
    "an address of the web", "events in one call", "other files in a spool", "a sync that fails",
    "a full spool that fails", "limits below 1", "two pauses", "a server that takes no events",
    "an end for good is told", "an end while a close waits", "events of a sender",
    "answers of push services"])
def test_a_case_of_the_java_client(case, tmp_path):
    built("java")
    done = subprocess.run(
        ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{BUILT / 'java'}/*",
         "com.sightline.client.ClientCases", case, tmp_path / "spool",
         ROOT / "Tests/Fixtures/send-answers.csv"],
        capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
