"""A large file over a network with many interruptions, as displayed in the terminal."""

import re
import signal

import pytest
from support.client import Device, Network, Stage
from support.commands import OK, REFUSED
from support.parties import Fleet
from support.terminal import Terminal
from support.uploads import content, is_stored

#: The sizes of the file and of a part in bytes, and the number of cuts.
SHORT = (64 * 1024**2, 4 * 1024**2, 3)
LONG = (5 * 1024**3, 64 * 1024**2, 20)
#: For the client that sends 5 GiB.
TIMEOUT = 900
#: `drive.mcap  [######......]  52%  33.6 MiB/64.0 MiB  41.2 MiB/s  0:01 left`
BAR = re.compile(
    r"drive\.mcap  \[#*\.*\] +\d+%  [\d.]+ ([KMG]i)?B/[\d.]+ [MG]iB(  [\d.]+ ([KMG]i)?B/s(  \d+:\d\d left)?)?$"
)


def write(path, size: int) -> None:
    """Writes a file in which all parts differ."""
    block = content(1024**2)
    with open(path, "wb") as file:
        for number in range(size // len(block)):
            file.write(number.to_bytes(8) + block[8:])


@pytest.fixture
def shape(is_full) -> tuple[int, int, int]:
    return LONG if is_full else SHORT


@pytest.fixture
def network(gateway_with, shape):
    network = Network(gateway_with, {"uploads": {"part_size_bytes": shape[1]}})
    yield network
    network.close()


def test_large_file_arrives_over_a_network_that_is_cut(binary, network, login, shape, tmp_path):
    size, part, cuts = shape
    user = login(network.gateway)
    device = Device(binary, network, tmp_path / "device").join(Fleet.create(user))
    path = tmp_path / "drive.mcap"
    write(path, size)
    # One interruption is Ctrl-C; the other ones come before and after it.
    places = [(number + 1) * size // (cuts + 1) + 12_345 for number in range(cuts)]
    network.store.cut_at(*places)
    half = Stage()
    network.store.before(f"partNumber={size // part // 2}&", half, part // 3)

    first = run(device, "upload", path)
    half.wait()
    first.process.send_signal(signal.SIGINT)
    half.let_go()
    assert first.wait() == REFUSED
    assert first.terminal.left[-2].endswith("the same command continues the upload"), first.terminal.left
    assert_readable(first.terminal)

    second = run(device, "upload", "--resume")
    assert second.wait() == OK, second.terminal.left
    assert_readable(second.terminal)
    # It continues at the same place, and reports that.
    assert re.match(rf"continuing {path}: [\d.]+ [MG]iB of [\d.]+ [MG]iB already stored$", second.terminal.left[0])
    assert second.terminal.percents[0] >= 35
    assert re.match(rf"uploaded {path}: [\d.]+ [MG]iB in [\d:]+, file [0-9a-f]+$", second.terminal.left[-2])
    assert network.store.cuts_to_come == 0
    # If libcurl replaces a kept connection that turns out to be closed, nothing is reported.
    assert any("trying again" in line for each in (first, second) for line in each.terminal.left)

    assert network.store.bodies - size <= (cuts + 1) * part
    (arrived,) = user.list_all(page_size=10)
    assert arrived.size_bytes == size and is_stored(user, arrived.file_id, path)
    assert device.journals == []
    path.unlink()


class run:
    """A command of the device with both of its outputs in a terminal."""

    def __init__(self, device: Device, *arguments):
        terminal = Terminal()
        self.process = device.start(*arguments, stdout=terminal.client_side, stderr=terminal.client_side)
        self.terminal = terminal.opened()

    def wait(self) -> int:
        code = self.process.wait(TIMEOUT)
        self.terminal.closed()
        return code


def assert_readable(terminal: Terminal) -> None:
    """Expects bars and complete sentences about failures, and nothing else."""
    bars = [line for line in terminal.drawn if "[" in line and "%" in line]
    assert bars and all(BAR.search(line) and len(line) <= 79 for line in bars), [b for b in bars if not BAR.search(b)]
    sentences = [line for line in terminal.drawn if line not in bars]
    assert all(line.startswith(("data-gateway: ", "uploaded ", "continuing ")) for line in sentences), sentences
