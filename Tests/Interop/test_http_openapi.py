"""The description that the server gives of its HTTP port, held to its answers by schemathesis: requests
by the description and beside it, each of which has to get an answer that the description has."""

import os
import re
import subprocess
import sys

import httpx
import pytest

from server import MANY_CONNECTIONS

# Cases for each operation.
SAMPLE, WHOLE = 150, 50_000
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_headers_conformance", "response_schema_conformance")
CONFORMS, HAS_FAILURES = 0, 1
# Beside these a path has what its methods share.
METHODS = {"get", "head", "post", "put", "patch", "delete", "options", "trace"}


@pytest.mark.timeout(6 * 3600)
def test_every_answer_is_in_the_description(make_server, seed, amount, figure, tmp_path):
    """No error of the server, and no status, type, field or body that openapi.json leaves out."""
    server = make_server("--http", "127.0.0.1:0", "--sink", "discard", MANY_CONNECTIONS).start()
    count = amount(SAMPLE, WHOLE)
    # In a folder of its own, as it keeps what it found.
    run = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", f"{server.http}/v1/openapi.json",
         "--no-color", "--checks", ",".join(CHECKS), "--max-examples", str(count), "--seed", str(seed),
         "--generation-database", "none", "--suppress-health-check", "all", "--warnings", "off",
         "--no-shrink", "--workers", "2"],
        cwd=tmp_path, env=os.environ | {"COLUMNS": "100"}, capture_output=True, text=True, check=False)
    assert run.returncode in (CONFORMS, HAS_FAILURES), run.stdout + run.stderr
    assert run.returncode == CONFORMS, run.stdout[-8000:]
    generated = re.search(r"^ *(\d+) generated", run.stdout, re.MULTILINE)
    tested = re.search(r"^ *Tested: (\d+)", run.stdout, re.MULTILINE)
    assert generated and tested, run.stdout
    figure(f"openapi: {tested[1]} operations, {generated[1]} cases")
    # The program asks nothing of the description's own path.
    paths = httpx.get(f"{server.http}/v1/openapi.json").json()["paths"]
    del paths["/v1/openapi.json"]
    assert int(tested[1]) == sum(name in METHODS for path in paths.values() for name in path)
    # Some operations have few different requests; those with a body do not.
    assert int(generated[1]) >= count
    assert server.process.poll() is None
