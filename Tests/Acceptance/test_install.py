"""install.sh: it installs only what the key of the releases signed, as a whole or not at all, and removes what it installed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import process
from support.release import Release, SigningKey

ROOT = Path(__file__).resolve().parents[2]
#: The programs of install.sh beside the shell's own.
TOOLS = [
    "awk",
    "base64",
    "cat",
    "chmod",
    "cp",
    "curl",
    "cut",
    "df",
    "find",
    "gpgv",
    "grep",
    "gzip",
    "head",
    "id",
    "ln",
    "mkdir",
    "mktemp",
    "mv",
    "readlink",
    "rm",
    "rmdir",
    "sed",
]
TOOLS += ["sha256sum", "sort", "tail", "tar", "uname"]


@pytest.fixture(scope="module", autouse=True)
def packages():
    """The Debian packages that only these tests need."""
    process.run(ROOT / "scripts/deps", "gnupg", "gpgv", "dash", "curl", "wget")


@pytest.fixture(scope="module")
def key(packages):
    key = SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp")))
    yield key
    key.close()


@pytest.fixture
def release(key, tmp_path) -> Release:
    return Release(tmp_path / "releases/1.0.0", "1.0.0", key)


class Machine:
    """A home, a temporary folder, and a PATH with only the tools of install.sh."""

    def __init__(self, path: Path):
        self.home, self.temporary, self.tools = path / "home", path / "temporary", path / "tools"
        for folder in (self.home, self.temporary, self.tools):
            folder.mkdir()
        for name in TOOLS:
            (self.tools / name).symlink_to(shutil.which(name))
        self.stub("uname", "case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac")
        self.prefix = self.home / ".local"

    def stub(self, name: str, script: str) -> None:
        """Replaces a tool by a script."""
        (self.tools / name).unlink(missing_ok=True)
        (self.tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.tools / name).chmod(0o755)

    def run(self, script: Path, *arguments, shell=("/bin/dash",)) -> subprocess.CompletedProcess:
        command = [*shell, script, *arguments, "--prefix", self.prefix]
        environment = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PATH": str(self.tools)}
        return subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)

    def install(self, release: Release, *arguments, kind="device", **options) -> str:
        done = self.run(release.folder / "install.sh", kind, "--from", release.folder, *arguments, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refuses(self, release: Release, message: str, *arguments, source=None, **options) -> None:
        """Runs install.sh, which must fail with the message, and change nothing."""
        before = files(self.home)
        script = release.folder / "install.sh"
        done = self.run(script, "device", "--from", source or release.folder, *arguments, **options)
        assert done.returncode == 1 and message in done.stderr, (done.returncode, done.stdout, done.stderr)
        assert files(self.home) == before and files(self.temporary) == {}

    def output(self) -> str:
        return process.run(self.prefix / "bin/data-gateway").stdout.strip()


def files(folder: Path) -> dict[str, str]:
    """Returns all paths below a folder, with the targets of links."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else "" for path in folder.rglob("*")}


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("shell", ["dash", "bash --posix"])
def test_programs_are_installed_and_removed_without_a_trace(release, machine, shell):
    before = files(machine.home)
    words = shell.split()
    output = machine.install(release, shell=[shutil.which(words[0]), *words[1:]])
    assert machine.output() == "data-gateway-device-1.0.0-linux-amd64"
    for part in ("installed data-gateway-device 1.0.0", "to undo: sh install.sh uninstall device", "add "):
        assert part in output
    assert files(machine.temporary) == {}
    done = machine.run(release.folder / "install.sh", "uninstall", "device")
    assert done.returncode == 0 and "removed data-gateway-device" in done.stdout
    assert files(machine.home) == before
    again = machine.run(release.folder / "install.sh", "device", "--undo")
    assert again.returncode == 0 and "is not installed" in again.stdout


def test_removal_keeps_files_of_others(release, machine):
    (machine.prefix / "bin").mkdir(parents=True)
    (machine.prefix / "bin/mine").write_text("")
    machine.install(release, kind="server")
    added = machine.prefix / "lib/data-gateway/1.0.0/share/added"
    added.write_text("")
    done = machine.run(release.folder / "install.sh", "uninstall", "server")
    assert f"kept {added.parent}" in done.stdout
    left = {path for path in files(machine.prefix) if not (machine.prefix / path).is_dir()}
    assert left == {"bin/mine", "lib/data-gateway/1.0.0/share/added"}


def test_second_run_changes_nothing_but_repairs_lost_files(release, machine):
    machine.install(release)
    before = files(machine.home)
    assert "nothing was changed" in machine.install(release)
    assert files(machine.home) == before
    (machine.prefix / "lib/data-gateway-device/1.0.0/share/doc/README.md").unlink()
    machine.install(release)
    assert os.readlink(machine.prefix / "lib/data-gateway-device/current") == "1.0.0+1"
    assert machine.output() == "data-gateway-device-1.0.0-linux-amd64"


def test_upgrade_switches_the_version_and_keeps_one_before(release, key, machine, tmp_path):
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        other = release if version == "1.0.0" else Release(tmp_path / "releases" / version, version, key)
        machine.install(other)
        assert machine.output() == f"data-gateway-device-{version}-linux-amd64"
    versions = {path.name for path in (machine.prefix / "lib/data-gateway-device").iterdir() if path.is_dir()}
    assert versions == {"1.1.0", "1.2.0", "current"}
    machine.run(other.folder / "install.sh", "uninstall", "device")
    assert files(machine.home) == {}


def test_refused_upgrade_keeps_the_installed_version(release, key, machine, tmp_path):
    machine.install(release)
    newer = Release(tmp_path / "releases/1.1.0", "1.1.0", key)
    (newer.folder / "data-gateway-device-1.1.0-linux-amd64.tar.gz").write_bytes(b"damaged")
    machine.refuses(newer, "the sum of data-gateway-device-1.1.0-linux-amd64.tar.gz is wrong")
    assert machine.output() == "data-gateway-device-1.0.0-linux-amd64"


def test_version_is_chosen_below_the_place(release, machine):
    place = release.folder.parent
    machine.refuses(release, "has no file SHA256SUMS", "--version", "9.0.0", source=place)
    machine.install(release, "--from", place, "--version", "1.0.0")
    assert machine.output() == "data-gateway-device-1.0.0-linux-amd64"
    # The folder of another version has a right signature, too.
    release.folder.rename(place / "2.0.0")
    release.folder = place / "2.0.0"
    machine.refuses(release, "the release has the version 1.0.0, not 2.0.0", "--version", "2.0.0", source=place)


def test_signature_of_another_key_is_refused(release, machine):
    other = SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp")))
    try:
        other.sign(release.folder / "SHA256SUMS")
        machine.refuses(release, "the signature of SHA256SUMS is wrong")
    finally:
        other.close()


def test_changed_list_of_sums_is_refused(release, machine):
    sums = release.folder / "SHA256SUMS"
    sums.write_text(sums.read_text() + "\n")
    machine.refuses(release, "the signature of SHA256SUMS is wrong")


def test_archive_with_another_top_folder_is_refused(release, machine):
    path = release.archive("data-gateway-device", "arm64")
    path.rename(release.folder / "data-gateway-device-1.0.0-linux-amd64.tar.gz")
    release.seal()
    machine.refuses(release, "has files outside of data-gateway-device-1.0.0-linux-amd64")


def test_file_of_somebody_else_is_not_replaced(release, machine):
    (machine.prefix / "bin").mkdir(parents=True)
    (machine.prefix / "bin/data-gateway").write_text("mine")
    machine.refuses(release, "exists and is not from this installation")
    assert (machine.prefix / "bin/data-gateway").read_text() == "mine"


@pytest.mark.parametrize("tool", ["gpgv", "sha256sum", "tar"])
def test_missing_tool_is_named(release, machine, tool):
    (machine.tools / tool).unlink()
    machine.refuses(release, f"the program {tool} is missing")


def test_missing_download_tool_is_named(release, machine, served):
    (machine.tools / "curl").unlink()
    machine.refuses(release, "curl and wget are missing", source=served(release.folder))


@pytest.mark.parametrize("tool", ["curl", "wget"])
def test_release_is_downloaded_by_either_tool(release, machine, served, tool):
    (machine.tools / "curl").unlink()
    (machine.tools / tool).symlink_to(shutil.which(tool))
    machine.install(release, "--from", served(release.folder))
    assert machine.output() == "data-gateway-device-1.0.0-linux-amd64"
    machine.refuses(release, "cannot download http://", "--version", "9.0.0", source=served(release.folder))


@pytest.mark.parametrize("tool", ["curl", "wget"])
@pytest.mark.parametrize("announced", [True, False])
def test_download_that_was_cut_off_is_refused(release, machine, served, tool, announced):
    class Cut(served.handler):
        def do_GET(self):
            data = Path(self.translate_path(self.path)).read_bytes()
            self.send_response(200)
            if announced:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if self.path.endswith(".gz") else data)

    (machine.tools / "curl").unlink()
    (machine.tools / tool).symlink_to(shutil.which(tool))
    message = "cannot download" if announced and tool == "curl" else "data-gateway-device-1.0.0-linux-amd64.tar.gz"
    machine.refuses(release, message, source=served(release.folder, Cut))


@pytest.mark.parametrize(
    "place",
    [
        "http://gateway.example.com",
        "ftp://gateway.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost:1@example.com",
    ],
)
def test_place_without_tls_is_refused(release, machine, place):
    machine.stub("curl", "echo curl was called >&2; exit 99")
    machine.refuses(release, "remove it" if "@" in place else "does not begin with https://", source=place)


def test_unknown_machine_is_named(release, machine):
    machine.stub("uname", "case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac")
    machine.refuses(release, "there is no program for this machine (riscv64)")
    machine.stub("uname", "echo Darwin")
    machine.refuses(release, "this system is Darwin")


def test_full_disk_leaves_nothing_behind(release, machine):
    release.archive("data-gateway-device", "amd64", padding=2_000_000)
    release.seal()
    machine.prefix = machine.home / "small/local"
    (machine.home / "small").mkdir()
    # The listing after the run shows what is left on the file system, which ends with the run.
    script = 'mount -t tmpfs -o size=1m none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code'
    done = machine.run(
        release.folder / "install.sh", "device", "--from", release.folder,
        shell=["/usr/bin/unshare", "--map-root-user", "--mount", "/bin/sh", "-c", f"PATH=/usr/bin:/usr/sbin:/bin; {script}", machine.home / "small", "/bin/dash"],
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert "cannot unpack data-gateway-device" in last and "KiB are free" in last and "nothing was installed" in last
    assert files(machine.temporary) == {}


def test_script_that_was_cut_off_does_nothing(release, machine):
    text = (release.folder / "install.sh").read_text()
    cut = release.folder / "cut.sh"
    arguments = ("device", "--from", release.folder)
    lines = text.splitlines(keepends=True)
    ends = [len("".join(lines[:number])) - 3 for number in range(1, len(lines), 6)]
    for end in [*ends, *range(len(text) - 12, len(text) - 1)]:
        cut.write_text(text[:end])
        machine.run(cut, *arguments)
        assert files(machine.home) == {} and files(machine.temporary) == {}, text[:end][-80:]


def test_template_without_key_installs_nothing(release, machine):
    shutil.copy(ROOT / "deploy/install.sh", release.folder / "install.sh")
    machine.refuses(release, "this is the template of install.sh without a public key")


def test_installer_refuses_a_private_key(key, tmp_path):
    secret = tmp_path / "secret.asc"
    export = ["--armor", "--output", secret, "--export-secret-keys", "release@example.com"]
    process.run("gpg", "--batch", *export, env=key.environment)
    done = process.run(ROOT / "scripts/installer", secret, tmp_path, code=1)
    assert "is a private key" in done.stderr
    assert not (tmp_path / "install.sh").exists()


def test_signature_of_the_installer_is_right(release, key):
    ring = release.folder / "data-gateway-release-key.gpg"
    process.run("gpgv", "--keyring", ring, release.folder / "install.sh.asc", release.folder / "install.sh")


@pytest.mark.parametrize("arguments", [[], ["device"], ["agent"], ["device", "--from"], ["device", "--what"]])
def test_wrong_arguments_show_the_usage(release, machine, arguments):
    environment = {"PATH": str(machine.tools), "HOME": str(machine.home)}
    done = process.run("/bin/dash", release.folder / "install.sh", *arguments, env=environment, code=2)
    assert "Usage: install.sh" in done.stderr


def test_package_is_installed_by_apt_get(release, machine):
    package = release.folder / "data-gateway-device_1.0.0-1_amd64.deb"
    package.write_bytes(b"package")
    release.seal()
    machine.stub("id", "echo 1000")
    machine.refuses(release, "only root can install the package", "--package")
    machine.stub("id", "echo 0")
    machine.stub("dpkg-query", "exit 1")
    machine.stub("apt-get", f'cat "$3" >{machine.temporary}/../installed; echo "$1 $2"')
    output = machine.install(release, "--package")
    assert "install -y" in output and "to undo: apt-get remove data-gateway-device" in output
    assert (machine.temporary / "../installed").read_bytes() == b"package"
    machine.stub("dpkg-query", "echo installed 1.0.0-1")
    assert "nothing was changed" in machine.install(release, "--package")
