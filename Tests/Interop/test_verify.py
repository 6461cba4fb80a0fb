"""What Scripts/verify says of a part, by its exit code and by what it printed."""

import runpy
import subprocess
import sys

import pytest

from protos import ROOT

VERIFY = runpy.run_path(str(ROOT / "Scripts/verify"))


@pytest.mark.parametrize("code, text, verdict", [
    (0, "15 passed in 3.20s\n", "ok"),
    (0, "13 passed, 2 skipped in 3.20s\n", "skipped (2 tests)"),
    (0, "=========== 13 passed, 1 skipped, 1 warning in 63.20s (0:01:03) ===========\n",
     "skipped (1 test)"),
    (0, "1 skipped in 0.01s\n2 passed in 1.00s\n3 skipped in 0.02s\n", "skipped (4 tests)"),
    (0, "packages: NO IMAGE: docker does not answer here\n15 passed in 3.20s\n", "skipped"),
    (0, "check-deploy: SKIPPED: no promtool on PATH\n", "skipped"),
    (0, "a test named skipped in 3 parts\n", "ok"),
    (1, "1 failed, 2 skipped in 3.20s\n", "FAILED (1)"),
])
def test_a_part_that_left_something_out_is_not_ok(code, text, verdict):
    assert VERIFY["verdict"](code, text) == verdict


@pytest.mark.parametrize("figures", ["", "===== figures =====\nfrom the .deb: 9 s\n"])
def test_the_reasons_stand_with_the_figures(figures):
    reason = "skipped: 2 × to enter a bare Debian needs root"
    text = f"{reason}\n{figures}" + "line\n" * (0 if figures else 20) + "1 skipped in 1.00s\n"
    assert VERIFY["figures"](text).count(reason) == 1


def test_a_real_run_of_pytest_says_skipped(tmp_path):
    """In each form that a part runs it in."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_a():\n    pass\ndef test_b():\n    pytest.skip('needs root')\n")
    for options in ([], ["-q"]):
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
                              cwd=tmp_path, text=True, capture_output=True, check=True)
        assert VERIFY["verdict"](done.returncode, done.stdout) == "skipped (1 test)"
