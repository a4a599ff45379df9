"""Any single disk call fails, then the gateway restarts or loses power: nothing acknowledged is lost."""

import errno
import random
from contextlib import contextmanager
from itertools import pairwise

import pytest
from support.faults import FAULTS, KILL, RENAME, SYNC, UNLINK, fault_name
from support.stories import Lab, Refused, Story

pytestmark = pytest.mark.sqlite

#: After the fault, either the process restarts, acknowledges more, and then loses power; or it loses power at
#: once.
ENDS = ("restart", "power")
#: The largest number of failing calls of one kind in the long form. A story makes over a thousand writes, several for
#: each of its sixty acknowledgements; this many, evenly distributed, hit every acknowledgement more than twice.
MOST_CASES = 240


def chosen(calls: int, lots: random.Random, is_full: bool) -> list[int]:
    """Selects the calls that fail: in the long form all, or one of each of `MOST_CASES` equal spans; else one."""
    if calls == 0:
        return []
    spans = min(calls, MOST_CASES) if is_full else 1
    bounds = [calls * span // spans for span in range(spans + 1)]
    return [lots.randint(first + 1, last) for first, last in pairwise(bounds)]


@contextmanager
def saying(fault: str, number: int, end: str):
    """Adds the case to the error of a failure in it."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"the case: {fault}, call {number}, then {end}")
        raise


def counted(lab: Lab, kind: int) -> int:
    """Returns the number of calls of the kind in a story."""
    lab.faults.arm(kind, 0, 0)
    lab.story().execute()
    return lab.faults.counted


def assert_nothing_is_lost(lab: Lab, end: str, stories: list[Story], lots: random.Random | None = None) -> None:
    """Restarts or cuts the power, and checks everything that the stories have acknowledged."""
    lab.faults.disarm()
    assert lab.gateway.process.poll() is None, f"crashed\n{lab.gateway.stderr}"
    if lab.is_ready():
        stories.append(lab.story())
        try:
            stories[-1].execute()
        except Refused:
            # The fault may have affected the checkpoint after the last commit, and the writer has ended since.
            assert not lab.is_ready(), "refused although nothing fails any more"
    if end == "restart":
        lab.restart()
        for story in stories:
            story.check()
        stories.append(lab.story().execute())
    lab.cut_power(lots)
    for story in stories:
        story.check()
    lab.assert_sound()
    for story in stories:
        story.resume()
    lab.story().execute().check()


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_any_one_call_fails(lab, fault, is_full):
    kind, error = fault
    seed = FAULTS.index(fault)
    lots = random.Random(seed)
    calls = counted(lab, kind)
    for end in ENDS if is_full else [ENDS[seed % 2]]:
        for number in chosen(calls, lots, is_full):
            with saying(fault_name(fault), number, end):
                # Half of the cases run on a disk that writes names and pages only when it must, half on one like
                # ext4.
                lab.faults.ordered = lots.randrange(2)
                story = lab.story()
                lab.faults.arm(kind, number, error)
                try:
                    story.execute()
                except Refused:
                    assert lab.faults.failed == 1, "refused although nothing failed"
                assert_nothing_is_lost(lab, end, [story], lots if lab.faults.ordered else None)


def test_every_sync_fails_from_some_moment_on(lab, is_full):
    for number in chosen(counted(lab, SYNC), random.Random(1), is_full):
        story = lab.story()
        lab.faults.arm(SYNC, number, errno.EIO, lasting=True)
        with pytest.raises(Refused):
            story.execute()
        assert_nothing_is_lost(lab, "restart", [story])


@pytest.mark.parametrize("kind", [SYNC, RENAME, UNLINK], ids=["sync", "rename", "unlink"])
def test_the_process_ends_right_before_a_call(lab, kind, is_full):
    for number in chosen(counted(lab, kind), random.Random(kind), is_full):
        story = lab.story()
        lab.faults.arm(kind, number, 0, action=KILL)
        try:
            story.execute()
        except Refused:
            pass
        # Removals after a response may not have finished.
        lab.faults.disarm()
        lab.restart()
        story.check()
        assert_nothing_is_lost(lab, "power", [story])


def test_power_loss_without_any_fault_loses_nothing(lab):
    lots = random.Random(3)
    for ordered in (0, 1):
        lab.faults.ordered = ordered
        assert_nothing_is_lost(lab, "power", [lab.story().execute()], lots if ordered else None)


def test_a_start_fails_and_the_next_one_has_everything(lab, is_full):
    story = lab.story().execute()
    for fault in FAULTS:
        kind, error = fault
        lots = random.Random(FAULTS.index(fault))
        lab.gateway.kill()
        lab.faults.arm(kind, 0, error)
        lab.gateway.start()
        for number in chosen(lab.faults.counted, lots, is_full):
            with saying(fault_name(fault), number, "restart"):
                lab.gateway.kill()
                if lots.randrange(2):
                    lab.faults.cut_power()
                # Twice, because the second start begins with the remains of a failed one.
                for _ in range(2):
                    start_with_fault(lab, kind, number, error)
                lab.gateway.start()
                story.check()
    lab.story().execute().check()


def start_with_fault(lab: Lab, kind: int, number: int, error: int) -> None:
    """Starts and kills; a start that fails has to say why."""
    output = len(lab.gateway.stderr)
    lab.faults.arm(kind, number, error)
    try:
        lab.gateway.start()
        lab.gateway.kill()
    except AssertionError:
        assert lab.gateway.exit_code == 1, f"crashed or hung: {lab.gateway.exit_code}\n{lab.gateway.stderr}"
        assert lab.faults.failed == 1, lab.gateway.stderr
        assert len(lab.gateway.stderr) > output, "ended without a word"
    lab.faults.disarm()
