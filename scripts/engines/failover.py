"""Rounds in which the primary fails under load, and its standby is promoted: nothing acknowledged is lost, and nothing old is read."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .network import Network
from .postgres import Server

#: The time after the promotion in which calls have to succeed again, and after which nobody uses the old server.
_SECONDS = 5
_WAIT = 60


@dataclass
class _Fault:
    """What happens to a primary."""

    #: The folder of the socket at which others reach it.
    way: Path
    begin: Callable[[], None]
    #: Called after the promotion of the standby.
    end: Callable[[], None]


@contextlib.contextmanager
def _killed(primary: Server) -> Iterator[_Fault]:
    yield _Fault(primary.directory, partial(primary.signal, signal.SIGKILL), lambda: None)


@contextlib.contextmanager
def _stopped(primary: Server) -> Iterator[_Fault]:
    stop, proceed = (partial(primary.signal, each) for each in (signal.SIGSTOP, signal.SIGCONT))
    yield _Fault(primary.directory, stop, proceed)


@contextlib.contextmanager
def _cut_off(primary: Server) -> Iterator[_Fault]:
    with Network(primary) as network:
        yield _Fault(network.folder, network.cut, network.heal)


_FAULTS = {"killed": _killed, "stopped": _stopped, "cut off": _cut_off}


def run(command: list[str], rounds: int) -> int:
    """Runs the command, a test program that logs what its callers were answered, in each round, and returns the number of failures."""
    failures = 0
    for number in range(rounds):
        for name, fault in _FAULTS.items():
            print(f"round {number + 1}, primary {name}: ", end="", flush=True)
            found = _round(command, fault)
            failures += len(found)
            for line in found:
                print(f"round {number + 1}, primary {name}: {line}", flush=True)
    return failures


def _round(command: list[str], of_fault: Callable) -> list[str]:
    with (
        Server() as primary,
        of_fault(primary) as fault,
        primary.standby(fault.way) as standby,
        tempfile.TemporaryDirectory() as folder,
    ):
        url = f"host={fault.way},{standby.directory} user=gateway dbname=postgres"
        environment = {"DATABASE_ENGINE": "postgres", "DATABASE_URL": url, "LAB_FAILOVER": folder}
        log = Path(folder, "log")
        with subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL) as program:
            try:
                _wait(lambda: log.exists() and log.read_text().count(" written ") > 200)
                fault.begin()
                with closing(standby.connect("postgres")) as connection:
                    connection.execute("SELECT pg_promote()")
                promoted = time.time()
                time.sleep(1)
                fault.end()
                time.sleep(2 * _SECONDS)
                Path(folder, "stop").touch()
                program.wait(_WAIT)
            finally:
                program.kill()
        with closing(standby.connect("postgres")) as connection:
            stored = {body for (body,) in connection.execute("SELECT body FROM failover.bodies")}
        return _problems([line.split(" ", 2) for line in log.read_text().splitlines()], stored, promoted)


def _problems(lines: list[list[str]], stored: set[str], promoted: float) -> list[str]:
    found = []
    written = {body: int(at) / 1e6 - promoted for at, kind, body in lines if kind == "written"}
    if lost := written.keys() - stored:
        found.append(f"{len(lost)} acknowledged writes are lost, such as {min(lost)}")
    later = [at for at in written.values() if at > 0]
    reads = [(int(at) / 1e6 - promoted, timeline) for at, kind, timeline in lines if kind == "read"]
    old = [at for at, timeline in reads if timeline == "1" and at > _SECONDS]
    new = [at for at, timeline in reads if timeline == "2"]
    if old:
        found.append(f"{len(old)} reads used the old server, the last after {max(old):.1f} s")
    for name, times in (("write", later), ("read", new)):
        if not times or min(times) > _SECONDS:
            found.append(f"the first {name} succeeded after {min(times, default=float('inf')):.1f} s")
    refused = sum(kind in ("refused", "unread") for _, kind, _ in lines)
    print(
        f"{len(written)} writes, {len(reads)} reads, {refused} refused; the first write after {min(later, default=-1):.1f} s, "
        f"the first read after {min(new, default=-1):.1f} s, the last old read after {max((a for a, t in reads if t == '1'), default=-1):.1f} s"
    )
    return found


def _wait(condition) -> None:
    deadline = time.monotonic() + _WAIT
    while not condition():
        assert time.monotonic() < deadline, "the callers do not begin"
        time.sleep(0.05)
