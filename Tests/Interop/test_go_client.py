"""The Go client beside the program that it comes with; its own tests are run by Scripts/test-client-go."""

import json
import subprocess

from protos import ROOT
from server import binary


def test_the_library_has_the_version_of_the_program():
    told = subprocess.run([binary(), "version", "--json"], capture_output=True, check=True)
    source = (ROOT / "Clients/go/client.go").read_text()
    assert f'\tVersion = "{json.loads(told.stdout)["version"]}"\n' in source
