"""The cost of a download from a bucket for each MiB: numbers that do not depend on the machine's load.

They detect a change that passes the bytes on between threads, copies them more than once, or allocates for each piece. The cost is the
difference between two objects, so that the request itself does not count.
"""

import statistics
import tempfile
from pathlib import Path

import pytest
from support import counters
from support.buckets import Bucket
from support.counters import Counters, Counts
from support.gateway import Gateway
from support.s3 import client
from support.static_keys import OWNER
from support.uploads import MIB, content

#: The numbers of downloads of each size: the first ones open connections and fill caches.
WARM_UP, COUNTED = 3, 5
#: The bytes of one receive, and of one send.
RECEIVED, SENT = 128 << 10, 256 << 10
SIZES = (2, 34)


@pytest.fixture(scope="module")
def downloads(binary, gateway_with) -> dict[int, list[Counts]]:
    """The costs of the counted downloads by size in MiB."""
    if objection := counters.objection():
        pytest.skip(f"no system call can be counted: {objection}")
    with tempfile.TemporaryDirectory(prefix="data-gateway-engine-") as directory:
        folder = Path(directory)
        counted = Counters(binary.with_name("libcounters.so"), folder / "counters")
        for name in ("bucket", "data"):
            (folder / name).mkdir()
        bucket = Bucket.start(gateway_with, folder / "bucket")
        keys = {"object_store": {"static_keys": [OWNER.setting(folder / "bucket")]}}
        gateway = Gateway(binary, folder / "data", keys | {"objects": bucket.settings()})
        gateway.wrapper = counted.wrapper
        gateway.start()
        counted.process = gateway.process.pid
        try:
            yield _measure(gateway, counted)
        finally:
            gateway.close()


def _measure(gateway, counted: Counters) -> dict[int, list[Counts]]:
    s3 = client(OWNER.credentials(gateway))
    measured = {}
    for size in SIZES:
        body = content(size * MIB)
        s3.put_object(Bucket="data", Key=f"mib-{size}", Body=body)

        def get(size=size, body=body) -> None:
            assert s3.get_object(Bucket="data", Key=f"mib-{size}")["Body"].read() == body

        measured[size] = [counted.count(get)[0] for _ in range(WARM_UP + COUNTED)][WARM_UP:]
    return measured


def test_each_mebibyte_is_received_and_sent_with_one_copy(downloads):
    def each(number) -> float:
        few, many = (statistics.median_low(number(cost) for cost in downloads[size]) for size in SIZES)
        return (many - few) / (SIZES[1] - SIZES[0])

    # More if the bucket or the client is slow for a moment.
    for name, size in (("recvfrom", RECEIVED), ("sendto", SENT)):
        assert 0.8 * MIB / size < each(lambda cost, name=name: cost.system_calls[name]) < 3 * MIB / size, name
    assert each(lambda cost: cost.system_calls.total()) < 6 * MIB / RECEIVED
    assert each(lambda cost: cost.copied_bytes) == pytest.approx(MIB, rel=0.2)
    # Closures of a debug build, most of them; the 16 KiB that libcurl passes on at a time need no allocation.
    assert each(lambda cost: cost.allocations) < 12 * MIB / RECEIVED
