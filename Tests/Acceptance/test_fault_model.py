"""The model of a disk in faults/disk.c: the state after a power cut, by the rules of docs/laboratory.md."""

import errno
import os
import random
import signal
import sys

import pytest
from support import process
from support.faults import KILL, LINK, LIST, OPEN, READ, RENAME, STAT, SYNC, UNLINK, WRITE, Faults

PAGE = 4096
#: Definitions for the steps of a test.
PROLOGUE = """
import errno, os
def put(name, data, offset=0, flags=os.O_RDWR | os.O_CREAT):
    descriptor = os.open(name, flags, 0o600)
    os.pwrite(descriptor, data, offset)
    return descriptor
def sync_folder(name="."):
    descriptor = os.open(os.path.abspath(name), os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
def fails(code, call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        assert error.errno == code, error
        return
    raise AssertionError("it did not fail")
def at(name):
    return os.path.join(os.getcwd(), name)
"""


class Disk:
    """A folder, processes that work in it one after the other, and a power cut."""

    def __init__(self, directory):
        self.root = directory / "root"
        self.root.mkdir()
        self.faults = Faults(directory, self.root)
        self.faults.journal = 1

    def run(self, steps: str, code: int = 0) -> None:
        process.run(
            sys.executable, "-c", PROLOGUE + steps, cwd=self.root, env=os.environ | self.faults.environment, code=code
        )

    def cut(self, lots=None) -> dict[str, bytes]:
        """Cuts the power, and returns the remaining files."""
        self.faults.cut_power(lots)
        return self.files()

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}


@pytest.fixture
def disk(tmp_path) -> Disk:
    return Disk(tmp_path)


def test_bytes_are_durable_once_their_file_was_synced(disk):
    disk.run("os.fsync(put(at('a'), b'1' * 9000)); sync_folder(); put(at('a'), b'2' * 100, 4090)")
    assert disk.files()["a"][4090:4190] == b"2" * 100
    assert disk.cut() == {"a": b"1" * 9000}


def test_lengths_are_durable_once_their_file_was_synced(disk):
    disk.run("file = put(at('a'), b'1' * 9000); os.fsync(file); sync_folder(); os.ftruncate(file, 10)")
    assert disk.cut() == {"a": b"1" * 9000}
    disk.run("file = put(at('a'), b'2'); os.ftruncate(file, 10); os.fdatasync(file); os.ftruncate(file, 20000)")
    assert disk.cut() == {"a": b"2" + b"1" * 9}
    disk.run("put(at('a'), b'3', flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC)")
    assert disk.files() == {"a": b"3"}
    assert disk.cut() == {"a": b"2" + b"1" * 9}


def test_a_name_needs_a_sync_of_its_folder_and_bytes_one_of_their_file(disk):
    disk.run("os.fsync(put(at('without-name'), b'1'))")
    assert disk.cut() == {}
    disk.run("put(at('without-bytes'), b'1'); sync_folder()")
    assert disk.cut() == {"without-bytes": b""}


def test_with_ordered_names_the_sync_of_a_file_is_one_of_its_own_name(disk):
    disk.faults.ordered = 1
    disk.run("os.fsync(put(at('a'), b'1')); put(at('b'), b'2')")
    assert disk.cut() == {"a": b"1"}


def test_a_removed_file_comes_back(disk):
    disk.run("os.fsync(put(at('a'), b'1' * 5000)); sync_folder(); os.unlink(at('a'))")
    assert disk.files() == {}
    assert disk.cut() == {"a": b"1" * 5000}
    disk.run("os.unlink(at('a')); sync_folder()")
    assert disk.cut() == {}


def test_a_rename_is_undone_at_both_names(disk):
    disk.run(
        "os.fsync(put(at('a'), b'old')); os.fsync(put(at('b'), b'new')); sync_folder(); os.rename(at('b'), at('a'))"
    )
    assert disk.files() == {"a": b"new"}
    assert disk.cut() == {"a": b"old", "b": b"new"}
    disk.run("os.rename(at('b'), at('a')); sync_folder()")
    assert disk.cut() == {"a": b"new"}


def test_a_link_is_durable_once_its_folder_was_synced(disk):
    disk.run(
        """
os.mkdir(at('f')); os.fsync(put(at('a'), b'1')); sync_folder(); os.link(at('a'), at('f/b'))
assert os.stat(at('a')).st_nlink == 2
"""
    )
    assert disk.files() == {"a": b"1", "f/b": b"1"}
    assert disk.cut() == {"a": b"1"}
    disk.run("os.link(at('a'), at('f/b')); sync_folder('f'); os.unlink(at('a'))")
    assert disk.cut() == {"a": b"1", "f/b": b"1"}
    disk.run("os.unlink(at('a')); sync_folder(); assert os.stat(at('f/b')).st_nlink == 1")
    assert disk.cut() == {"f/b": b"1"}


def test_name_that_changed_twice_returns_to_the_first_after_a_power_loss(disk):
    disk.run("os.fsync(put(at('a'), b'1')); sync_folder(); os.unlink(at('a')); os.fsync(put(at('a'), b'2'))")
    assert disk.cut() == {"a": b"1"}


def test_a_folder_is_lost_with_all_in_it(disk):
    disk.run("os.mkdir(at('f')); os.fsync(put(at('f/a'), b'1')); sync_folder('f')")
    assert disk.cut() == {}
    assert not (disk.root / "f").exists()
    disk.run("os.mkdir(at('f')); sync_folder(); os.fsync(put(at('f/a'), b'1')); sync_folder('f')")
    assert disk.cut() == {"f/a": b"1"}


@pytest.mark.parametrize("synced", ["g", "."])
def test_a_renamed_folder_is_at_one_place_with_all_in_it(disk, synced):
    disk.run("os.mkdir(at('f')); os.mkdir(at('g')); sync_folder(); os.fsync(put(at('f/a'), b'1')); sync_folder('f')")
    disk.run("os.rename(at('f'), at('g/f'))")
    assert disk.files() == {"g/f/a": b"1"}
    assert disk.cut() == {"f/a": b"1"}
    disk.run(f"os.rename(at('f'), at('g/f')); sync_folder({synced!r})")
    assert disk.cut() == {"g/f/a": b"1"}


def test_a_mode_is_durable_after_a_sync_of_all_of_the_file(disk):
    disk.run("file = put(at('a'), b'1'); os.fsync(file); sync_folder(); os.fchmod(file, 0o400); os.fdatasync(file)")
    disk.cut()
    assert (disk.root / "a").stat().st_mode & 0o777 == 0o600
    disk.run("os.chmod(at('a'), 0o400); os.fsync(os.open(at('a'), os.O_RDONLY))")
    disk.cut()
    assert (disk.root / "a").stat().st_mode & 0o777 == 0o400


def test_a_sync_of_the_file_system_makes_everything_durable(disk):
    disk.run("os.fsync(put(at('a'), b'1')); sync_folder(); os.mkdir(at('folder')); put(at('folder/gone'), b'2')")
    steps = "put(at('a'), b'3'); os.chmod(at('a'), 0o400); os.unlink(at('folder/gone')); put(at('folder/b'), b'4')"
    sync = "import ctypes; code = ctypes.CDLL(None, use_errno=True).syncfs(os.open(at('folder'), os.O_RDONLY))"
    disk.faults.arm(SYNC, 1, errno.EIO)
    disk.run(f"{steps}; {sync}; assert code == -1 and ctypes.get_errno() == errno.EIO, code")
    disk.faults.disarm()
    disk.run(f"{sync}; assert code == 0; os.unlink(at('a'))")
    assert disk.cut() == {"a": b"3", "folder/b": b"4"}
    assert (disk.root / "a").stat().st_mode & 0o777 == 0o400


def test_bytes_of_a_failed_sync_are_visible_and_never_durable(disk):
    disk.run("os.fsync(put(at('a'), b'1' * 2 * 4096)); sync_folder()")
    disk.faults.arm(SYNC, 1, errno.EIO)
    disk.run("file = put(at('a'), b'2' * 2 * 4096); fails(errno.EIO, os.fdatasync, file); os.fdatasync(file)")
    # Another process sees data that the disk does not have, and its sync has no effect.
    disk.run("file = os.open(at('a'), os.O_RDWR); assert os.read(file, 9) == b'2' * 9; os.fsync(file)")
    assert disk.files() == {"a": b"2" * 2 * PAGE}
    assert disk.cut() == {"a": b"1" * 2 * PAGE}


def test_rewritten_pages_of_a_failed_sync_are_durable(disk):
    disk.run("os.fsync(put(at('a'), b'1' * 3 * 4096)); sync_folder()")
    disk.faults.arm(SYNC, 1, errno.EIO)
    disk.run("fails(errno.EIO, os.fdatasync, put(at('a'), b'2' * 3 * 4096))")
    # By pages: the byte is written, and its page with it.
    disk.run("os.fdatasync(put(at('a'), b'3', 4096))")
    assert disk.cut() == {"a": b"1" * PAGE + b"3" + b"2" * (PAGE - 1) + b"1" * PAGE}


def test_names_whose_sync_failed_are_durable_after_the_next_one(disk):
    disk.faults.arm(SYNC, 2, errno.EIO)
    disk.run("os.fsync(put(at('a'), b'1')); fails(errno.EIO, sync_folder); sync_folder()")
    assert disk.cut() == {"a": b"1"}


def test_bytes_of_one_process_are_synced_by_another(disk):
    disk.run("put(at('a'), b'1')")
    disk.run("os.fsync(os.open(at('a'), os.O_RDWR)); sync_folder()")
    assert disk.cut() == {"a": b"1"}


def test_pages_may_have_been_written_before_the_power_loss(disk):
    seen, lots = set(), random.Random(1)
    for _ in range(12):
        disk.run("os.fsync(put(at('a'), b'1' * 2 * 4096)); sync_folder(); put(at('a'), b'2' * 2 * 4096)")
        data = disk.cut(lots)["a"]
        seen.add((data[0:1], data[PAGE : PAGE + 1]))
        assert len(data) == 2 * PAGE and data == data[0:1] * PAGE + data[PAGE : PAGE + 1] * PAGE
    assert seen == {(b"1", b"1"), (b"1", b"2"), (b"2", b"1"), (b"2", b"2")}


@pytest.mark.parametrize(
    "kind, call",
    [
        (WRITE, "os.write, os.open(at('a'), os.O_RDWR), b'2'"),
        (SYNC, "os.fsync, os.open(at('a'), os.O_RDWR)"),
        (OPEN, "os.open, at('a'), os.O_RDONLY"),
        (READ, "os.read, os.open(at('a'), os.O_RDONLY), 1"),
        (READ, "os.pread, os.open(at('a'), os.O_RDONLY), 1, 0"),
        (LIST, "os.listdir, os.getcwd()"),
        (STAT, "os.stat, at('a')"),
        (STAT, "os.fstat, os.open(at('a'), os.O_RDONLY)"),
        (UNLINK, "os.unlink, at('a')"),
        (RENAME, "os.rename, at('a'), at('b')"),
        (LINK, "os.link, at('a'), at('b')"),
    ],
)
def test_each_kind_fails_once_or_from_then_on(disk, kind, call):
    disk.run("os.fsync(put(at('a'), b'1')); sync_folder()")
    disk.faults.arm(kind, 1, errno.EIO)
    disk.run(f"fails(errno.EIO, {call})")
    assert (disk.faults.counted, disk.faults.failed) == (1, 1)
    disk.faults.arm(kind, 1, errno.EIO, lasting=True)
    disk.run(f"fails(errno.EIO, {call}); fails(errno.EIO, {call})")
    assert disk.faults.failed == 2
    disk.faults.arm(kind, 1, errno.EIO, path="another")
    disk.run(f"(lambda call, *arguments: call(*arguments))({call})")
    assert disk.faults.counted == 0


def test_a_listing_fails_in_its_middle(disk):
    disk.run("[os.close(put(at(str(number)), b'1')) for number in range(5)]")
    disk.faults.arm(LIST, 4, errno.EIO)
    disk.run("fails(errno.EIO, os.listdir, os.getcwd())")
    assert disk.faults.failed == 1


def test_the_process_ends_before_a_chosen_call(disk):
    disk.faults.arm(SYNC, 2, 0, action=KILL)
    disk.run("os.fsync(put(at('a'), b'1')); sync_folder()", -signal.SIGKILL)
    assert disk.cut() == {}
