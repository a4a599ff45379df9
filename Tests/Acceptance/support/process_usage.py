"""The memory and the descriptors of a process: now, and over time, sampled once a second."""

import os
import statistics
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path


def memory(pid: int, name: str = "VmRSS") -> int:
    """Returns the memory of a process in bytes; `VmHWM` is its peak, see `reset_peak`."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"a process without {name}")


def reset_peak(pid: int) -> None:
    """Lets the peak of a process begin with its present memory."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@dataclass
class Sample:
    #: The Unix time.
    at: float
    mebibytes: float
    descriptors: int


@dataclass
class Watch:
    """Samples `pid` from its beginning to its end."""

    pid: int
    samples: list[Sample] = field(default_factory=list)

    def __enter__(self) -> "Watch":
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self.samples.append(self._look())
            if self._ended.wait(1):
                return

    def _look(self) -> Sample:
        return Sample(time.time(), memory(self.pid) / (1 << 20), len(os.listdir(f"/proc/{self.pid}/fd")))

    def median(self, what: str, start: float, end: float) -> float:
        """Returns the median of the samples in a range of seconds after the first one."""
        first = self.samples[0].at
        return statistics.median(getattr(s, what) for s in self.samples if start <= s.at - first <= end)

    @property
    def seconds(self) -> float:
        return self.samples[-1].at - self.samples[0].at
