"""Single disk faults whose handling is easy to get wrong, each with the state that exposes an error."""

import errno

import grpc
import pytest
from support.database import rows
from support.faults import KILL, LIST, READ, RENAME, STAT, SYNC, WRITE
from support.gateway import eventually
from support.oss import Credentials
from support.parties import unique
from support.raw import RawStore
from support.stories import PART_SIZE, Lab, Refused, Stored, Story, Uploads
from support.uploads import content

pytestmark = pytest.mark.sqlite

LOG = "gateway.db-wal"
#: The number of log pages that are moved into the database at once; each has a header of 24 bytes.
LOG_PAGES = 1000


class Interrupted(Story):
    """A client in the middle of its uploads: an incomplete object, some parts, a static key's object."""

    def execute(self) -> "Interrupted":
        self.whole = self._create()
        self.whole.object.put(content(5000, 1))
        self.parted = self.begin_parts()
        self.send(1, 1)
        self.send(2, 2)
        self.tool = self.lab.tools(unique("tools/object"))
        self.tools.append(self.tool)
        self.tool.put(content(4000, 3))
        return self

    def send(self, number: int, seed: int) -> None:
        self.send_part(self.parted, number, content(PART_SIZE, seed))

    def overwrite(self, what: str) -> None:
        """Replaces the acknowledged content by other bytes."""
        if what == "object":
            self.whole.object.put(content(6000, 4))
        elif what == "part":
            self.send(2, 5)
        else:
            self.tool.put(content(7000, 6))

    def arrives(self) -> None:
        """Sends the rest; every acknowledged byte is read back."""
        self.resume()
        self.check()


# A commit with an unknown outcome.


@pytest.mark.parametrize("what", ["object", "part", "static key's object"])
@pytest.mark.parametrize("end", ["restart", "power"])
def test_an_overwrite_of_unknown_outcome_leaves_one_of_both(lab, what, end):
    number = 0
    while True:
        number += 1
        story = Interrupted(lab).execute()
        # Only the sync of the log: the bytes themselves are durable when it fails.
        lab.faults.arm(SYNC, number, errno.EIO, path=LOG)
        try:
            story.overwrite(what)
        except Refused:
            assert lab.faults.failed == 1
        has_failed = lab.faults.failed == 1
        lab.faults.disarm()
        lab.restart() if end == "restart" else lab.cut_power()
        story.check()
        story.arrives()
        if not has_failed:
            break
    assert number > 1


def sync_of_the_log_fails(lab: Lab) -> None:
    """After it the kernel has data that the disk does not have, and never reports that again."""
    lab.faults.arm(SYNC, 1, errno.EIO, path=LOG)
    with pytest.raises(grpc.RpcError) as error:
        lab.uploader.create()
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    assert lab.faults.failed == 1
    lab.faults.disarm()


def assert_all_is_there_after_a_power_cut(lab: Lab, stories: list[Story]) -> None:
    lab.cut_power()
    lab.assert_sound()
    for story in stories:
        story.check()


@pytest.mark.parametrize("restarts", [1, 2])
def test_acknowledgements_after_a_failed_sync_and_a_restart_survive_the_power(lab, restarts):
    stories = [Uploads(lab).execute()]
    sync_of_the_log_fails(lab)
    for _ in range(restarts):
        lab.restart()
        stories.append(Uploads(lab).execute())
    assert_all_is_there_after_a_power_cut(lab, stories)


@pytest.mark.parametrize("is_new", [True, False], ids=["all of it in the log", "most of it in the database"])
def test_a_checkpoint_after_a_failed_sync_and_a_restart_survives_the_power(lab, is_new):
    stories = [Uploads(lab).execute()]
    if not is_new:
        assert lab.gateway.stop() == 0
        lab.gateway.start()
    stories.append(Uploads(lab).execute())
    sync_of_the_log_fails(lab)
    lab.restart()
    database, log = lab.gateway.data / "gateway.db", lab.gateway.data / LOG
    before = database.stat().st_mtime_ns
    # One commit at a time: the power is cut before the next one starts the log over.
    while log.stat().st_size < LOG_PAGES * (24 + 4096):
        stories[-1]._create()
    eventually(lambda: database.stat().st_mtime_ns != before and lab.faults.is_synced(database), every=0.01)
    assert_all_is_there_after_a_power_cut(lab, stories)


def test_failed_syncs_over_several_restarts_lose_nothing(lab):
    """Each start has to recover on a disk that keeps failing; everything that starts and acknowledges stays durable."""
    stories = [lab.story().execute()]
    for number in range(1, 9):
        lab.gateway.kill()
        lab.faults.arm(SYNC, number, errno.EIO)
        try:
            lab.gateway.start()
            story = lab.story()
            stories.append(story)
            story.execute()
        except Refused:
            pass
        except AssertionError:
            assert lab.gateway.exit_code == 1, f"crashed or hung: {lab.gateway.exit_code}\n{lab.gateway.stderr}"
        if lab.gateway.process is None:
            lab.gateway.start()
    lab.faults.disarm()
    lab.restart()
    stories.append(lab.story().execute())
    assert_all_is_there_after_a_power_cut(lab, stories)


# Starts that fail half-way.


@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "kill"])
def test_two_starts_that_fail_at_the_identity_of_the_store_do_no_harm(lab, how):
    story = lab.story().execute()
    lab.gateway.kill()
    for _ in range(2):
        if how == "kill":
            lab.faults.arm(RENAME, 1, 0, path="store/identity", action=KILL)
        else:
            lab.faults.arm(WRITE, 1, getattr(errno, how), path="store/identity", lasting=True)
        with pytest.raises(AssertionError):
            lab.gateway.start()
        assert lab.faults.failed >= 1
        assert lab.gateway.exit_code == (-9 if how == "kill" else 1), lab.gateway.stderr
    lab.faults.disarm()
    lab.gateway.start()
    (recorded,) = rows(lab.gateway, "SELECT id, generation FROM store_identity")
    # A gateway that takes the store for another one leaves both unchanged.
    assert (lab.gateway.data / "store/identity").read_text().split() == [recorded[0], str(recorded[1])]
    story.check()


# Reads that fail at a start.


def assert_a_start_deletes_nothing(lab: Lab, story: Interrupted) -> None:
    """With the fault armed: the gateway refuses to start and says why, or starts and takes nothing for deleted."""
    lab.gateway.kill()
    output = len(lab.gateway.stderr)
    try:
        lab.gateway.start()
    except AssertionError:
        assert lab.gateway.exit_code == 1, f"crashed or hung: {lab.gateway.exit_code}\n{lab.gateway.stderr}"
        message = lab.gateway.stderr[output:]
        assert str(lab.gateway.data) in message, message
    # A separate thread compares the store with the database after the start.
    eventually(lambda: lab.faults.failed >= 1)
    lab.faults.disarm()
    if lab.gateway.process is not None:
        action = lab.user.stubs.gateway.UPLOAD_RECOVERY_ACTION_RESTART
        for attempt in (story.whole, story.parted):
            assert lab.uploader.recovery(attempt.logical_id).next_action != action
        lab.gateway.kill()
    lab.gateway.start()
    story.check()
    story.arrives()


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("kind", [LIST, STAT], ids=["list", "stat"])
def test_a_start_that_cannot_list_the_data_deletes_nothing(lab, kind, lasting):
    story = Interrupted(lab).execute()
    for folder in {path.parent for path in lab.gateway.data.glob("store/data/*/*")}:
        # The second read of a folder is that of its first entry.
        lab.faults.arm(kind, 1 if kind == STAT else 2, errno.EIO, path=f"store/data/{folder.name}", lasting=lasting)
        assert_a_start_deletes_nothing(lab, story)


@pytest.mark.parametrize("kind", [LIST, READ], ids=["list", "read"])
@pytest.mark.parametrize("name", ["keys", "store/identity"])
def test_a_start_that_cannot_read_its_own_files_replaces_none(lab, kind, name):
    story = Interrupted(lab).execute()
    number = 0
    while True:
        number += 1
        lab.gateway.kill()
        lab.faults.arm(kind, number, errno.EIO, path=name)
        try:
            lab.gateway.start()
        except AssertionError:
            assert lab.gateway.exit_code == 1, f"crashed or hung: {lab.gateway.exit_code}\n{lab.gateway.stderr}"
        has_failed = lab.faults.failed == 1
        lab.faults.disarm()
        if lab.gateway.process is not None:
            lab.gateway.kill()
        lab.gateway.start()
        # Tokens that were issued before are among those it checks with.
        story.check()
        if not has_failed:
            break
    story.arrives()


# Names that are visible but not durable.


def test_a_repeated_complete_makes_the_facts_durable(lab):
    attempt = Stored(RawStore(Credentials.of((reply := lab.uploader.create()).credentials)))
    data = content(5000)
    fields = {"file_size": len(data), "oss_object_etag": attempt.put(data), "raw_tags": {"run": unique("run")}}
    # First the files' own bytes are synced, then the folder with their names.
    lab.faults.arm(SYNC, 2, 0, path="store/facts/", action=KILL)
    with pytest.raises(grpc.RpcError):
        lab.uploader.complete(reply.upload_id, **fields)
    lab.faults.disarm()
    lab.restart()
    lab.uploader.complete(reply.upload_id, **fields)
    lab.cut_power()
    (found,) = lab.user.list_all(filter=f"raw_tags.run={fields['raw_tags']['run']}")
    assert (lab.gateway.data / "store/facts" / found.file_id[:2] / found.file_id).exists()
    attempt.check()


def test_a_copy_that_is_found_at_its_destination_is_durable(lab):
    number = 0
    while True:
        number += 1
        story = lab.story()
        # The syncs of the copy, of its name, and of the new folder's name.
        lab.faults.arm(SYNC, number, 0, path=str(lab.copies), action=KILL)
        try:
            story.execute()
        except Refused:
            pass
        was_killed = lab.faults.failed == 1
        lab.faults.disarm()
        lab.restart()
        if was_killed:
            story._copy()
        lab.cut_power()
        story.check()
        if not was_killed:
            break
    assert number > 1
