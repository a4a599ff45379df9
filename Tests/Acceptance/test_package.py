"""The Debian package: its contents, and its life on a machine, from the installation to the purge.

`make test` installs a package of the debug build into a folder with dpkg; `make package-test` also installs the
release package into a minimal Debian.
"""

import gzip
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import apt, package, process
from support import older as older_gateway
from support.database import rows
from support.package import AptSystem, Folder, System
from support.parties import Fleet, Uploader, User
from support.raw import fetch_url
from support.release import SigningKey
from support.uploads import Upload, completed, content

#: The service, and the one for further gateways on a machine.
UNITS = {
    "data-gateway.service": "lib/systemd/system/data-gateway.service",
    "data-gateway@apps.service": "lib/systemd/system/data-gateway@.service",
}
UNIT = UNITS["data-gateway.service"]


@pytest.fixture(scope="module")
def older(built, tmp_path_factory) -> Path:
    return package.older(built, "0.0.1-1", tmp_path_factory.mktemp("older"))


@pytest.fixture(params=["a folder", "a bare Debian"])
def folder(request, is_full, tmp_path) -> Folder:
    if request.param == "a folder":
        return Folder(tmp_path / "root")
    if not is_full:
        pytest.skip("make package-test")
    base = request.getfixturevalue("bare_debian")
    if request.param == "an apt repository":
        return AptSystem(tmp_path / "root", base, request.getfixturevalue("key"))
    return System(tmp_path / "root", base)


@pytest.fixture(scope="module")
def key():
    """The key that signs the apt repository."""
    process.run(package.ROOT / "scripts/deps", "apt-utils", "gnupg", "gpgv", timeout=None)
    key = SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp")))
    yield key
    key.close()


def test_default_ports_are_reserved(tree):
    setting = (tree / "usr/lib/sysctl.d/50-data-gateway.conf").read_text()
    reserved = re.search(r"(?m)^net\.ipv4\.ip_local_reserved_ports = ([\d,]+)$", setting)[1].split(",")
    page = package.run(tree / "usr/bin/data-gateway", "serve", "--help")
    assert sorted(reserved) == sorted(re.findall(r"default:\s+127\.0\.0\.1:(\d+)", page))


@pytest.mark.sqlite
@pytest.mark.parametrize("folder", ["a folder", "a bare Debian", "an apt repository"], indirect=True)
def test_package_is_installed_upgraded_and_removed(folder, older, built, tree, tmp_path, stubs, login):
    folder.install(older)
    assert folder.version() == "0.0.1-1"
    config, lost = folder.path / "etc/data-gateway/config", folder.path / package.LOST
    assert lost.exists()
    config.write_text(config.read_text().replace("{\n", "{\n  auth: { access_token_lifetime_seconds: 600 },\n", 1))
    edited = config.read_text()
    gateway = folder.gateway(tmp_path).start()
    try:
        admin = login(gateway)
        data = content(300_000)
        upload = completed(Fleet.create(admin).uploader(), data)
        assert gateway.stop() == 0

        folder.install(built)
        assert folder.version() != "0.0.1-1"
        # The administrator's changes stay; the new version is beside the file.
        assert config.read_text() == edited
        assert config.with_name("config.dpkg-dist").read_text() == (tree / "etc/data-gateway/config").read_text()
        assert not lost.exists()
        gateway.start()
        (found,) = login(gateway).list_all()
        assert found.size_bytes == len(data) and found.etag == upload.etag
        download = login(gateway).objects("RequestDownload", file_ids=[found.file_id]).files[0].read
        assert fetch_url(download.uri, headers=dict(download.headers)).body == data
        assert gateway.stop() == 0
    finally:
        gateway.close()

    data_directory = folder.path / "var/lib/data-gateway"
    folder.dpkg("--remove", "data-gateway")
    assert not (folder.path / "usr/bin/data-gateway").exists()
    assert config.read_text() == edited
    folder.dpkg("--purge", "data-gateway")
    assert not config.parent.exists()
    assert (data_directory / "gateway.db").exists()


@pytest.mark.sqlite
@pytest.mark.parametrize("version", older_gateway.versions())
def test_an_upgrade_takes_what_an_older_gateway_kept(folder, older, version, built, tree, tmp_path, stubs):
    folder.install(older)
    config, data = folder.path / "etc/data-gateway/config", folder.path / "var/lib/data-gateway"
    kept = older_gateway.unpack(version, data)
    folder.give_to_service(data)
    before = schema(data)
    folder.install(built)
    assert config.read_text() == (tree / "etc/data-gateway/config").read_text()
    gateway = folder.gateway(tmp_path).start()
    try:
        admin = User.login(gateway, stubs, "system", "admin", older_gateway.PASSWORD)
        (found,) = admin.list_all(filter="raw_tags.weather=rain")
        assert (found.file_id, found.etag, found.size_bytes) == (kept.file_id, kept.etag, len(older_gateway.CONTENT))
        download = admin.objects("RequestDownload", file_ids=[found.file_id]).files[0].read
        assert fetch_url(download.uri, headers=dict(download.headers)).body == older_gateway.CONTENT
        # New objects are added to the existing counts.
        statistics = admin.object_management("GetStatistics", days=1)
        assert (statistics.stored_objects, statistics.stored_bytes) == (1, found.size_bytes)
        device = Uploader(gateway, stubs, kept.credential, kept.device_id).sign_in()
        again = Upload.of(device, device.create(restart_from=kept.upload_id))
        assert again.logical_id == kept.logical_upload_id
        again.put(content(100)).complete()
        assert len(admin.list_all()) == 2
        assert gateway.stop() == 0
        upgraded = schema(data)
        # Only the latest release may have the present schema.
        assert upgraded != before or version == older_gateway.versions()[-1]

        # An administrator may remove the file, and has to change the service accordingly.
        config.unlink()
        folder.install(built)
        assert not config.exists()
        config.write_text("{}")

        # A new gateway of the same program.
        for path in data.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert gateway.start().stop() == 0
        assert upgraded == schema(data)
    finally:
        gateway.close()


def schema(data: Path) -> dict[str, str]:
    """Returns the schema of a stopped gateway's database, and its migrations."""
    steps = sorted(name for (name,) in rows(data, "SELECT name FROM migrations"))
    return dict(rows(data, "SELECT name, sql FROM sqlite_schema")) | {"migrations": " ".join(steps)}


def test_a_purge_leaves_nothing_where_nothing_was_kept(folder, built):
    before = everything(folder.path)
    folder.install(built)
    folder.dpkg("--purge", "data-gateway")
    left = everything(folder.path) - before
    # dpkg's own records, and the earlier versions of the lists of users.
    assert {path for path in left if not re.match(r"var/lib/dpkg/|etc/\w+-$", path)} == set()


def everything(root: Path) -> set[str]:
    """Returns every file and folder that the package could have created."""
    ours = (path.relative_to(root) for path in root.rglob("*"))
    others = ("proc", "sys", "dev", "tmp", "run")
    return {str(path) for path in ours if path.parts[0] not in others and "cache" not in path.parts}


def test_every_file_belongs_to_root_and_is_not_writable_by_others(built):
    for line in package.run("dpkg-deb", "--contents", built).splitlines():
        mode, owner, *_ = line.split()
        assert owner == "root/root", line
        assert mode[8] != "w" and mode[5] != "w", line
        path = line.split()[5]
        assert path.startswith(("./etc/", "./usr/", "./lib/", "./var/")) or path in ("./",), line
        assert not path.startswith("./usr/local"), line


def test_control_files_are_complete(tree, built):
    control = dict(
        line.split(": ", 1) for line in (tree / "DEBIAN/control").read_text().splitlines() if not line.startswith(" ")
    )
    assert control["Package"] == "data-gateway"
    assert int(control["Installed-Size"]) > 0
    assert not re.search("@[A-Z_]+@", (tree / "DEBIAN/control").read_text())
    # The libraries of the program, and the commands of the scripts.
    libraries = {"libc6", "libnghttp2-14", "libpq5", "libqrencode4", "libssl3", "libsqlite3-0"}
    assert {"adduser"} | libraries <= set(package.dependencies(built))
    conffiles = (tree / "DEBIAN/conffiles").read_text().split()
    # All of /etc, and nothing else.
    assert conffiles == [f"/{path.relative_to(tree)}" for path in (tree / "etc").rglob("*") if path.is_file()]
    listed = {line.split("  ", 1)[1]: line.split()[0] for line in (tree / "DEBIAN/md5sums").read_text().splitlines()}
    files = {
        str(path.relative_to(tree)) for top in ("usr", "lib") for path in (tree / top).rglob("*") if path.is_file()
    }
    assert listed.keys() == files
    package.run("md5sum", "--check", "--quiet", tree / "DEBIAN/md5sums", cwd=tree)


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm"])
def test_scripts_of_the_package_are_valid(tree, name):
    path = tree / "DEBIAN" / name
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    package.run("sh", "-n", path)
    assert "set -e" in path.read_text()


def test_documents_that_debian_requires_exist(tree, built):
    documents = tree / "usr/share/doc/data-gateway"
    copyright = (documents / "copyright").read_text()
    assert "Permission is hereby granted" in copyright and "@" not in copyright
    version = package.run("dpkg-deb", "--field", built, "Version").strip()
    changes = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode()
    assert changes.startswith(f"data-gateway ({version}) ")
    assert "## 0.2.0" in gzip.decompress((documents / "changelog.gz").read_bytes()).decode()
    page = gzip.decompress((tree / "usr/share/man/man1/data-gateway.1.gz").read_bytes()).decode()
    assert page.startswith(".TH DATA-GATEWAY 1") and version in page
    # The links of the README are valid inside the package, too.
    for link in re.findall(r"\]\((docs/[^)#]+)", (documents / "README.md").read_text()):
        assert (documents / link).exists(), link
    links = re.findall(r"\]\((\.\./deploy/[^)]+)", (documents / "docs/operations.md").read_text())
    assert links and all((documents / "docs" / link).exists() for link in links), links


def test_lintian_finds_no_fault_in_the_package(built, is_full, tmp_path):
    # Everything except the program is the same with the stand-in, which is examined faster.
    examined = built if is_full else apt.package(tmp_path, "0.2.0-1")
    assert package.faults(examined) == ""


@pytest.mark.parametrize("name", UNITS)
def test_service_is_valid_and_sandboxed(tree, tmp_path, name):
    unit = tmp_path / name
    # This machine has no such program at that place.
    unit.write_text(
        (tree / UNITS[name]).read_text().replace("/usr/bin/data-gateway", str(tree / "usr/bin/data-gateway"))
    )
    # With the addition for several gateways.
    scale_out = tree / "usr/share/doc/data-gateway/deploy/scale-out"
    shutil.copytree(scale_out / "data-gateway.service.d", tmp_path / f"{name}.d")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert done.returncode == 0 and name not in done.stderr, done.stderr
    if "@" in name:
        assert "/var/lib/data-gateway-%i --config /etc/data-gateway/%i" in unit.read_text()
        assert "StateDirectory=data-gateway-%i\n" in unit.read_text()
    # 0 = fully sandboxed, 10 = not at all; in tenths.
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", unit]
    process.run(*command)


def test_the_service_says_what_the_documentation_says(tree):
    unit = (tree / UNIT).read_text()
    for line in ("Type=notify", "WatchdogSec=60", "User=data-gateway", "ProtectSystem=strict", "NoNewPrivileges=yes"):
        assert line in unit.splitlines(), line
