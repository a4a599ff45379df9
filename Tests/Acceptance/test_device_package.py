"""Tests the Debian package of a device: its content, and that it has no part of the server."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from support import apt, package, process

#: The libraries that only the server needs.
SERVER_LIBRARIES = ("libsqlite3", "libpq", "libmicrohttpd", "liblzma", "libargon2")


@pytest.fixture(scope="module")
def built(request, binary, tmp_path_factory) -> Path:
    if given := request.config.getoption("--device-package"):
        return given.resolve()
    program = binary.with_name("data-gateway-device")
    output = tmp_path_factory.mktemp("package")
    script = package.ROOT / "scripts/deb-device"
    return Path(package.run(script, "--binary", program, "--version", "0.2.0-1", "--output", output).strip())


def test_program_has_the_commands_of_a_device_alone(tree):
    program = tree / "usr/bin/data-gateway"
    page = package.run(program, "--help")
    commands = re.findall(r"^  (\w[a-z ]+?)  ", page.split("Commands:")[1].split("Options:")[0], re.M)
    assert commands == ["init", "upload", "agent run", "agent status", "agent check", "completion", "version"]
    refused = subprocess.run([program, "serve"], capture_output=True, text=True)
    assert refused.returncode == 2 and "unknown command serve" in refused.stderr


def test_program_needs_no_library_of_the_server(tree):
    needed = package.run("readelf", "-d", tree / "usr/bin/data-gateway")
    assert "libcurl" in needed
    assert not [name for name in SERVER_LIBRARIES if name in needed]
    depends = re.search(r"(?m)^Depends: (.*)", (tree / "DEBIAN/control").read_text())[1]
    assert not [name for name in SERVER_LIBRARIES if name in depends]


def test_configuration_of_the_package_is_valid(tree, tmp_path):
    file = tree / "etc/data-gateway-device/agent.json"
    configuration = json.loads(file.read_text())
    recordings = tmp_path / "recordings"
    device = tmp_path / "device"
    for directory in (recordings, device):
        directory.mkdir()
    configuration["directories"][0]["path"] = str(recordings)
    (device / "agent.json").write_text(json.dumps(configuration))
    (device / "archebase-config.json").write_text('{"api_key": "key", "tags": {}}')
    command = [tree / "usr/bin/data-gateway", "agent", "check", "--offline"]
    process.run(*command, "--device-dir", device)


def test_unit_runs_the_agent_with_the_files_of_the_package(tree):
    unit = tree / "lib/systemd/system/data-gateway-agent.service"
    command = re.search(r"(?m)^ExecStart=(.*)", unit.read_text())[1].split()
    assert (tree / command[0].lstrip("/")).exists()
    assert command[1:3] == ["agent", "run"]
    assert (tree / command[command.index("--config") + 1].lstrip("/")).exists()
    assert (tree / "DEBIAN/conffiles").read_text() == "/etc/data-gateway-device/agent.json\n"


def test_unit_is_valid_and_restricted(tree, tmp_path):
    path = tmp_path / "data-gateway-agent.service"
    unit = (tree / "lib/systemd/system/data-gateway-agent.service").read_text()
    # The program is not installed on this machine.
    path.write_text(unit.replace("/usr/bin/data-gateway", str(tree / "usr/bin/data-gateway")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
    assert done.returncode == 0 and "data-gateway-agent.service" not in done.stderr, done.stderr
    # 0 = completely restricted, 10 = not at all; in tenths.
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=40", path]
    process.run(*command)


def test_shells_complete_the_commands_of_a_device(tree):
    for file in (
        "bash-completion/completions/data-gateway",
        "zsh/vendor-completions/_data-gateway",
        "fish/vendor_completions.d/data-gateway.fish",
    ):
        script = (tree / "usr/share" / file).read_text()
        assert "agent run" in script and "serve" not in script, file


def test_manual_page_names_the_program_and_its_version(tree, built):
    page = gzip.decompress((tree / "usr/share/man/man1/data-gateway.1.gz").read_bytes()).decode()
    version = package.run("dpkg-deb", "--field", built, "Version").strip()
    assert page.startswith(".TH DATA-GATEWAY 1") and f"data-gateway-device {version}" in page


def test_lintian_finds_no_fault_in_the_package(built, is_full, tmp_path):
    assert package.faults(built if is_full else apt.package(tmp_path, "0.2.0-1", "deb-device")) == ""
