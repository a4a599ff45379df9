"""The shared parts of the benchmarks: a gateway on a core of its own, the usage of a process, and lines of JSON."""

import contextlib
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests" / "Acceptance"), str(ROOT / "scripts")]

from support.gateway import Gateway  # noqa: E402
from support.process_usage import memory  # noqa: E402

SERVER_CORE, CLIENT_CORE = 0, 1
_TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def on_cores(cores: set[int]):
    """Runs this process, and those that it starts meanwhile, on these cores; afterwards it returns to its own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def gateway(
    binary: str,
    config: dict | None = None,
    cores: set[int] = frozenset({SERVER_CORE}),
    environment: dict | None = None,
    folder: str | None = None,
):
    """Starts a gateway with an empty data directory on the server's core; `folder` is where the directory is made."""
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-", dir=folder) as directory:
        running = Gateway(Path(binary), Path(directory), config)
        running.environment = environment or {}
        with on_cores(cores):
            running.start()
        try:
            yield running
        finally:
            running.close()


def cpu_seconds(pid: int) -> float:
    """Returns the user and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_mebibytes(pid: int) -> float:
    return memory(pid) / (1 << 20)


def figure(name: str, values: list[float], unit: str, peer: str | None = None, peer_values: list[float] = ()) -> None:
    """Prints one line: the median of the values, and the median of their ratios to the peer's values of the same rounds, with
    the lowest and the highest of them."""
    value = statistics.median(values)
    ratios = [value / other for value, other in zip(values, peer_values, strict=True)] if peer_values else []
    ratio = round(statistics.median(ratios), 3) if ratios else None
    line = {"figure": name, "value": round(value, 3), "unit": unit, "peer": peer, "ratio": ratio}
    if ratios:
        line["ratios"] = [round(min(ratios), 3), round(max(ratios), 3)]
    print(json.dumps(line), flush=True)
