"""A gateway whose disk can be made to fail, and whose power can be cut: faults/faults.c, preloaded and steered.

A client whose clock is wrong: faults/clock.c. A file that the disk cannot read: faults/sector.c.
"""

import errno
import mmap
import os
import struct
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "faults"

WRITE, SYNC, OPEN = 1, 2, 4
#: Each way in which one call fails: its kind, and what the kernel says.
FAULTS = [
    (WRITE, errno.EIO),
    (WRITE, errno.ENOSPC),
    (SYNC, errno.EIO),
    (OPEN, errno.EIO),
    (OPEN, errno.ENOSPC),
]

#: The order of `struct control`.
_FIELDS = ("kinds", "countdown", "error", "counted", "failed", "delay", "cut", "journal")


def _build(directory: Path, name: str) -> Path:
    """The library of `faults/NAME.c`, to be preloaded."""
    library = directory / f"{name}.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", library, SOURCES / f"{name}.c", "-ldl", "-lpthread"], check=True)
    return library


def wrong_clock(directory: Path, seconds: int) -> dict[str, str]:
    """The environment of a process whose clock is ahead by so many seconds."""
    return {"LD_PRELOAD": str(_build(directory, "clock")), "CLOCK_AHEAD": str(seconds)}


def bad_sector(directory: Path, file: Path, offset: int, error: int) -> dict[str, str]:
    """The environment of a process that cannot read that byte of a file, wherever the file is moved to."""
    return {
        "LD_PRELOAD": str(_build(directory, "sector")),
        "SECTOR_INODE": str(file.stat().st_ino),
        "SECTOR_OFFSET": str(offset),
        "SECTOR_ERROR": str(error),
    }


class Faults:
    """What happens below `root`; hand `environment` to the process, then set the fields."""

    def __init__(self, directory: Path, root: Path):
        library, page = _build(directory, "faults"), directory / "faults.control"
        page.write_bytes(bytes(4096))
        with open(page, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), 4096)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAULTS_CONTROL": str(page),
            "FAULTS_ROOT": os.path.realpath(root),
        }

    def __getattr__(self, name: str) -> int:
        return struct.unpack_from("<q", self._page, 8 * _FIELDS.index(name))[0]

    def __setattr__(self, name: str, value) -> None:
        if name in _FIELDS:
            struct.pack_into("<q", self._page, 8 * _FIELDS.index(name), value)
        else:
            super().__setattr__(name, value)

    def arm(self, kind: int, number: int, error: int) -> None:
        """The `number`th call of the kind fails from now on; 0 only counts them."""
        self.countdown = 0
        self.kinds, self.error, self.counted, self.failed = kind, error, 0, 0
        self.countdown = number

    def disarm(self) -> None:
        self.arm(0, 0, 0)
