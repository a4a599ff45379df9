"""The cost of a zip archive for each object and for each MiB: numbers that do not depend on the machine's load.

They detect a change that reads or copies the bytes of objects, allocates for each piece, or does more for each object.
The cost is the difference between two archives, so that the call itself does not count. Objects without a recorded
CRC-32, which earlier versions stored, are read; all others are sent by the kernel.
"""

import http.client
import statistics
import tempfile
from pathlib import Path

import pytest
from support import counters
from support.counters import Counters, Counts
from support.database import change
from support.gateway import Gateway
from support.parties import Fleet
from support.uploads import FILE_NAME_TAG, MIB, completed, content

pytestmark = pytest.mark.sqlite

#: The numbers of archives of each kind: the first ones fill caches.
WARM_UP, COUNTED = 3, 5
#: The bytes of one read, and of one send.
PIECE = 256 << 10
#: The allocations for each object in a debug build: its row, its name, its records.
ALLOCATIONS = {"recorded": 125, "unrecorded": 134}
#: The objects of the archives: the numbers of small ones, and the MiB of single ones.
OBJECTS, SIZES = (10, 110), (2, 34)


@pytest.fixture(scope="module", params=["recorded", "unrecorded"])
def archives(request, binary, login) -> dict[str, list[Counts]]:
    """The costs of the counted archives by kind, of objects whose CRC-32 is recorded or not."""
    if objection := counters.objection():
        pytest.skip(f"no system call can be counted: {objection}")
    with tempfile.TemporaryDirectory(prefix="data-gateway-archives-") as directory:
        counted = Counters(binary.with_name("libcounters.so"), Path(directory, "counters"))
        config = {"uploads": {"calls_per_minute": 0}, "quota": {"device_uploads": 0}}
        gateway = Gateway(binary, Path(directory), config)
        gateway.wrapper = counted.wrapper
        gateway.start()
        counted.process = gateway.process.pid
        try:
            yield _measure(gateway, login(gateway), counted, is_recorded=request.param == "recorded")
        finally:
            gateway.close()


def _measure(gateway, admin, counted: Counters, is_recorded: bool) -> dict[str, list[Counts]]:
    uploader = Fleet.create(admin).uploader()
    for number in range(max(OBJECTS)):
        # Otherwise those of the same second would have the same name, and be numbered.
        tags = {FILE_NAME_TAG: f"drive {number:03}.mcap"}
        completed(uploader, content(10), tags | {f"of_{count}": "1" for count in OBJECTS if number < count})
    for size in SIZES:
        completed(uploader, content(size * MIB), {f"mib_{size}": "1"})
    if not is_recorded:
        change(gateway, "UPDATE store_objects SET crc32 = NULL")
    gateway.forget_channels()
    kinds = [*(f"of_{count}" for count in OBJECTS), *(f"mib_{size}" for size in SIZES)]
    measured: dict[str, list[Counts]] = {}
    for kind in kinds:
        lengths = set()
        calls = [counted.count(lambda: lengths.add(_download(gateway, admin, kind))) for _ in range(WARM_UP + COUNTED)]
        assert len(lengths) == 1
        measured[kind] = [cost for cost, _ in calls[WARM_UP:]]
    return measured


def _download(gateway, admin, kind: str) -> int:
    """Downloads the archive of the objects with that tag, and returns its length."""
    connection = http.client.HTTPConnection(gateway.listeners["web"], timeout=60)
    target = f"/v1/objects:zip?filter=raw_tags.{kind}%3D1"
    connection.request("GET", target, headers={"Authorization": f"Bearer {admin.token}"})
    reply = connection.getresponse()
    assert reply.status == 200
    body = reply.read()
    connection.close()
    return len(body)


def _each(archives, names: tuple[str, str], count: int, number) -> float:
    """Returns the cost of each of `count`, by which two kinds of archives differ."""
    few, many = (statistics.median_low(number(cost) for cost in archives[name]) for name in names)
    return (many - few) / count


@pytest.fixture
def is_recorded(request) -> bool:
    return request.node.callspec.params["archives"] == "recorded"


def test_each_object_is_opened_and_sent_once(binary, archives, is_recorded):
    names, count = tuple(f"of_{count}" for count in OBJECTS), OBJECTS[1] - OBJECTS[0]

    def each(number) -> float:
        return _each(archives, names, count, number)

    calls = ["openat", "newfstatat", "close", *(["sendfile", "sendto"] if is_recorded else ["pread64"])]
    for name in calls:
        # The database reads a few pages more.
        assert 1 <= each(lambda cost, name=name: cost.system_calls[name]) < 1.3, name
    assert each(lambda cost: cost.system_calls.total()) < len(calls) + 1
    assert each(lambda cost: len(cost.statements)) < 0.1
    # Growing lists copy some pages; the bytes of an object are fewer than a page.
    assert each(lambda cost: cost.copied_bytes) < 2500
    if binary.parent.name == "debug":
        expected = ALLOCATIONS["recorded" if is_recorded else "unrecorded"]
        assert each(lambda cost: cost.allocations) == pytest.approx(expected, rel=0.02)


def test_each_mebibyte_is_sent_without_a_copy(archives, is_recorded):
    names, count = tuple(f"mib_{size}" for size in SIZES), SIZES[1] - SIZES[0]

    def each(number) -> float:
        return _each(archives, names, count, number)

    pieces = MIB / PIECE
    assert each(lambda cost: cost.system_calls["pread64"]) == pytest.approx(0 if is_recorded else pieces, abs=0.1)
    # More, and a wait, if the client is slow for a moment.
    if is_recorded:
        assert pieces <= each(lambda cost: cost.system_calls["sendfile"]) < 3 * pieces
        assert each(lambda cost: cost.system_calls["sendto"]) == pytest.approx(0, abs=0.1)
    else:
        assert pieces <= each(lambda cost: cost.system_calls["sendto"]) < pieces + 1
        assert each(lambda cost: cost.system_calls.total()) < 2 * pieces + 1
    assert each(lambda cost: cost.allocations) < 1
    assert each(lambda cost: cost.copied_bytes) < PIECE / 100
