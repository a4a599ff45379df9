"""Rounds in which the primary fails under load, and its standby is promoted: nothing acknowledged is lost, and nothing old is read."""

import os
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

from .postgres import Server

#: The time after the promotion in which calls have to succeed again, and after which nobody uses the old server.
_SECONDS = 5
_WAIT = 60


def run(command: list[str], rounds: int) -> int:
    """Runs the command, a test program that logs what its callers were answered, in each round, and returns the number of failures."""
    failures = 0
    for number in range(rounds):
        for is_killed in (True, False):
            found = _round(command, is_killed)
            failures += len(found)
            for line in found:
                print(f"round {number + 1}, primary {'killed' if is_killed else 'stopped'}: {line}")
    return failures


def _round(command: list[str], is_killed: bool) -> list[str]:
    with Server() as primary, primary.standby() as standby, tempfile.TemporaryDirectory() as folder:
        url = f"host={primary.directory},{standby.directory} user=gateway dbname=postgres"
        environment = {"DATABASE_ENGINE": "postgres", "DATABASE_URL": url, "LAB_FAILOVER": folder}
        log = Path(folder, "log")
        with subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL) as program:
            try:
                _wait(lambda: log.exists() and log.read_text().count(" written ") > 200)
                primary.signal(signal.SIGKILL if is_killed else signal.SIGSTOP)
                with closing(standby.connect("postgres")) as connection:
                    connection.execute("SELECT pg_promote()")
                promoted = time.time()
                time.sleep(1)
                if not is_killed:
                    primary.signal(signal.SIGCONT)
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
