"""docs/fleet.md: its commands print what it shows. `--write-pages` writes what they print.

`make test` runs them on this system, and `make package-test` in a minimal Debian, with the package. Both have a network
of their own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import package
from support.console_page import Shell, masked, replay
from support.network_namespace import NetworkNamespace
from support.recordings import recording

PAGE = Path(__file__).resolve().parents[2] / "docs/fleet.md"
IMPOSTOR = Path(__file__).resolve().parent / "support/impostor.py"
HOSTS = {"192.0.2.7": "depot.test", "192.0.2.8": "gateway.test"}
#: Who is between the gateway and a robot, and in which way.
IMPOSTORS = {19: ("192.0.2.66", "forge"), 20: ("192.0.2.67", "repeat")}


@pytest.fixture(params=["this system", "a bare Debian"])
def root(request, is_full, tmp_path) -> Path:
    """The root of the commands; in a bare Debian, the package is installed."""
    if subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user or machine cannot make network namespaces")
    if request.param == "this system":
        return Path("/")
    if not is_full:
        pytest.skip("make package-test")
    system = package.System(tmp_path / "root", request.getfixturevalue("bare_debian"))
    system.install(request.getfixturevalue("built"))
    # For the hosts of the story, which are mounted there.
    (system.path / "etc/hosts").touch()
    return system.path


@pytest.fixture
def place(root, tmp_path) -> Path:
    """The folder of the story: three bags, and the hosts of the robots whose traffic is changed."""
    folder = tmp_path / "story" if root == Path("/") else root / "srv/depot"
    for number in range(1, 4):
        (bag := folder / f"bags/run_{number}").mkdir(parents=True)
        (bag / "metadata.yaml").write_text(f"rosbag2_bagfile_information:\n  version: 5\n  run: {number}\n")
        (bag / f"run_{number}_0.mcap").write_bytes(recording(messages=10 * number))
    (folder / "hosts").write_text("".join(f"{address} {name}\n" for address, name in HOSTS.items()))
    for robot, (address, _) in IMPOSTORS.items():
        (folder / f"hosts.{robot}").write_text(f"192.0.2.8 gateway.test\n{address} depot.test\n")
    return folder


@pytest.fixture
def network(root, place):
    network = NetworkNamespace(
        [*HOSTS, *(address for address, _ in IMPOSTORS.values())], place / "hosts", None if root == Path("/") else root
    )
    yield network
    network.close()


@pytest.fixture
def impostors(network, place):
    """Ends when the page ends them, or with the test."""
    running = []
    for robot, (address, way) in IMPOSTORS.items():
        command = [*network.entry, sys.executable, IMPOSTOR, address, "192.0.2.7", way]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        (place / f"impostor.{robot}.pid").write_text(f"{running[-1].pid}\n")
    for process in running:
        assert process.stdout.readline() == b"ready\n"
    yield
    for process in running:
        process.stdin.close()
        process.wait()


@pytest.fixture
def shell(request, root, network, impostors, place):
    path = os.environ["PATH"]
    if root == Path("/"):
        (programs := place / "bin").mkdir()
        (programs / "data-gateway").symlink_to(request.getfixturevalue("binary"))
        path = f"{programs}:{path}"
    shell = Shell(network.command(place), {"PATH": path, "HOME": f"/{place.relative_to(root)}"})
    yield shell
    shell.close()


def test_commands_of_the_page_print_what_it_shows(shell, request):
    printed = replay(PAGE, shell)
    if request.config.getoption("--write-pages"):
        PAGE.write_text(printed)
    assert masked(printed) == masked(PAGE.read_text())
