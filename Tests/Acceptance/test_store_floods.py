"""One device creates as much as it can of shared resources; another device and a user are not affected."""

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from support.database import changing, rows
from support.parties import Fleet, unique
from support.process_usage import memory
from support.raw import RawStore
from support.refusal import Refusal, refused
from support.uploads import Upload, completed, content

PART_SIZE = 65_536
#: The number of multipart uploads of one upload that the store keeps open.
OPEN = 16
MULTIPARTS, FULL_MULTIPARTS = 300, 40_000
RESTARTS, FULL_RESTARTS = 300, 20_000
#: The limit of calls a minute for one device, in the short form.
CALLS = 200
KIB = 1024
#: The limit for the bystanders' calls, in the full form.
SECONDS_OF_99_PERCENT = 0.2
FULL_MEMORY = 128 * KIB * KIB


class Bystanders:
    """A device that uploads and a user who lists, one after the other, until they are stopped."""

    def __init__(self, fleet: Fleet, pause: float):
        self.pause = pause
        self.uploader, self.user = fleet.uploader(), fleet.user
        self.run = unique("bystander")
        self.uploads = 0
        self.seconds: list[float] = []
        self.failure: BaseException | None = None
        self._ends = threading.Event()
        self._went = threading.Event()
        self._thread = threading.Thread(target=self._go)

    def _go(self) -> None:
        try:
            while not self._ends.is_set() or self.uploads == 0:
                upload = self._timed(lambda: Upload.create(self.uploader))
                self._timed(lambda: upload.put(content(1000)))
                self._timed(lambda: upload.complete({"run": self.run}))
                self.uploads += 1
                found = self._timed(lambda: self.user.objects("ListObjects", filter=f"raw_tags.run={self.run}"))
                assert len(found.objects) == min(self.uploads, 50)
                self._went.set()
                self._ends.wait(self.pause)
        except BaseException as error:
            self.failure = error
            self._went.set()

    def _timed(self, call):
        start = time.monotonic()
        try:
            return call()
        finally:
            self.seconds.append(time.monotonic() - start)

    def wait(self) -> None:
        """Waits until they have completed another round."""
        self._went.clear()
        self._went.wait()

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ends.set()
        self._thread.join()
        if self.failure:
            raise self.failure

    @property
    def percentile(self) -> float:
        """Returns the 99th percentile in seconds."""
        return sorted(self.seconds)[len(self.seconds) * 99 // 100]


@contextmanager
def bystanders(fleet: Fleet, gateway, full: bool, what: str, calls_per_minute: int = 1000):
    """Runs the body while a device and a user work, at most at that rate of uploads, who must not notice it."""
    those = Bystanders(fleet, 60 / calls_per_minute)
    before = memory(gateway.process.pid)
    those.start()
    try:
        yield those
        those.wait()
    finally:
        those.end()
    if not full:
        return
    grown = memory(gateway.process.pid) - before
    print(
        f"\n{what}: {len(those.seconds)} calls of bystanders, 99th percentile {those.percentile * 1000:.0f} ms,"
        f" longest {max(those.seconds) * 1000:.0f} ms, memory +{grown // KIB} KiB"
    )
    assert those.percentile < SECONDS_OF_99_PERCENT
    assert grown < FULL_MEMORY


def initiate_many(upload: Upload, count: int) -> list[str]:
    """Begins multipart uploads of one upload, over one connection."""
    store = RawStore(upload.credentials)
    connection = http.client.HTTPConnection(store.address, timeout=120)
    ids = []
    for _ in range(count):
        target, headers = store.head("POST", [("uploads", "")])
        connection.request("POST", target, headers=headers)
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        ids.append(body.split(b"<UploadId>")[1].split(b"</UploadId>")[0].decode())
    connection.close()
    return ids


@pytest.fixture(scope="module")
def flooded(gateway_with):
    return gateway_with({"uploads": {"part_size_bytes": PART_SIZE}})


@pytest.fixture
def flooded_fleet(flooded, login):
    return Fleet.create(login(flooded))


def test_flood_of_multipart_uploads_does_not_delay_others(flooded, flooded_fleet, is_full):
    attacker = flooded_fleet.uploader()
    upload = Upload.create(attacker)
    with bystanders(flooded_fleet, flooded, is_full, "multipart uploads"):
        count = (FULL_MULTIPARTS if is_full else MULTIPARTS) // 4
        with ThreadPoolExecutor(4) as pool:
            ids = [one for some in pool.map(lambda _: initiate_many(upload, count), range(4)) for one in some]
        (row,) = rows(flooded, "SELECT count(*) FROM store_multiparts WHERE upload_id = ?", upload.id)
        assert row[0] == OPEN
        # Clients that still use a removed one are told to start over.
        open_ids = {one for (one,) in rows(flooded, "SELECT id FROM store_multiparts WHERE upload_id = ?", upload.id)}
        removed = next(one for one in ids if one not in open_ids)
        with pytest.raises(Exception) as error:
            upload.store.upload_part(removed, 1, b"1")
        assert (error.value.status, error.value.code) == (404, "NoSuchUpload")
        # The device itself can finish with the multipart upload that it began last.
        upload.multipart(content(2 * PART_SIZE)).complete()
    assert rows(flooded, "SELECT count(*) FROM store_multiparts WHERE upload_id = ?", upload.id) == [(1,)]


def test_ending_thousands_of_multipart_uploads_does_not_delay_others(flooded, flooded_fleet, is_full):
    """An upload with thousands of multipart uploads, as left by versions without a limit, is restarted and aborted."""
    attacker = flooded_fleet.uploader()
    upload = Upload.create(attacker)
    initiate_many(upload, 1)
    count = FULL_MULTIPARTS if is_full else 2000
    flooded.stop()
    with changing(flooded) as database:
        database.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO store_multiparts (id, upload_id, bucket, object_key, file_id, part_size, created_at)
            SELECT 'old-' || i, upload_id, bucket, object_key, '000000000000000000000000' || (10000000 + i), part_size, i
            FROM store_multiparts CROSS JOIN n WHERE upload_id = ?
            """,
            (count, upload.id),
        )
    # Their files do not exist, which does not affect the removal of their rows.
    flooded.start()
    with bystanders(flooded_fleet, flooded, is_full, "the end of an upload") as others:
        for _ in range(20):
            assert upload.recovery().next_action
        attacker.abort(upload.logical_id)
        assert upload.recovery().terminal_reason
        while rows(flooded, "SELECT count(*) FROM store_multiparts WHERE upload_id = ?", upload.id) != [(0,)]:
            others.wait()
    assert rows(flooded, "SELECT count(*) FROM store_discards") == [(0,)]


def test_flood_of_restarts_is_limited(gateway_with, login, stubs, is_full):
    """Restarts beyond the rate get a retry time, and few rows are left of the accepted ones."""
    config = {"uploads": {"part_size_bytes": PART_SIZE} | ({} if is_full else {"calls_per_minute": CALLS})}
    gateway = gateway_with(config)
    fleet = Fleet.create(login(gateway))
    attacker = fleet.uploader()
    first = attacker.create()
    made, refusals = [first.upload_id], []
    begun = time.monotonic()
    with bystanders(fleet, gateway, is_full, "restarts", 1000 if is_full else CALLS):
        # The limit grows again with the time: a slow machine needs some more.
        number = 0
        while number < (FULL_RESTARTS if is_full else RESTARTS + (time.monotonic() - begun) * CALLS / 60):
            number += 1
            try:
                made.append(attacker.create(made[-1]).upload_id)
            except grpc.RpcError as error:
                refusals.append(Refusal().read(stubs, error))
    assert refusals
    assert all(refusal.detail.code == "DATA_GATEWAY_RATE_LIMITED" for refusal in refusals)
    (row,) = rows(gateway, "SELECT count(*) FROM uploads WHERE logical_id = ?", first.logical_upload_id)
    assert row[0] <= 5 < len(made)


def test_flood_of_tags_meets_the_quota(gateway_with, login, stubs, is_full):
    """Objects of one byte with the maximum of tags: these count toward the quota of bytes."""
    gateway = gateway_with({"uploads": {"part_size_bytes": PART_SIZE}, "quota": {"device_bytes": 4 * KIB * KIB}})
    fleet = Fleet.create(login(gateway))
    attacker = fleet.uploader()
    tags = {f"key-{number}": "x" * 2048 for number in range(256)}
    with bystanders(fleet, gateway, is_full, "tags"):
        made = 0
        with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
            while made < 20:
                completed(attacker, b"1", tags)
                made += 1
    assert "stored bytes" in refusal.message
    # Half a megabyte each.
    assert 1 <= made <= 9
