"""What shells and man pages are made of: `--generate-completion-script` and the dump of the help."""

import json
import shutil
import subprocess

import pytest

from test_terminal_commands import run


def complete(*words: str) -> list[str]:
    """What bash offers for the last of a command's words."""
    script = (f'source /dev/stdin; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; '
              f'COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}; '
              f'_sightline {words[0]} "{words[-1]}" "{words[-2]}"; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True,
                          input=run("--generate-completion-script", "bash").stdout)
    return done.stdout.split()


@pytest.mark.parametrize("words, offered", [
    (["sightline", "sen"], "send"), (["sightline", "send", "--plat"], "--platform"),
    (["sightline", "sinks", "pa"], "pause")])
def test_bash_completes(words, offered):
    assert offered in complete(*words)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(shell):
    """The script names each command; where the shell is there, it reads the script."""
    script = run("--generate-completion-script", shell).stdout
    assert all(name in script for name in ("serve", "send", "report", "sinks")), script[:500]
    if shutil.which(shell):
        subprocess.run([shell, "--no-execute"], input=script, text=True, check=True)


def test_each_command_describes_itself():
    """The form that argument-parser's generator of man pages reads, with a text for each command."""
    told = json.loads(run("--experimental-dump-help").stdout)
    assert told["serializationVersion"] == 0
    commands = told["command"]["subcommands"]
    assert {"serve", "send", "report"} <= {command["commandName"] for command in commands}
    assert [command["commandName"] for command in commands if not command["abstract"]] == []
