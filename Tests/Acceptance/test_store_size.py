"""The cost of an object's size: only its bytes. Memory, syncs and the cost of completing do not grow."""

import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from support.faults import SYNC, WRITE, Faults
from support.gateway import Gateway
from support.oss import Part
from support.parties import Fleet, unique
from support.process_usage import memory
from support.raw import RawStore
from support.uploads import MIB, Upload, content

#: The size of the large object in MiB.
SIZE, FULL_SIZE = 320, 5 * 1024
PART_SIZE = 64 * MIB
#: The limit of the gateway's peak resident memory in bytes.
MEMORY = 100 * MIB


class Large:
    """An object of parts that differ in their first bytes, sent over four connections."""

    def __init__(self, uploader, mebibytes: int, part_size: int):
        self.upload = Upload.create(uploader)
        self.part_size = part_size
        self.base = content(part_size)
        self.size = mebibytes * MIB
        self.count = -(-self.size // part_size)

    def piece(self, number: int) -> bytes:
        length = min(self.part_size, self.size - (number - 1) * self.part_size)
        return number.to_bytes(8) + self.base[8:length]

    def send(self) -> None:
        self.multipart_id = self.upload.store.initiate()

        def send(number: int) -> Part:
            query = [("partNumber", str(number)), ("uploadId", self.multipart_id)]
            response = RawStore(self.upload.credentials).request("PUT", query, self.piece(number))
            assert response.status == 200, response.body
            return Part(number, response.headers["ETag"])

        with ThreadPoolExecutor(4) as pool:
            self.parts = list(pool.map(send, range(1, self.count + 1)))

    def complete_multipart(self) -> float:
        """Completes the multipart upload, and returns the duration in seconds."""
        began = time.monotonic()
        self.etag = self.upload.store.complete(self.multipart_id, self.parts)
        return time.monotonic() - began

    def complete(self, run: str = "") -> None:
        self.upload.complete(
            {"run": run}, file_size=self.size, completed_part_count=self.count, oss_object_etag=self.etag
        )


def test_memory_and_completion_do_not_grow_with_the_object(gateway_with, login, is_full):
    gateway = gateway_with({"uploads": {"part_size_bytes": PART_SIZE}})
    user = login(gateway)
    fleet, run = Fleet.create(user), unique("run")
    small = Large(fleet.uploader(), 10, PART_SIZE)
    small.send()
    small_seconds = small.complete_multipart()
    large = Large(fleet.uploader(), FULL_SIZE if is_full else SIZE, PART_SIZE)
    large.send()
    large_seconds = large.complete_multipart()
    large.complete(run)
    (found,) = user.list_all(filter=f"raw_tags.run={run}")
    (location,) = user.objects("RequestDownload", file_ids=[found.file_id]).files
    uri = urlsplit(location.read.uri)
    connection = HTTPConnection(uri.netloc, timeout=20)
    connection.request("GET", f"{uri.path}?{uri.query}")
    response = connection.getresponse()
    for number in range(1, large.count + 1):
        piece = large.piece(number)
        assert response.read(len(piece)) == piece, f"part {number} differs"
    assert response.read() == b""
    connection.close()
    peak = memory(gateway.process.pid, "VmHWM")
    print(f"peak {peak / MIB:.0f} MiB; completing {small_seconds * 1000:.1f} and {large_seconds * 1000:.1f} ms")
    assert peak < MEMORY
    if is_full:
        assert large_seconds < 2 * small_seconds + 0.005
    gateway.close()


@pytest.fixture
def counted(binary, tmp_path):
    """A gateway whose disk calls are counted."""
    gateway = Gateway(binary, tmp_path, {"uploads": {"part_size_bytes": 65536}})
    faults = Faults(tmp_path, gateway.data)
    gateway.environment = faults.environment
    yield gateway.start(), faults
    gateway.close()


def test_completing_syncs_and_writes_little_whatever_the_size(counted, login):
    gateway, faults = counted
    uploader = Fleet.create(login(gateway)).uploader()

    def cost(kind: int, act) -> int:
        faults.arm(kind, 0, 0)
        act()
        return faults.counted

    costs = {}
    for kind in (SYNC, WRITE):
        tries = {1: [], 8: []}
        # In turns, because every upload touches a little more of the growing database.
        for _ in range(4):
            for mebibytes, costs_of_size in tries.items():
                large = Large(uploader, mebibytes, 65536)
                large.send()
                costs_of_size.append((cost(kind, large.complete_multipart), cost(kind, large.complete)))
        for mebibytes, costs_of_size in tries.items():
            # The gateway's own periodic work may come in between.
            costs[kind, mebibytes] = tuple(map(min, zip(*costs_of_size, strict=True)))
    assert min(costs[SYNC, 8]) > 0 and max(costs[SYNC, 8]) < 5
    assert costs[SYNC, 8] == costs[SYNC, 1]
    # Rows are stored in pages: one more or less may be touched.
    for small, large in zip(costs[WRITE, 1], costs[WRITE, 8], strict=True):
        assert large <= small + 4, costs
