"""A completely full disk can be emptied through the gateway itself, and does not prevent a start."""

import grpc
import pytest
from support.file_systems import MIB, SmallDisk, Unavailable
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, unique
from support.raw import RawStore, fetch_url
from support.uploads import Upload, content

pytestmark = pytest.mark.sqlite

SIZE = 60 * MIB
OBJECT = 4 * MIB
CONFIG = {
    "uploads": {"part_size_bytes": MIB, "calls_per_minute": 0},
    "database": {"reserve_bytes": 4 * MIB},
    "object_store": {"min_free_bytes": 8 * MIB},
}
#: The number of calls that each leave some rows; one of them has to find no space.
CALLS = 20_000


@pytest.fixture
def disk(tmp_path):
    disk = SmallDisk(tmp_path / "disk", SIZE)
    try:
        disk.__enter__()
    except Unavailable as error:
        pytest.skip(f"no tmpfs of its own: {error}")
    yield disk
    disk.__exit__()


@pytest.fixture
def gateway(binary, tmp_path, disk):
    gateway = Gateway(binary, tmp_path, CONFIG)
    gateway.environment.clear()
    gateway.data = disk.folder / "data"
    yield gateway.start()
    gateway.close()


class Filler:
    """Fills a gateway's disk, and records what was acknowledged."""

    def __init__(self, gateway, login):
        self.gateway, self.login = gateway, login
        self.user = login(gateway)
        self.uploader = Fleet.create(self.user).uploader()
        #: The objects by the value of the tag `run`.
        self.objects: dict[str, bytes] = {}
        self._number = 0

    def upload(self) -> str:
        """Stores an object, each step in one attempt; raises the first error."""
        self._number += 1
        run, data = unique("full"), content(OBJECT, seed=self._number)
        upload = Upload.create(self.uploader)
        response = RawStore(upload.credentials).request("PUT", body=data)
        if response.status != 200:
            assert response.error() == (503, "ServiceUnavailable")
            raise RefusedBody
        upload.complete({"run": run}, file_size=OBJECT, oss_object_etag=response.headers["ETag"])
        self.objects[run] = data
        return run

    def fill_by_data(self, disk) -> Upload:
        """Uploads until both floors are reached.

        Returns an upload in progress.
        """
        upload = Upload.create(self.uploader)
        multipart_id = upload.store.initiate()
        while disk.free_bytes >= CONFIG["object_store"]["min_free_bytes"]:
            self.upload()
        eventually(self.is_refused)
        # Uploads in progress continue, but not to the last byte.
        for number in range(1, SIZE // MIB):
            response = RawStore(upload.credentials).request(
                "PUT", [("partNumber", str(number)), ("uploadId", multipart_id)], content(MIB, seed=number)
            )
            if response.status != 200:
                assert response.error() == (503, "ServiceUnavailable")
                break
        assert number > 1 and disk.free_bytes > 0, response.body
        return upload

    def fill_by_calls(self, upload: Upload) -> None:
        for _ in range(CALLS):
            try:
                self.uploader.reissue(upload.id)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.UNAVAILABLE, error
                return
        raise AssertionError(f"{CALLS} calls found space on a full disk")

    def file_id(self, run: str) -> str:
        (found,) = self.user.list_all(filter=f"raw_tags.run={run}")
        return found.file_id

    def download(self, run: str) -> bytes:
        (location,) = self.user.objects("RequestDownload", file_ids=[self.file_id(run)]).files
        return fetch_url(location.read.uri).body

    def check(self) -> None:
        """Checks that everything acknowledged exists."""
        for run, data in self.objects.items():
            assert self.download(run) == data, run

    def restart(self, end: str) -> None:
        if end == "kill":
            self.gateway.kill()
        else:
            assert self.gateway.stop() == 0
        self.gateway.start()

    def empty(self, count: int) -> None:
        """Deletes objects; their space is available to others at once."""
        for run in list(self.objects)[:count]:
            self.user.delete_permanently(self.file_id(run))
            del self.objects[run]
        # Files are removed after the response, and their space shows a second later.
        eventually(self.is_taken)

    def is_refused(self) -> bool:
        try:
            self.uploader.create()
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE
            assert "no space for new uploads" in error.details()
            return True
        return False

    def is_taken(self) -> bool:
        try:
            self.upload()
        except (grpc.RpcError, RefusedBody):
            return False
        return True


class RefusedBody(Exception):
    """The store had no space for a body."""


def is_released(gateway) -> bool:
    return metric(gateway, "data_gateway_disk_reserve_released") == 1


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_full_disk_is_emptied_through_the_gateway(gateway, disk, login, end):
    filler = Filler(gateway, login)
    for _ in range(3):
        under_way = filler.fill_by_data(disk)
        assert not is_released(gateway)
        # Another program takes the space that the floors left.
        disk.fill()
        filler.fill_by_calls(under_way)
        assert is_released(gateway)
        assert (gateway.data / "reserve").stat().st_size == 0
        filler.restart(end)
        assert is_released(gateway)
        filler.user = login(gateway)
        filler.check()
        with pytest.raises(grpc.RpcError) as refusal:
            filler.upload()
        assert refusal.value.code() == grpc.StatusCode.UNAVAILABLE
        filler.uploader.abort(under_way.logical_id)
        filler.empty(5)
        assert not is_released(gateway)
        filler.check()
    log = gateway.stderr
    assert log.count("the gateway released its reserve") == 3
    assert log.count("the disk has free space again") == 3


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_disk_that_calls_filled_is_emptied_through_the_gateway(gateway, disk, login, end):
    filler = Filler(gateway, login)
    for _ in range(4):
        filler.upload()
    under_way = Upload.create(filler.uploader)
    disk.fill()
    filler.fill_by_calls(under_way)
    # Neither sign-ins nor starts use up the reserve.
    for _ in range(5):
        filler.restart(end)
        for _ in range(20):
            filler.user = login(gateway)
    filler.check()
    filler.uploader.abort(under_way.logical_id)
    filler.empty(3)
    filler.check()
    assert not is_released(gateway)
