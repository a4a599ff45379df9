"""The signed apt repository of the packages: apt-get takes what is right, and refuses everything else."""

import gzip
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from support import apt, process
from support.apt import KEY, POOL, SUITE, Apt
from support.release import SigningKey

ROOT = Path(__file__).resolve().parents[2]
INDEX = f"{SUITE}/main/binary-{process.run('dpkg', '--print-architecture').stdout.strip()}/Packages"


@pytest.fixture(scope="module")
def keys():
    """The key of the releases, and one of somebody else."""
    process.run(ROOT / "scripts/deps", "apt-utils", "gnupg", "gpgv", "dpkg-dev", timeout=None)
    keys = [SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp"))) for _ in range(2)]
    yield keys
    for key in keys:
        key.close()


@pytest.fixture(scope="module")
def packages(keys, tmp_path_factory) -> list[Path]:
    """An older and a newer package of the gateway, and one of the device."""
    directory = tmp_path_factory.mktemp("packages")
    gateway = [apt.package(directory, version) for version in ("0.9.0-1", "0.10.0-1")]
    return [*gateway, apt.package(directory, "0.10.0-1", "deb-device")]


@pytest.fixture(scope="module")
def published(keys, packages, tmp_path_factory) -> Path:
    """A repository with both versions, which were added one after the other."""
    folder = tmp_path_factory.mktemp("published") / "apt"
    apt.repository(folder, keys[0], packages[0])
    return apt.repository(folder, keys[0], *packages[1:])


@pytest.fixture
def repository(published, tmp_path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(published, tmp_path / "apt"))


@pytest.fixture
def machine(repository, tmp_path) -> Apt:
    return Apt(tmp_path / "machine", f"file:{repository}", repository / KEY)


def refuses(machine: Apt, message: str) -> None:
    """Updates, which must fail with the message and offer no package."""
    done = machine.update()
    assert done.returncode == 100 and re.search(message, done.stderr), (done.returncode, done.stdout, done.stderr)
    assert machine.versions("data-gateway") == []
    assert machine.download("data-gateway").returncode == 100 and machine.downloaded() == {}


def replace(file: Path, old: str, new: str) -> None:
    """Replaces a text, which the file must contain."""
    text = file.read_text()
    assert old in text, (file, old)
    file.write_text(text.replace(old, new))


def test_apt_verifies_and_downloads_each_version(repository, packages, served, tmp_path):
    machine = Apt(tmp_path / "machine", served(repository), repository / KEY)
    done = machine.update()
    assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
    assert machine.versions("data-gateway") == ["0.10.0-1", "0.9.0-1"]
    for name in ("data-gateway", "data-gateway=0.9.0-1", "data-gateway-device"):
        done = machine.download(name)
        assert done.returncode == 0 and done.stderr == "", (name, done.stdout, done.stderr)
    assert machine.downloaded() == {package.name: package.read_bytes() for package in packages}


def test_separate_signature_is_verified_as_well(repository, machine):
    (repository / SUITE / "InRelease").unlink()
    assert machine.update().returncode == 0
    assert machine.versions("data-gateway") == ["0.10.0-1", "0.9.0-1"]


def test_changed_release_is_refused(repository, machine):
    replace(repository / SUITE / "InRelease", "Label: data-gateway", "Label: data-Gateway")
    refuses(machine, "BADSIG")


def test_changed_release_with_separate_signature_is_refused(repository, machine):
    (repository / SUITE / "InRelease").unlink()
    replace(repository / SUITE / "Release", "Label: data-gateway", "Label: data-Gateway")
    refuses(machine, "BADSIG")


def test_repository_without_signature_is_refused(repository, machine):
    for name in ("InRelease", "Release.gpg"):
        (repository / SUITE / name).unlink()
    refuses(machine, "is not signed")


def test_repository_of_another_key_is_refused(repository, keys, packages, machine):
    ring = machine.path / "ring.gpg"
    shutil.copy(repository / KEY, ring)
    replace(machine.path / "sources/data-gateway.sources", str(repository / KEY), str(ring))
    apt.repository(repository, keys[1], packages[0])
    refuses(machine, "NO_PUBKEY")


def test_changed_list_of_packages_is_refused(repository, machine):
    replace(repository / INDEX, "Version: 0.10.0-1", "Version: 0.11.0-1")
    (repository / f"{INDEX}.gz").write_bytes(gzip.compress((repository / INDEX).read_bytes()))
    refuses(machine, "Hash Sum mismatch|unexpected size")


def test_changed_package_is_refused(repository, packages, machine):
    file = repository / POOL / packages[1].name
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert machine.update().returncode == 0
    done = machine.download("data-gateway")
    assert done.returncode == 100 and "Hash Sum mismatch" in done.stderr, (done.stdout, done.stderr)
    assert machine.downloaded() == {}


def files(folder: Path) -> dict[str, bytes]:
    """Returns the content of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_same_packages_make_the_same_lists(published, keys, packages, tmp_path):
    copies = [Path(shutil.copy(package, tmp_path / f"{number}.deb")) for number, package in enumerate(packages)]
    again = apt.repository(tmp_path / "apt", keys[0], *reversed(copies))
    signatures = {f"{SUITE}/InRelease", f"{SUITE}/Release.gpg"}
    made, expected = files(again), files(published)
    assert made.keys() == expected.keys() >= signatures
    assert {name for name in made if made[name] != expected[name]} <= signatures
    assert "Date: Tue, 14 Nov 2023 22:13:20 +0000\n" in (again / SUITE / "Release").read_text()


def refused(folder: Path, environment: dict[str, str], *packages: Path) -> str:
    """Runs the script, which must fail and change nothing, and returns its message."""
    before = files(folder)
    done = process.run(ROOT / "scripts/apt-repository", "--output", folder, *packages, env=environment, code=1)
    assert files(folder) == before and done.stdout == ""
    return done.stderr


def test_published_package_is_never_replaced(repository, keys, packages, tmp_path):
    other = tmp_path / packages[0].name
    process.run("dpkg-deb", "--raw-extract", packages[0], tmp_path / "tree")
    (tmp_path / "tree/usr/share/data-gateway/added").touch()
    process.run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tmp_path / "tree", other)
    assert f"has another {other.name}" in refused(repository, keys[0].environment, packages[2], other)


def test_missing_key_makes_no_repository(repository, keys, packages):
    environment = keys[0].environment | {"DIST_SIGNING_KEY": "other@example.com"}
    assert "gpg has no private key other@example.com" in refused(repository, environment, packages[0])
    del environment["DIST_SIGNING_KEY"]
    assert "DIST_SIGNING_KEY does not name the key" in refused(repository, environment, packages[0])


def test_file_that_is_no_package_is_refused(repository, keys, packages, tmp_path):
    (tmp_path / "data-gateway.deb").write_bytes(os.urandom(1000))
    message = refused(repository, keys[0].environment, packages[2], tmp_path / "data-gateway.deb")
    assert "data-gateway.deb is no Debian package" in message


def test_sources_of_the_documentation_are_those_of_the_test():
    page = (ROOT / "docs/installation.md").read_text()
    section = page.split("\n## apt repository\n")[1].split("\n## ")[0]
    assert apt.sources("URL", f"/etc/apt/keyrings/{KEY}") in section
