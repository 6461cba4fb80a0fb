"""What a release is made of: Scripts/packages. And README's first page, from the .deb and the wheel of
.build/packages, on a Debian that has nothing else (`make test-packages`)."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile

import pytest

from protos import ROOT
from server import STOP_SECONDS, wait_until
from test_commands import commands, mask, pattern, section

VERSION = (ROOT / "VERSION").read_text().strip()
PACKAGES = pathlib.Path(os.environ.get("SIGHTLINE_PACKAGES", ROOT / ".build/packages"))
# From the file to the first event in a report, as README promises.
PAGE_SECONDS = 120
BOOTSTRAP_SECONDS = 900
# Scripts/build-client-libraries: a language's compiler is not there.
TOOL_MISSING = 69
# A program as far as a package sees it: it says its version, and loads zlib.
PROGRAM = """
#include <stdio.h>
#include <zlib.h>
int main(void) {
    return printf("{\\"version\\":\\"%s\\"}\\n", zlibVersion()[0] ? SAID : "") < 0;
}
"""


# MARK: - The package, of a program that takes no minutes to build

@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """What `make dist` writes, as far as the names go."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "man1").mkdir()
    for name in ("man1/sightline.1", "man1/sightline.serve.1", "sightline.bash", "_sightline",
                 "sightline.fish", "sightline.cdx.json", "THIRD-PARTY-NOTICES"):
        (folder / name).write_text(name + "\n")
    return folder


def compiled(folder: pathlib.Path, *options: str, said: str = VERSION) -> pathlib.Path:
    """The program, built with further options."""
    missing = [tool for tool in ("gcc", "dpkg-shlibdeps", "objcopy") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"no {', '.join(missing)} here: make bootstrap installs them")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-Wl,--build-id", f'-DSAID="{said}"', "-o", folder / "sightline",
                    folder / "program.c", "-lz", *options], check=True)
    return folder / "sightline"


def packaged(program: pathlib.Path, documents: pathlib.Path, out: pathlib.Path):
    """The script's run for the .deb alone."""
    variables = {"PROGRAM": str(program), "DOCUMENTS": str(documents), "LD_LIBRARY_PATH":
                 str(program.parent), "SOURCE_DATE_EPOCH": "1700000000"}
    return subprocess.run([ROOT / "Scripts/packages", out, "deb"], env=os.environ | variables,
                          text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def made(documents, tmp_path_factory):
    """The folder with the packages, and both unpacked in it."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "program").mkdir()
    done = packaged(compiled(folder / "program"), documents, folder / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("sightline", "sightline-dbgsym"):
        package, = (folder / "out").glob(f"{name}_{VERSION}_*.deb")
        subprocess.run(["dpkg-deb", "--raw-extract", package, folder / name], check=True)
    return folder


def control(tree: pathlib.Path) -> dict[str, str]:
    """The fields of a package that stand in one line."""
    return dict(re.findall(r"^([\w-]+): (.*)$", (tree / "DEBIAN/control").read_text(), re.MULTILINE))


def pages() -> set[str]:
    """The documents that README leads an operator to."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "docs", "Deploy/README.md"], check=True,
                            text=True, capture_output=True)
    return set(listed.stdout.split())


def test_a_package_has_all_that_an_operator_needs(made):
    tree = made / "sightline"
    files = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert files == {
        *("DEBIAN/" + name for name in ("conffiles", "control", "md5sums", "postinst", "postrm",
                                        "prerm")),
        "etc/sightline/sightline.yaml", "usr/bin/sightline",
        "usr/lib/systemd/system/sightline.service", "usr/lib/sysusers.d/sightline.conf",
        *("usr/share/" + name for name in (
            "bash-completion/completions/sightline", "fish/vendor_completions.d/sightline.fish",
            "zsh/vendor-completions/_sightline", "man/man1/sightline.1.gz",
            "man/man1/sightline.serve.1.gz")),
        *("usr/share/doc/sightline/" + name for name in (
            "CHANGELOG.md.gz", "README.md", "THIRD-PARTY-NOTICES.gz", "changelog.gz", "copyright",
            "sightline.cdx.json", *pages()))}
    conffiles = (tree / "DEBIAN/conffiles").read_text().split()
    assert {name.removeprefix("/") for name in conffiles} == {
        name for name in files if name.startswith("etc/")}, "what is below /etc is an operator's"
    subprocess.run(["md5sum", "--quiet", "--check", "DEBIAN/md5sums"], cwd=tree, check=True)
    summed = {line.split("  ", 1)[1] for line in (tree / "DEBIAN/md5sums").read_text().splitlines()}
    assert summed == {name for name in files if not name.startswith(("DEBIAN/", "etc/"))}
    package, = (made / "out").glob("sightline_*.deb")
    listing = subprocess.run(["dpkg-deb", "--contents", package], check=True, text=True,
                             capture_output=True).stdout
    for line in listing.splitlines():
        mode, owner = line.split()[:2]
        assert owner == "root/root" and mode[5] != "w" and mode[8] != "w", line


def test_the_unit_runs_the_program_of_the_package_as_its_user(made):
    unit = (made / "sightline/usr/lib/systemd/system/sightline.service").read_text()
    users = (made / "sightline/usr/lib/sysusers.d/sightline.conf").read_text()
    assert f"\nu {setting(unit, 'User')} " in users
    for path in re.findall(r"(/(?:usr|etc)/\S+)", setting(unit, "ExecStart")):
        assert (made / "sightline" / path[1:]).is_file(), path


# What an operator makes, or another package brings.
NOT_IN_THE_PACKAGE = re.compile(
    r"/etc/sightline/(?:tls\.pem|tls\.key|keys\.jsonl)|/etc/systemd/system\b.*"
    r"|/usr/share/common-licenses/.*")
PATH_OF_THE_PACKAGE = re.compile(r"(?<![\w./}])/(?:usr|etc)/[\w./-]*\w")


def test_each_path_that_the_package_names_is_in_it(made):
    """In the unit, the settings, the scripts, and the pages about the package."""
    tree, doc = made / "sightline", made / "sightline/usr/share/doc/sightline"
    debian = (doc / "Deploy/README.md").read_text()
    texts = {"Deploy/README.md": section(debian, "Debian"),
             **{path.name: path.read_text() for path in (
                 tree / "usr/lib/systemd/system/sightline.service", doc / "copyright",
                 tree / "usr/lib/sysusers.d/sightline.conf", tree / "etc/sightline/sightline.yaml",
                 *(tree / "DEBIAN").glob("post*"), tree / "DEBIAN/prerm", tree / "DEBIAN/control")}}
    named = {(name, path) for name, text in texts.items()
             for path in PATH_OF_THE_PACKAGE.findall(text)
             if not NOT_IN_THE_PACKAGE.fullmatch(path)}
    assert len(named) > 15
    assert not [found for found in named if not (tree / found[1][1:]).exists()]


def test_each_page_that_the_program_and_readme_name_is_in_the_package(made):
    doc = made / "sightline/usr/share/doc/sightline"
    named = {page for path in (ROOT / "Sources/Commands").rglob("*.swift")
             for page in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text())}
    named |= set(re.findall(r"\]\(((?:docs|Deploy)/[^)#]+\.\w+)", (doc / "README.md").read_text()))
    assert {"docs/configuration.md", "Deploy/README.md"} <= named
    assert not [page for page in named if not (doc / page).is_file()]


def test_a_package_depends_on_what_its_program_loads(made):
    fields = control(made / "sightline")
    assert {"systemd-standalone-sysusers", "libc6", "zlib1g"} == {
        re.split(r"[ (]", word)[0] for word in fields["Depends"].split(", ")}
    assert fields["Version"] == VERSION
    assert control(made / "sightline-dbgsym")["Depends"] == f"sightline (= {VERSION})"


def test_debug_symbols_are_apart_and_are_found_by_the_build_id(made):
    program = made / "sightline/usr/bin/sightline"
    symbols, = (made / "sightline-dbgsym").rglob("*.debug")

    def read(option: str, path: pathlib.Path) -> str:
        return subprocess.run(["readelf", "--wide", option, path], check=True, text=True,
                              capture_output=True).stdout

    identity = re.search(r"Build ID: (\w+)", read("--notes", program))[1]
    assert symbols.parent.name + symbols.stem == identity
    assert ".debug_info" in read("--sections", symbols)
    assert not {".debug_info", ".symtab"} & set(re.findall(r"\.\w+", read("--sections", program)))


def test_the_same_program_gives_the_same_packages(made, documents, tmp_path):
    done = packaged(made / "program/sightline", documents, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "SHA256SUMS").read_text() == (made / "out/SHA256SUMS").read_text()


@pytest.mark.parametrize("options, said, told", [
    ([], "9.9.9", f"version '9.9.9', and VERSION says '{VERSION}'"),
    (["-Wl,--no-as-needed", "-lswiftCore"], VERSION, "loads Swift's runtime"),
    (["-Wl,-rpath,/folder/of/the/build/lib"], VERSION, "folders of the machine that built it"),
    (["-Wl,--build-id=none"], VERSION, "has no build id"),
])
def test_a_program_that_runs_nowhere_else_is_refused(options, said, told, documents, tmp_path):
    if "-lswiftCore" in options:
        subprocess.run(["gcc", "-shared", "-Wl,-soname,libswiftCore.so", "-o",
                        tmp_path / "libswiftCore.so", "-x", "c", "/dev/null"], check=True)
    program = compiled(tmp_path, f"-L{tmp_path}", *options, said=said)
    done = packaged(program, documents, tmp_path / "out")
    assert done.returncode == 1 and told in done.stderr, done.stderr
    assert not list((tmp_path / "out").glob("*.deb"))


# MARK: - The Go module

MODULE = "github.com/sightline/sightline/Clients/go"


def go_module(source: pathlib.Path, out: pathlib.Path):
    return subprocess.run(["python3", ROOT / "Scripts/go-module", source, MODULE, f"v{VERSION}", out],
                          env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, text=True,
                          capture_output=True, check=False)


def test_go_takes_the_module_from_a_folder(tmp_path):
    """As from a proxy, without a network."""
    source = tmp_path / "source"
    (source / "sightline/v1").mkdir(parents=True)
    (source / "go.mod").write_text(f"module {MODULE}\n\ngo 1.19\n")
    (source / "client.go").write_text("package sightline\n")
    assert "no generated code" in go_module(source, tmp_path / "proxy").stderr
    (source / "sightline/v1/event.pb.go").write_text("package sightlinev1\n")
    done = go_module(source, tmp_path / "proxy")
    assert done.returncode == 0, done.stderr
    archive, = (tmp_path / "proxy").rglob("*.zip")
    assert {f"{MODULE}@v{VERSION}/{name}" for name in (
        "LICENSE", "client.go", "go.mod", "sightline/v1/event.pb.go")} == set(
            zipfile.ZipFile(archive).namelist())
    if not shutil.which("go"):
        pytest.skip("no go here: make bootstrap installs it")
    variables = {"GOPROXY": (tmp_path / "proxy").as_uri(), "GOFLAGS": "-modcacherw",
                 "GONOSUMDB": "*", "GOPATH": str(tmp_path / "go"), "GO111MODULE": "on"}
    told = subprocess.run(["go", "mod", "download", "-json", f"{MODULE}@v{VERSION}"], cwd=tmp_path,
                          env=os.environ | variables, text=True, capture_output=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert (pathlib.Path(json.loads(told.stdout)["Dir"]) / "client.go").is_file()


# MARK: - The client libraries

@pytest.mark.parametrize("kind, glob, wanted", [
    ("wheel", "sightline-*.whl", ["sightline/v1/event_pb2.py",
                                  f"sightline-{VERSION}.dist-info/METADATA"]),
    ("go", f"go/**/v{VERSION}.zip", [f"{MODULE}@v{VERSION}/sightline/v1/event.pb.go"]),
    ("jar", f"sightline-{VERSION}.jar", ["com/sightline/client/SightlineClient.class",
                                         "com/sightline/v1/TrackingEvent.class"]),
])
def test_a_client_comes_with_the_generated_code_and_without_test_programs(kind, glob, wanted,
                                                                          tmp_path):
    done = subprocess.run([ROOT / "Scripts/packages", tmp_path, kind], text=True,
                          capture_output=True, check=False)
    if done.returncode == TOOL_MISSING:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    package, = tmp_path.glob(glob)
    names = zipfile.ZipFile(package).namelist()
    assert set(wanted) <= set(names)
    assert not [name for name in names if re.search(r"ClientCases|Conformance|Program|/tests?/", name)]


# MARK: - README's first page on a bare Debian

# The words: the root of the bare Debian.
HOLD = """
set -eu
mount --make-rprivate /
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
ip link set lo up
echo up
exec sleep infinity
"""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def setting(unit: str, name: str) -> str:
    return re.search(rf"^{name}=(.*)$", unit, re.MULTILINE)[1]


class BareDebian:
    """A fresh Debian below a folder. What installs has the machine's network; all else has one of
    its own, so that default ports are free."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.service: subprocess.Popen | None = None
        self.holder = subprocess.Popen(["unshare", "--mount", "--net", "sh", "-c", HOLD, "sh", root],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "up\n":
            pytest.skip(f"no mounts and network of its own: {self.holder.stderr.read().strip()}")

    def words(self, command: list[str], *options: str, network: bool = False) -> list[str]:
        """What runs a command in there."""
        return ["nsenter", f"--target={self.holder.pid}", "--mount", *([] if network else ["--net"]),
                "--", "chroot", *options, str(self.root), "env", "-i", f"PATH={PATH}", "HOME=/root",
                "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PIP_NO_INDEX=1",
                "PIP_FIND_LINKS=/wheels", *command]

    def run(self, command: str, seconds: float = BOOTSTRAP_SECONDS) -> str:
        """What a line of shell prints."""
        done = subprocess.run(
            self.words(["sh", "-c", f"cd /root && {command}"], network=command.startswith("apt-get")),
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=seconds, check=False)
        assert done.returncode == 0, f"`{command}` ends with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def start(self, log: pathlib.Path) -> None:
        """What systemd, which is not there, does with the unit."""
        unit = (self.root / "usr/lib/systemd/system/sightline.service").read_text()
        user = f"--userspec={setting(unit, 'User')}:"
        with log.open("wb") as file:
            self.service = subprocess.Popen(
                self.words(["env", "-C", setting(unit, "WorkingDirectory"),
                            *re.findall(r"(?m)^Environment=(.*)$", unit),
                            *shlex.split(setting(unit, "ExecStart"))], user),
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        wait_until(lambda: "listening on" in log.read_text() or self.service.poll() is not None,
                   "the service listens")
        assert self.service.poll() is None, log.read_text()

    def close(self) -> None:
        if self.service and self.service.poll() is None:
            self.service.terminate()
            self.service.wait(STOP_SECONDS)
        self.holder.kill()
        self.holder.wait()


def mirror() -> tuple[str, str]:
    """The address of this machine's own Debian, and its release, as apt is configured."""
    release = re.search(r"^VERSION_CODENAME=(\S+)$", pathlib.Path("/etc/os-release").read_text(),
                        re.MULTILINE)
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                           "Identifier: Packages"], text=True, capture_output=True, check=False)
    for line in told.stdout.splitlines():
        address, name, component = line.split()
        if release and name == release[1] and component == "main":
            return address, name
    pytest.skip("apt has no archive of this machine's own release")


def the_package(glob: str) -> pathlib.Path:
    found = list(PACKAGES.glob(glob))
    if not found:
        pytest.skip(f"no {glob} in {PACKAGES}: `make test-packages` makes it first")
    return found[0]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Debian's smallest system with Python, the two packages beside each other, and the wheels that
    the client needs."""
    packages = [the_package("sightline_*.deb"), the_package("sightline-*.whl")]
    if os.geteuid() != 0:
        pytest.skip("to enter a bare Debian needs root")
    if not shutil.which("debootstrap"):
        pytest.skip("no debootstrap here: make bootstrap installs it")
    root = tmp_path_factory.mktemp("bare") / "root"
    address, release = mirror()
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates,python3-venv", release, root,
         address], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        timeout=BOOTSTRAP_SECONDS)
    if done.returncode:
        pytest.skip(f"debootstrap cannot make a {release}: {done.stdout.strip().splitlines()[-1:]}")
    for package in packages:
        shutil.copy(package, root / "root")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest",
                    root / "wheels", packages[1]], check=True)
    machine = BareDebian(root)
    yield machine
    machine.close()
    # Half a gigabyte, of which pytest would keep the last three. Its mounts went with the holder.
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.timeout(2 * BOOTSTRAP_SECONDS)
def test_from_the_package_to_an_event_in_a_report_by_readme_alone(bare, tmp_path, figure):
    """Each command of "Install it" prints what README says that it prints, all within two minutes;
    then the report has the event of the page's Python too."""
    page = commands(section((ROOT / "README.md").read_text(), "Install it"))
    begin = time.monotonic()
    for command in page:
        printed = bare.run(command.words, PAGE_SECONDS)
        if command.words.startswith("apt-get install"):
            bare.start(tmp_path / "service.log")
        assert not command.output or pattern(command.output).fullmatch(mask(printed)), (
            f"$ {command.words}\n{printed}")
    seconds = time.monotonic() - begin
    figure(f"from the .deb to the last command of the page: {seconds:.0f} s")
    assert seconds < PAGE_SECONDS
    report, = [command for command in page if " report " in command.words]
    assert re.search(r"^default +1f ", bare.run(report.words), re.MULTILINE)


@pytest.mark.timeout(2 * BOOTSTRAP_SECONDS)
def test_a_package_keeps_an_operators_settings_and_all_events(bare):
    """Installed again it keeps both; purged it leaves the events alone."""
    data, settings = "/var/lib/sightline", "/etc/sightline/sightline.yaml"
    bare.run("apt-get install -y ./sightline_*.deb")
    places = {data: "sightline:sightline 700", "/etc/sightline": "root:sightline 750",
              settings: "root:sightline 640"}
    for path, owner in places.items():
        assert bare.run(f"stat -c '%U:%G %a' {path}") == owner + "\n", path
    bare.run(f"echo '# mine' >> {settings} && touch {data}/event && dpkg --install ./sightline_*.deb")
    assert "# mine" in bare.run(f"cat {settings}")
    bare.run("dpkg --purge sightline")
    assert bare.run(f"ls {data}/event") == f"{data}/event\n"
    assert not (bare.root / settings[1:]).exists()
