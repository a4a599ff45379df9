"""A real file system on which a sync fails for a moment: what the model of faults/disk.c stands for."""

import grpc
import pytest

from support.loop import ThinDisk, Unavailable
from support.stories import Lab, Uploads

#: The log's blocks that have room already take some commits; then one has to fail.
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
        # Before the disk's end: nothing is to hold on to it.
        lab.close()


def until_a_commit_fails(lab: Lab) -> None:
    for _ in range(COMMITS):
        try:
            lab.uploader.create()
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return
    raise AssertionError(f"{COMMITS} commits found room on a full disk")


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
    # As the service manager does it once the watchdog is not told of life any more.
    lab.restart()
    told += [Uploads(lab).tell() for _ in range(4)]
    lab.gateway.kill()
    lab.disk = disk.after_power_loss() / "gateway"
    lab.gateway.data = lab.disk / "data"
    lab.gateway.start()
    lab.assert_sound()
    for story in told:
        story.check()
