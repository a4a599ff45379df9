"""A process whose allocations, database statements and system calls are counted.

A preloaded library (`Tests/Counters`) counts the first two and copied bytes, strace the system calls.
"""

import re
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support import round_trips

#: The order of the fields in `struct counters`.
_HEAD = struct.Struct("=QQQ")
#: Space for the SQL of one call, many times over; unused space takes no blocks on the disk.
_TEXTS = 64 * 1024 * 1024
#: The system calls that are not counted: how often threads wait for each other depends on timing and is not work of
#: the process, and the allocator requests memory from the kernel now and then, whatever the call.
LEFT_OUT = (
    "futex", "sched_yield", "epoll_wait", "epoll_pwait", "poll", "ppoll", "select", "restart_syscall",
    "nanosleep", "clock_nanosleep", "brk", "mmap", "munmap", "mprotect", "madvise",
)  # fmt: skip
#: A line of strace that begins a call; if another thread's line interrupts it, the call has a second line. Calls on
#: standard error, where log lines are written together, and on event descriptors, which wake threads, are not
#: counted.
_SYSTEM_CALL = re.compile(rb"^\d+ +(\w+)\((?!2<|\d+<anon_inode:\[eventfd\]>)", re.MULTILINE)
#: A process that is still busy after this many seconds will not come to rest.
_REST_TIMEOUT = 30


def objection() -> str:
    """Returns the reason why strace cannot trace a process of this machine; empty if it can."""
    tried = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True, timeout=60)
    return tried.stderr.strip() if tried.returncode else ""


def rest(process: int, counted: Callable = lambda: None) -> None:
    """Waits until twice in succession every thread of the process is waiting, and `counted` is unchanged in between."""
    deadline, before = time.monotonic() + _REST_TIMEOUT, None
    while (now := (_is_resting(process), counted())) != before or not now[0]:
        assert time.monotonic() < deadline, f"process {process} does not rest"
        before = now


def _is_resting(process: int) -> bool:
    for thread in Path(f"/proc/{process}/task").iterdir():
        try:
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        # A process stopped by a debugger such as strace is in state t.
        if state != "S":
            return False
    return True


@dataclass(frozen=True)
class Counts:
    """The work of a process between two moments of rest."""

    allocations: int
    #: The SQL of each statement, in order.
    statements: tuple[str, ...]
    #: The number of round trips to a database on the network, see `round_trips.py`; 0 if values are not recorded.
    round_trips: int
    #: The number of calls by name.
    system_calls: Counter
    #: The bytes that memcpy and memmove copied, without copies of less than 4 KiB.
    copied_bytes: int


class Counters:
    """The counters of one process. Start it with `wrapper`, and set `process` to its id.

    Started with `environment` instead, it runs without strace, and only `allocations` are counted.

    directory: the folder for the counters' files; it is created.
    values: whether arguments and rows of statements are recorded, from which round trips are counted.
    """

    def __init__(self, library: Path, directory: Path, values: bool = False):
        assert library.exists(), f"{library} is not there; run `swift build` first"
        directory.mkdir()
        self.process = 0
        self._page, self._trace = directory / "counters", directory / "trace"
        with open(self._page, "wb") as file:
            file.truncate(_HEAD.size + _TEXTS)
        self._trace.touch()
        self._allocations_read = self._texts_read = self._copied_read = self._trace_read = 0
        self.environment = {
            "LD_PRELOAD": str(library),
            "COUNTERS_FILE": str(self._page),
            # Otherwise the order of sets, and with it how often they grow, would differ between processes.
            "SWIFT_DETERMINISTIC_HASHING": "1",
        }
        if values:
            self.environment["COUNTERS_VALUES"] = "1"

    @property
    def allocations(self) -> int:
        """The allocations of the process so far."""
        return self._head()[0]

    @property
    def wrapper(self) -> list[str]:
        """The command for running strace beside the process, which stays a child of this one and is stopped only at
        counted calls.
        """
        left_out = ",".join(LEFT_OUT)
        command = ["strace", "-D", "-f", "-qq", "-y", "--seccomp-bpf", "-e", "signal=none", "-e", f"trace=!{left_out}"]
        # Only the process gets the counting library.
        for name, value in self.environment.items():
            command += ["-E", f"{name}={value}"]
        return [*command, "-o", str(self._trace)]

    def count(self, call) -> tuple[Counts, object]:
        """Returns the work of the process between two moments of rest while `call` ran, and the result of `call`."""
        self._counts_since_last()
        result = call()
        return self._counts_since_last(), result

    def _counts_since_last(self) -> Counts:
        rest(self.process, lambda: (*self._head(), self._trace.stat().st_size))
        before = self._allocations_read, self._copied_read
        self._allocations_read, _, self._copied_read = self._head()
        records = self._new_records()
        return Counts(
            self._allocations_read - before[0],
            tuple(text for kind, text in records if kind == "S"),
            round_trips.count(records),
            self._new_system_calls(),
            self._copied_read - before[1],
        )

    def _head(self) -> tuple[int, int, int]:
        with open(self._page, "rb") as file:
            return _HEAD.unpack(file.read(_HEAD.size))

    def _new_records(self) -> list[tuple[str, str]]:
        """Returns the new records of `struct counters`, by kind."""
        _, end, _ = self._head()
        start, self._texts_read = self._texts_read, end
        assert end <= _TEXTS, "too many statements were counted for their texts"
        with open(self._page, "rb") as file:
            file.seek(_HEAD.size + start)
            texts = [text.decode(errors="replace") for text in file.read(end - start).split(b"\0")[:-1]]
            return [(text[0], text[1:]) for text in texts]

    def _new_system_calls(self) -> Counter:
        with open(self._trace, "rb") as file:
            file.seek(self._trace_read)
            lines = file.read()
        self._trace_read += len(lines)
        return Counter(name.decode() for name in _SYSTEM_CALL.findall(lines))
