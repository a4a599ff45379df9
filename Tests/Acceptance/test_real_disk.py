"""Real file systems: one on which a sync fails for a moment, and a store on a disk of its own that loses power. The model
in faults/disk.c represents both.
"""

from pathlib import Path

import grpc
import pytest
from support import s3
from support.commands import CommandLine, offline
from support.copies import Copies
from support.database import rows
from support.file_systems import MIB, ThinDisk, Unavailable
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, User
from support.static_keys import StaticKey
from support.stories import PART_SIZE, Lab, Refused, Uploads
from support.uploads import completed, content

pytestmark = pytest.mark.sqlite

#: The log's existing blocks have space for some commits; then one has to fail.
COMMITS = 1000


@pytest.fixture
def disk(tmp_path):
    disk = ThinDisk(tmp_path)
    try:
        disk.__enter__()
    except (Unavailable, OSError) as error:
        pytest.skip(f"no ext4 on a loop device: {error}")
    try:
        yield disk
    finally:
        disk.__exit__()


@pytest.fixture
def lab(binary, tmp_path, login, disk):
    lab = Lab(binary, tmp_path, login, disk.folder / "gateway")
    try:
        yield lab.start()
    finally:
        # Before the disk is removed, no process may use it.
        lab.close()


def until_a_commit_fails(lab: Lab) -> None:
    for _ in range(COMMITS):
        try:
            lab.uploader.create()
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return
    raise AssertionError(f"{COMMITS} commits found space on a full disk")


@pytest.mark.parametrize("is_new", [True, False], ids=["all of it in the log", "most of it in the database"])
def test_a_disk_that_was_full_for_a_moment_loses_nothing_at_a_power_loss(lab, disk, is_new):
    stories = [Uploads(lab).execute()]
    if not is_new:
        assert lab.gateway.stop() == 0
        lab.gateway.start()
    stories.append(Uploads(lab).execute())
    disk.fill()
    until_a_commit_fails(lab)
    assert not lab.is_ready()
    disk.free()
    # Like the service manager, once the watchdog gets no signs of life.
    lab.restart()
    stories += [Uploads(lab).execute() for _ in range(4)]
    lab.gateway.kill()
    lab.disk = disk.after_power_loss() / "gateway"
    lab.gateway.data = lab.disk / "data"
    lab.gateway.start()
    lab.assert_sound()
    for story in stories:
        story.check()


@pytest.mark.parametrize("direct_io", [True, False], ids=["past the page cache", "through the page cache"])
def test_a_part_whose_sync_failed_and_that_is_sent_again_is_there_after_a_power_loss(lab, disk, direct_io):
    lab.gateway.stop()
    lab.gateway.environment["DATA_GATEWAY_OBJECT_STORE__DIRECT_IO"] = str(direct_io).lower()
    lab.gateway.start()
    story = lab.story()
    pieces = {1: content(PART_SIZE, 1), 2: content(PART_SIZE - 100, 2)}
    attempt = story.begin_parts()
    story.send_part(attempt, 1, content(PART_SIZE, 3))
    disk.fill()
    refused = 0
    for number, piece in pieces.items():
        try:
            story.send_part(attempt, number, piece)
        except Refused:
            refused += 1
    assert refused
    disk.free()
    if not lab.is_ready():
        lab.restart()
    for number, piece in pieces.items():
        story.send_part(attempt, number, piece)
    lab.gateway.kill()
    lab.disk = disk.after_power_loss() / "gateway"
    lab.gateway.data = lab.disk / "data"
    lab.gateway.start()
    story.check()
    story.resume()


def test_a_copy_whose_sync_failed_is_there_after_a_power_loss_once_its_job_has_succeeded(lab, disk, tmp_path):
    lab.gateway.stop()
    # Only the copies are on the disk that becomes full.
    lab.gateway.data = tmp_path / "data"
    lab.gateway.environment["DATA_GATEWAY_COPY__RETRY_SECONDS"] = "60"
    lab.user = None
    lab.start()
    completed(lab.uploader, content(2 * MIB))
    jobs = Copies(lab.user)
    disk.fill()
    file_id = lab.user.list_all()[0].file_id
    folder = {"endpoint": f"file://{lab.copies}", "key_template": "copies/{file_id}"}
    job = jobs.create([file_id], folder).copy_job_id
    eventually(lambda: metric(lab.gateway, "data_gateway_copy_retries_total") > 0)
    disk.free()
    assert jobs.finished(job).completed_items == 1
    copy = lab.copies / "copies" / file_id
    assert (disk.after_power_loss() / copy.relative_to(disk.folder)).read_bytes() == copy.read_bytes()


KEY = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")


class OwnDisk:
    """A gateway whose `store/` is a file system of its own."""

    def __init__(self, binary, directory: Path, login, disk: ThinDisk):
        self.binary, self.login, self.disk = binary, login, disk
        settings = {"object_store": {"static_keys": [KEY.setting(directory)], "min_free_bytes": 0}}
        self.gateway = Gateway(binary, directory, settings)

    def start(self) -> User:
        self.gateway.start()
        self.user = self.login(self.gateway)
        return self.user

    def put(self, name: str, body: bytes) -> None:
        self._client.put_object(Bucket="data", Key=f"tools/{name}", Body=body)

    def put_parts(self, name: str, body: bytes) -> None:
        """Stores an object as a multipart upload."""
        place = {"Bucket": "data", "Key": f"tools/{name}"}
        upload = place | {"UploadId": self._client.create_multipart_upload(**place)["UploadId"]}
        tag = self._client.upload_part(**upload, PartNumber=1, Body=body)["ETag"]
        self._client.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket="data", Key=f"tools/{name}")

    @property
    def _client(self):
        return s3.client(KEY.credentials(self.gateway))

    def rows(self, sql: str) -> list:
        return rows(self.gateway, sql)

    def contents(self, kind: str) -> list[bytes]:
        """Returns the contents of the files below `store/KIND`."""
        return sorted(file.read_bytes() for file in (self.gateway.data / "store" / kind).rglob("*") if file.is_file())


@pytest.fixture
def own_disk(binary, tmp_path, login):
    (tmp_path / "data").mkdir()
    try:
        disk = ThinDisk(tmp_path, tmp_path / "data/store").__enter__()
    except (Unavailable, OSError) as error:
        pytest.skip(f"no ext4 on a loop device: {error}")
    try:
        # A data directory is empty but for its store before its first start.
        gateway = OwnDisk(binary, tmp_path, login, disk)
        (gateway.gateway.data / "format").write_text("1\n")
        gateway.start()
        yield gateway
    finally:
        gateway.gateway.close()
        disk.__exit__()


def test_deleted_files_do_not_come_back_on_a_disk_of_its_own(own_disk):
    uploader = Fleet.create(own_disk.user).uploader()
    kept, purged = content(3000, 1), [content(1000 + number, number) for number in range(2, 14)]
    for body in [kept, *purged]:
        completed(uploader, body)
    own_disk.put("gone", content(5000, 20))
    own_disk.put("replaced", content(5001, 21))
    own_disk.disk.sync()
    files = {found.size_bytes: found.file_id for found in own_disk.user.list_all()}
    for body in purged:
        own_disk.user.object_management("DeleteObject", file_id=files[len(body)], reason="nobody needs it")
        own_disk.user.object_management("PurgeObject", file_id=files[len(body)], reason="nobody needs it")
        # One after the other, and several at once.
        if len(body) < 1008:
            eventually(lambda: not own_disk.rows("SELECT 1 FROM store_removals"))
    own_disk.delete("gone")
    own_disk.put("replaced", content(5002, 22))
    eventually(lambda: not own_disk.rows("SELECT 1 FROM store_removals"))
    own_disk.gateway.kill()
    own_disk.disk.lose_power()
    own_disk.start()
    eventually(lambda: metric(own_disk.gateway, "data_gateway_store_folders_to_reconcile") == 0)
    assert own_disk.gateway.stop() == 0
    assert own_disk.contents("data") == sorted([kept, content(5002, 22)])
    assert own_disk.contents("quarantine") == [] and len(own_disk.contents("facts")) == 1
    report = offline(own_disk.binary, "doctor", "--data-dir", own_disk.gateway.data, "--checksums")
    assert report["in_order"] and report["scheduled_removals"]["count"] == 0


@pytest.mark.parametrize("end", ["a clean stop", "a kill and a start", "a kill", "a kill and the loss of the database"])
def test_an_older_restore_keeps_what_was_acknowledged_right_before_a_power_loss(own_disk, tmp_path, end):
    command = CommandLine(own_disk.binary, own_disk.gateway, tmp_path).login()
    before, whole, parts = content(1000, 1), content(2000, 2), content(2001, 3)
    own_disk.put("before", before)
    archive = tmp_path / "monday.backup"
    command.json("backup", "--to", str(archive))
    own_disk.put("whole", whole)
    own_disk.put_parts("parts", parts)
    if end == "a clean stop":
        assert own_disk.gateway.stop() == 0
    else:
        own_disk.gateway.kill()
    own_disk.disk.lose_power()
    if "start" in end or "stop" in end:
        own_disk.start()
        assert own_disk.gateway.stop() == 0
    if "database" in end:
        for file in own_disk.gateway.data.glob("gateway.db*"):
            file.unlink()
    outcome = offline(own_disk.binary, "restore", "--from", archive, "--data-dir", own_disk.gateway.data)
    for _ in range(2):
        own_disk.start()
        eventually(lambda: metric(own_disk.gateway, "data_gateway_store_folders_to_reconcile") == 0)
        assert own_disk.gateway.stop() == 0
    # The file in which the part was sent is removed after the response. If the gateway was killed before that, an older
    # database does not know it: it stays like that of any interrupted upload, or is in quarantine if no file has a mark.
    spare = [parts] if end == "a kill" and len(own_disk.contents("data")) > 1 else []
    unmarked = [parts] if "database" in end and outcome["quarantined"] > 2 else []
    assert outcome["quarantined"] == 2 + len(unmarked)
    assert own_disk.contents("quarantine") == sorted([whole, parts, *unmarked])
    assert own_disk.contents("data") == sorted([before, *spare])
