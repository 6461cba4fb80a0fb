"""The .deb on a machine that has something already: an older one, the user, or a unit by hand. Real
dpkg installs it on a copy of this machine's files that is gone afterwards; its program is tiny."""

import re
import shutil
import subprocess

import pytest

from test_packages import VERSION, documents, made  # noqa: F401  fixtures

OLDER = "0.0.1"
SECONDS = 120
DATA = "/var/lib/sightline"
SETTINGS, KEYS = "/etc/sightline/sightline.yaml", "/etc/sightline/keys.jsonl"
BY_HAND = "/etc/systemd/system/sightline.service"
# The words: a folder, and what runs on the copy. The copy's changes are in memory, and end with it.
ON_A_COPY = """
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1/copy"
cd "$1/copy"
mkdir changes work root
mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work root
# The index of man pages takes longer than all else.
rm -f root/var/lib/man-db/auto-update
mkdir root/packages
cp "$1"/*.deb root/packages
exec chroot root sh -euc "$2"
"""


@pytest.fixture(scope="module")
def debs(made, tmp_path_factory):  # noqa: F811
    """The package as older.deb and newer.deb: only the number differs."""
    folder = tmp_path_factory.mktemp("debs")
    newer, = (made / "out").glob("sightline_*.deb")
    shutil.copy(newer, folder / "newer.deb")
    tree = folder / "tree"
    subprocess.run(["dpkg-deb", "--raw-extract", newer, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {OLDER}", control.read_text()))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree,
                    folder / "older.deb"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return folder


@pytest.fixture
def on_a_machine(debs, tmp_path):
    """Runs lines of shell on a fresh copy of this machine, and returns what they print."""
    (tmp_path / "copy").mkdir()
    for package in debs.glob("*.deb"):
        shutil.copy(package, tmp_path)
    probe = subprocess.run(["unshare", "--mount", "sh", "-c", ON_A_COPY, "sh", tmp_path,
                            "! getent passwd sightline && systemd-sysusers --version"], text=True,
                           capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no copy of this machine, which needs root and overlayfs, without a user "
                    f"sightline and with systemd-sysusers: {probe.stderr.strip()}")

    def run(words: str) -> str:
        done = subprocess.run(["unshare", "--mount", "sh", "-c", ON_A_COPY, "sh", tmp_path, words],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def last(text: str, lines: int) -> list[str]:
    return text.splitlines()[-lines:]


def test_an_upgrade_keeps_the_operators_files_the_user_and_the_data(on_a_machine):
    state = (f"stat -c '%n %U:%G %a' {DATA} {DATA}/event /etc/sightline {SETTINGS} {KEYS}\n"
             f"sha256sum {DATA}/event {SETTINGS} {KEYS}\ngetent passwd sightline\n")
    printed = on_a_machine(
        "dpkg --install /packages/older.deb\n"
        f"echo '# mine' >>{SETTINGS}\necho '{{}}' >{KEYS}\n"
        f"chgrp sightline {KEYS}\nchmod 0640 {KEYS}\n"
        f"runuser -u sightline -- sh -c 'umask 077; echo event >{DATA}/event'\n"
        f"echo BEFORE\n{state}dpkg --install /packages/newer.deb\necho AFTER\n{state}"
        "dpkg-query --show --showformat='${Version} ${db:Status-Abbrev}\\n' sightline\n"
        f"grep -c '^# mine$' {SETTINGS}\n")
    before = printed.split("BEFORE\n")[1].splitlines()[:9]
    after = printed.split("AFTER\n")[1].splitlines()
    assert len(before) == 9 and after[:9] == before, printed
    assert after[9:] == [f"{VERSION} ii ", "1"], printed
    assert f"{DATA} sightline:sightline 700" in before
    assert f"{SETTINGS} root:sightline 640" in before


@pytest.mark.parametrize("prepare, owner", [
    ("groupadd --system pushes\nuseradd --system --gid pushes --home-dir /srv/pushes sightline",
     "sightline:pushes"),
    ("groupadd --system sightline", "sightline:sightline"),
    ("useradd --system --user-group --home-dir /nonexistent sightline", "sightline:sightline"),
])
def test_a_user_or_group_that_was_there_is_taken_as_it_is(prepare, owner, on_a_machine):
    printed = on_a_machine(
        f"{prepare}\ngetent passwd sightline >/before || true\ndpkg --install /packages/newer.deb\n"
        "[ ! -s /before ] || getent passwd sightline | cmp - /before\n"
        f"stat -c '%U:%G %a' {DATA} /etc/sightline {SETTINGS}\n")
    assert last(printed, 3) == [f"{owner} 700", f"root:{owner.split(':')[1]} 750",
                                f"root:{owner.split(':')[1]} 640"], printed


def test_a_unit_by_hand_stays_and_is_named(on_a_machine):
    """Its data directory too, with the owner that it has."""
    printed = on_a_machine(
        f"echo '[Service]' >{BY_HAND}\nchmod 0644 {BY_HAND}\n"
        f"install -d -m 0750 -o daemon -g daemon {DATA}\ndpkg --install /packages/newer.deb\n"
        f"cat {BY_HAND}\nstat -c '%U:%G %a' {DATA}\n")
    assert f"{BY_HAND} is in force in place of the package's unit" in printed
    assert last(printed, 2) == ["[Service]", "daemon:daemon 750"], printed


def test_a_masked_unit_and_a_link_to_a_missing_volume_are_left_alone(on_a_machine):
    printed = on_a_machine(
        f"ln -s /dev/null {BY_HAND}\nln -s /volume {DATA}\ndpkg --install /packages/newer.deb\n"
        f"readlink {BY_HAND} {DATA}\n")
    assert "is in force" not in printed
    assert last(printed, 2) == ["/dev/null", "/volume"], printed


def test_a_removed_package_that_comes_again_has_its_settings_and_data(on_a_machine):
    printed = on_a_machine(
        f"dpkg --install /packages/older.deb\necho '# mine' >>{SETTINGS}\ntouch {DATA}/event\n"
        f"dpkg --remove sightline\ndpkg --install /packages/newer.deb\n"
        f"grep -c '^# mine$' {SETTINGS}\nls {DATA}\n")
    assert last(printed, 2) == ["1", "event"], printed
