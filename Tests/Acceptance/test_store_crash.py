"""The store after a kill and on a full disk: acknowledged data exists, and nothing else is left."""

import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.database import rows
from support.file_systems import SmallDisk, Unavailable
from support.gateway import Gateway, eventually
from support.oss import Part
from support.parties import Fleet
from support.raw import RawStore
from support.uploads import Upload, content

PART_SIZE = 256 * 1024
PARALLEL = 4
#: The number of uploads in progress at each kill; 200 in the long form.
UPLOADS = 4
KILLS, FULL_KILLS = 3, 50


class Sender:
    """One multipart upload whose parts are sent by four threads, with a record of acknowledgements."""

    def __init__(self, uploader, seed: int):
        self.upload = Upload.create(uploader)
        self.data = content(6 * PART_SIZE + 777 * seed, seed=seed)
        self.pieces = [self.data[start : start + PART_SIZE] for start in range(0, len(self.data), PART_SIZE)]
        self.multipart_id: str | None = None
        self.etags: dict[int, str] = {}
        self.whole: str | None = None

    def run(self) -> None:
        """Sends until the kill."""
        try:
            if self.multipart_id is None:
                self.multipart_id = (
                    RawStore(self.upload.credentials).request("POST", [("uploads", "")]).text("UploadId")
                )
            missing = [number for number in range(1, len(self.pieces) + 1) if number not in self.etags]
            with ThreadPoolExecutor(PARALLEL) as pool:
                list(pool.map(self._send, missing))
            if len(self.etags) == len(self.pieces):
                self.whole = self.upload.store.complete(
                    self.multipart_id, [Part(number, etag) for number, etag in sorted(self.etags.items())]
                )
        except Exception:
            pass  # The kill came; what was acknowledged before it counts.

    def _send(self, number: int) -> None:
        query = [("partNumber", str(number)), ("uploadId", self.multipart_id)]
        response = RawStore(self.upload.credentials).request("PUT", query, self.pieces[number - 1])
        if response.status == 200:
            self.etags[number] = response.headers["ETag"]

    def check(self) -> None:
        """Checks that everything acknowledged exists."""
        if self.whole is not None:
            assert self.upload.store.head().etag == self.whole
            assert self.upload.store.get() == self.data
        elif self.multipart_id:
            listed = {part.number: part.etag for part in self.upload.store.list_parts(self.multipart_id).parts}
            assert {number: listed.get(number) for number in self.etags} == self.etags
            # Parts that were stored without a response count as sent, like for the SDKs.
            self.etags = listed

    def finish(self) -> None:
        """Sends the missing parts, and completes; every byte is read back, including those from before the kill."""
        if self.whole is None:
            self.run()
        assert self.whole is not None
        assert self.upload.store.get() == self.data
        self.upload.complete(
            file_size=len(self.data), completed_part_count=len(self.pieces), oss_object_etag=self.whole
        )


def files_and_rows(gateway: Gateway) -> tuple[set[str], set[str]]:
    """Returns the data files, and those with a row."""
    named = set()
    for table in ("store_objects", "store_multiparts", "store_parts"):
        named |= {file for (file,) in rows(gateway, f"SELECT file_id FROM {table} WHERE file_id IS NOT NULL")}
    return {path.name for path in gateway.data.glob("store/data/*/*")}, named


def test_kills_lose_no_acknowledged_part_and_leave_no_file(gateway_with, login, is_full):
    gateway = gateway_with({"uploads": {"part_size_bytes": PART_SIZE}})
    fleet = Fleet.create(login(gateway))
    moments = random.Random(7)
    acknowledged = 0
    kills = FULL_KILLS if is_full else KILLS
    for kill in range(kills):
        senders = [Sender(fleet.uploader(), UPLOADS * kill + number) for number in range(UPLOADS)]
        threads = [threading.Thread(target=sender.run) for sender in senders]
        for thread in threads:
            thread.start()
        if kill == kills - 1:
            eventually(lambda senders=senders: acknowledged or any(sender.etags for sender in senders))
        # Not a wait for a condition: the moment of the kill is what is tested.
        threading.Event().wait(moments.uniform(0, 1.0))
        gateway.kill()
        for thread in threads:
            thread.join()
        gateway.start()
        for sender in senders:
            acknowledged += len(sender.etags)
            sender.check()
        # An upload that is aborted in the middle leaves nothing either.
        given_up = senders.pop()
        if given_up.whole is None:
            given_up.upload.uploader.abort(given_up.upload.logical_id)
        for sender in senders:
            sender.finish()
        files, rows = eventually(lambda: (found := files_and_rows(gateway))[0] == found[1] and found)
        assert files == rows
        fleet = Fleet.create(login(gateway))
    assert acknowledged
    gateway.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 48 MiB."""
    disk = SmallDisk(tmp_path / "disk", 48 << 20)
    try:
        disk.__enter__()
    except Unavailable as error:
        pytest.skip(f"needs the right to mount a tmpfs: {error}")
    yield disk.folder
    disk.__exit__()


def test_full_disk_is_reported_and_recovered_from(binary, small_disk, login, stubs):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(16 << 20))
    config = {"uploads": {"part_size_bytes": 1 << 20}, "object_store": {"min_free_bytes": 0}}
    gateway = Gateway(binary, small_disk, config).start()
    try:
        upload = Upload.create(Fleet.create(login(gateway)).uploader())
        data = content(36 << 20)
        pieces = [data[start : start + (1 << 20)] for start in range(0, len(data), 1 << 20)]
        multipart_id = upload.store.initiate()
        etags: dict[int, str] = {}

        def send(number: int) -> int:
            query = [("partNumber", str(number)), ("uploadId", multipart_id)]
            response = RawStore(upload.credentials).request("PUT", query, pieces[number - 1])
            if response.status == 200:
                etags[number] = response.headers["ETag"]
            else:
                assert response.error() == (503, "ServiceUnavailable")
            return response.status

        numbers = range(1, len(pieces) + 1)
        statuses = [send(number) for number in numbers]
        assert {200, 503} == set(statuses)
        listed = {part.number: part.etag for part in upload.store.list_parts(multipart_id).parts}
        assert listed == etags
        action = upload.recovery().next_action
        assert action == stubs.gateway.UPLOAD_RECOVERY_ACTION_CONTINUE
        os.remove(ballast)
        assert {send(number) for number in numbers if number not in etags} == {200}
        etag = upload.store.complete(multipart_id, [Part(number, etags[number]) for number in numbers])
        assert upload.store.get() == data
        upload.complete(file_size=len(data), completed_part_count=len(pieces), oss_object_etag=etag)
    finally:
        gateway.close()
