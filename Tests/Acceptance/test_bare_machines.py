"""The files of a version on bare machines: a minimal Debian 12 and 13, and the root file system of the container image.

Each serves an upload, a list and a download within two minutes of the first command. `make package-test` runs this with the
release files; other runs name their folder with --files.
"""

import time
from pathlib import Path

import pytest
from support import package
from support.process import run

#: The time from the first command to the compared download, in seconds.
LIMIT = 120
SCRIPT = Path(__file__).parent / "support/first_upload.sh"
ROOT_USER = "0:0"


@pytest.fixture(scope="module")
def files(request) -> Path:
    """The folder that `make dist` filled."""
    folder = request.config.getoption("--files")
    if folder is None:
        pytest.skip("make package-test")
    return folder.resolve()


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def debian(request, files, tmp_path_factory) -> Path:
    """A Debian with nothing but its essential packages and the authorities of TLS."""
    return package.bare_debian(tmp_path_factory.mktemp(request.param) / "root", ["ca-certificates"], request.param)


def one(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def transfer(root: Path, user: str, home: str, device: str, *server: str) -> None:
    """Serves, uploads, lists, downloads and compares in a namespace of its own, so that all ports are free."""
    namespace = ("unshare", "--net", "--mount", "--propagation=private")
    run(*namespace, SCRIPT, root, user, home, device, *server, timeout=LIMIT)


def test_tarballs_serve_within_two_minutes(files, debian, record_property):
    start = time.monotonic()
    for program in ("data-gateway", "data-gateway-device"):
        run("tar", "-xzf", one(files, f"{program}-[0-9]*-linux-*.tar.gz"), "-C", debian / "opt")
    server = "/" + str(one(debian, "opt/data-gateway-[0-9]*/bin/data-gateway").relative_to(debian))
    device = "/" + str(one(debian, "opt/data-gateway-device-*/bin/data-gateway").relative_to(debian))
    (debian / "srv/tarball").mkdir()
    transfer(debian, ROOT_USER, "/srv/tarball", device, server, "serve", "--data-dir", "/srv/tarball/data")
    finish(start, record_property)


def test_package_serves_within_two_minutes(files, debian, record_property):
    file = one(files, "data-gateway_*.deb")
    start = time.monotonic()
    (debian / file.name).write_bytes(file.read_bytes())
    run("chroot", debian, "apt-get", "install", "-qq", "-y", f"/{file.name}", timeout=LIMIT)
    (debian / "srv/package").mkdir()
    server = "/usr/bin/data-gateway"
    transfer(debian, ROOT_USER, "/srv/package", server, server, "serve", "--data-dir", "/srv/package/data")
    finish(start, record_property)


def test_image_serves_within_two_minutes(files, tmp_path, record_property):
    start = time.monotonic()
    (root := tmp_path / "root").mkdir()
    run("tar", "-xzf", one(files, "data-gateway-*-rootfs-*.tar.gz"), "-C", root, "--same-owner")
    server = "/usr/bin/data-gateway"
    serve = ("serve", "--data-dir", "/var/lib/data-gateway", "--config", "/etc/data-gateway/config")
    transfer(root, "65532:65532", "/home/data-gateway", server, server, *serve)
    finish(start, record_property)


def finish(start: float, record_property) -> None:
    seconds = time.monotonic() - start
    print(f"{seconds:.2f} s from the first command to the compared download")
    record_property("seconds", seconds)
    assert seconds < LIMIT
