"""A gateway with injected disk faults and power cuts (faults/faults.c, preloaded and controlled by the test).

Also a process whose clock is wrong or is set while it runs (faults/clock.c), a file that the disk cannot read
(faults/sector.c), and threads that end late (faults/threads.c).
"""

import errno
import functools
import mmap
import os
import random
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "faults"

#: The kinds of calls.
WRITE, SYNC, OPEN, READ, LIST, STAT, UNLINK, RENAME, MKDIR, LINK = (1 << bit for bit in range(10))
NAMES = {
    WRITE: "write",
    SYNC: "sync",
    OPEN: "open",
    READ: "read",
    LIST: "list",
    STAT: "stat",
    UNLINK: "unlink",
    RENAME: "rename",
    MKDIR: "mkdir",
    LINK: "link",
}
#: The failures of one call: its kind, and the kernel's error.
FAULTS = [
    (WRITE, errno.EIO),
    (WRITE, errno.ENOSPC),
    (SYNC, errno.EIO),
    (OPEN, errno.EIO),
    (OPEN, errno.ENOSPC),
    (READ, errno.EIO),
    (LIST, errno.EIO),
    (STAT, errno.EIO),
    (UNLINK, errno.EIO),
    (RENAME, errno.EIO),
    (RENAME, errno.ENOSPC),
]
#: The effect on the chosen call: it fails, or the process ends right before it.
FAIL, KILL = 0, 1

#: The order of the fields in `struct control`.
_FIELDS = ("kinds", "number", "lasting", "action", "error", "counted", "failed", "delay", "journal", "ordered")
_PATH = struct.calcsize(f"<{len(_FIELDS)}q")

_PAGE = 4096
_DIRTY = 1


def fault_name(fault: tuple[int, int]) -> str:
    """Returns the name of one of `FAULTS`, for a test's id."""
    kind, error = fault
    return f"{NAMES[kind]}-{errno.errorcode[error]}"


#: Libraries are built once for each process of tests.
_libraries = tempfile.TemporaryDirectory()


@functools.cache
def _build(name: str, *sources: str) -> Path:
    """Builds a library for preloading from files in `faults`."""
    library = Path(_libraries.name) / f"{name}.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    paths = [SOURCES / source for source in sources]
    subprocess.run(["cc", *flags, "-o", library, *paths, "-ldl", "-lpthread"], check=True)
    return library


def wrong_clock(seconds: int) -> dict[str, str]:
    """Returns the environment of a process whose clock is ahead by a number of seconds."""
    return {"LD_PRELOAD": str(_build("clock", "clock.c")), "CLOCK_AHEAD": str(seconds)}


class Clock:
    """The clock of a process with `environment`: offsets that are added to the wall clock, and to the time since boot."""

    def __init__(self, directory: Path):
        path = directory / "clock.control"
        path.write_bytes(bytes(16))
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115 - kept until close()
        self.environment = {"LD_PRELOAD": str(_build("clock", "clock.c")), "CLOCK_CONTROL": str(path)}

    def set(self, wall: int, boot: int = 0) -> None:
        """Sets both offsets in seconds."""
        self._file.seek(0)
        self._file.write(struct.pack("<2q", wall, boot))


def bad_sector(file: Path, offset: int, error: int) -> dict[str, str]:
    """Returns the environment of a process that cannot read the given byte of a file, even if the file is moved."""
    return {
        "LD_PRELOAD": str(_build("sector", "sector.c")),
        "SECTOR_INODE": str(file.stat().st_ino),
        "SECTOR_OFFSET": str(offset),
        "SECTOR_ERROR": str(error),
    }


def late_threads() -> dict[str, str]:
    """Returns the environment of a process whose threads end while it ends itself."""
    return {"LD_PRELOAD": str(_build("threads", "threads.c"))}


class Faults:
    """The faults below `root`. Pass `environment` to the process, then set the fields.

    `directory` is on the file system of `root`, but not below it: its journal contains hard links to the files.
    """

    def __init__(self, directory: Path, root: Path):
        library, page = _build("faults", "faults.c", "disk.c"), directory / "faults.control"
        page.write_bytes(bytes(_PAGE))
        with open(page, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), _PAGE)
        self.root = Path(os.path.realpath(root))
        self._disk = directory / "faults.disk"
        for kind in ("disk", "dirty", "modes", "names", "moves", "inodes"):
            (self._disk / kind).mkdir(parents=True)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAULTS_CONTROL": str(page),
            "FAULTS_ROOT": str(self.root),
            "FAULTS_JOURNAL": str(self._disk),
        }

    def __getattr__(self, name: str) -> int:
        return struct.unpack_from("<q", self._page, 8 * _FIELDS.index(name))[0]

    def __setattr__(self, name: str, value) -> None:
        if name in _FIELDS:
            struct.pack_into("<q", self._page, 8 * _FIELDS.index(name), value)
        else:
            super().__setattr__(name, value)

    def arm(
        self, kind: int, number: int, error: int, path: str = "", lasting: bool = False, action: int = FAIL
    ) -> None:
        """Makes the `number`th call of the kind fail from now on, and every later one if `lasting`; 0 only counts
        calls.

        path: only calls on paths that contain it are counted.
        """
        self.number = 0
        self._page[_PATH : _PATH + 1024] = path.encode().ljust(1024, b"\0")
        self.kinds, self.error, self.lasting, self.action = kind, error, int(lasting), action
        self.counted, self.failed = 0, 0
        self.number = number

    def disarm(self) -> None:
        self.arm(0, 0, 0)

    def is_synced(self, path: Path) -> bool:
        """Returns whether the disk has the complete contents of the file."""
        return not (self._disk / "dirty" / str(path.stat().st_ino)).exists()

    def cut_power(self, lots: random.Random | None = None) -> None:
        """Resets the files to their state on the disk; the processes must have ended.

        lots: selects dirty pages that the kernel had already written; without it there are none.
        """
        self._restore_folders()
        self._restore_names()
        if lots:
            for marks in sorted(self._kept("dirty")):
                self._write_back(marks.name, lots)
        for marks in self._kept("dirty"):
            self._restore_bytes(marks)
        for mode in self._kept("modes"):
            os.chmod(self._disk / "inodes" / mode.name, int(os.readlink(mode), 8))
            mode.unlink()
        # A file that has no name any more.
        for inode in self._kept("inodes"):
            if inode.stat().st_nlink == 1:
                inode.unlink()
                (self._disk / "disk" / inode.name).unlink(missing_ok=True)

    def _kept(self, kind: str) -> list[Path]:
        return list((self._disk / kind).iterdir())

    def _folders(self) -> dict[int, str]:
        """Returns the paths of the folders by inode."""
        return {os.stat(path).st_ino: path for path, _, _ in os.walk(self.root)}

    def _restore_folders(self) -> None:
        for move in self._kept("moves"):
            path = os.readlink(move).split(":", 2)[2]
            os.rename(self._folders()[int(move.name)], path)
            move.unlink()

    def _restore_names(self) -> None:
        folders = self._folders()
        for names in self._kept("names"):
            folder = folders.get(int(names.name))
            for kept in names.iterdir():
                # A new folder that was removed as a whole.
                if folder and os.path.isdir(folder):
                    self._restore_name(Path(folder) / kept.name, os.readlink(kept))
                kept.unlink()
            names.rmdir()

    def _restore_name(self, path: Path, inode: str) -> None:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if inode != "0":
            os.link(self._disk / "inodes" / inode, path)

    def _restore_bytes(self, marks: Path) -> None:
        pages = [page for page, mark in enumerate(marks.read_bytes()) if mark]
        marks.unlink()
        on_disk, path = self._disk / "disk" / marks.name, self._disk / "inodes" / marks.name
        with open(on_disk, "rb") as disk, open(path, "r+b") as file:
            for page in pages:
                file.seek(page * _PAGE)
                file.write(os.pread(disk.fileno(), _PAGE, page * _PAGE))
            file.truncate(os.fstat(disk.fileno()).st_size)

    def _write_back(self, inode: str, lots: random.Random) -> None:
        marks = self._disk / "dirty" / inode
        on_disk, path = self._disk / "disk" / inode, self._disk / "inodes" / inode
        pages = [page for page, mark in enumerate(marks.read_bytes()) if mark == _DIRTY]
        if not pages or lots.random() < 0.5:
            return
        with open(on_disk, "r+b") as disk, open(path, "rb") as file:
            # The file system itself sets the length, which may be on the disk before any of the bytes.
            disk.truncate(os.fstat(file.fileno()).st_size)
            for page in pages:
                if lots.random() < 0.5:
                    disk.seek(page * _PAGE)
                    disk.write(os.pread(file.fileno(), _PAGE, page * _PAGE))
