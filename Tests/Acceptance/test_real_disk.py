"""A real file system on which a sync fails for a moment, which the model in faults/disk.c represents."""

import grpc
import pytest
from support.copies import Copies
from support.file_systems import MIB, ThinDisk, Unavailable
from support.gateway import eventually
from support.monitoring import metric
from support.stories import PART_SIZE, Lab, Refused, Uploads
from support.uploads import completed, content

#: The log's existing blocks have space for some commits; then one has to fail.
COMMITS = 200


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
    told = [Uploads(lab).tell()]
    if not is_new:
        assert lab.gateway.stop() == 0
        lab.gateway.start()
    told.append(Uploads(lab).tell())
    disk.fill()
    until_a_commit_fails(lab)
    assert not lab.is_ready()
    disk.free()
    # Like the service manager, once the watchdog gets no signs of life.
    lab.restart()
    told += [Uploads(lab).tell() for _ in range(4)]
    lab.gateway.kill()
    lab.disk = disk.after_power_loss() / "gateway"
    lab.gateway.data = lab.disk / "data"
    lab.gateway.start()
    lab.assert_sound()
    for story in told:
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
