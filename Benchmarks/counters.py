"""The costs of ten calls on the optimized gateway: allocations, SQL statements, system calls and instructions; and
the instructions of one call by REST compared with Connect.
"""

import re
import subprocess
import sys
import tempfile
from dataclasses import astuple
from pathlib import Path

from measuring import ROOT, figure
from support import counter_table, ten_calls
from support import stubs as stubs_module
from support.counters import rest
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import User
from support.web_calls import WebCalls


class Callgrind:
    """A gateway under callgrind, which counts instructions only on request."""

    def __init__(self, binary: Path, directory: Path):
        preloaded = directory / "sigsuspend.so"
        source = ROOT / "Benchmarks" / "sigsuspend.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", preloaded, source], check=True)
        self._output = directory / "callgrind.out"
        # Valgrind ends at forms of debug information that it does not know.
        stripped = directory / binary.name
        subprocess.run(["objcopy", "--strip-debug", binary, stripped], check=True)
        self.gateway = Gateway(stripped, directory, ten_calls.CONFIG)
        self.gateway.wrapper = [
            *("valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self._output}")
        ]
        self.gateway.environment = {"LD_PRELOAD": str(preloaded), "SWIFT_DETERMINISTIC_HASHING": "1"}
        self._dumps = 0

    def __enter__(self) -> "Callgrind":
        self.gateway.start()
        return self

    def __exit__(self, *_) -> None:
        self.gateway.close()

    def run(self, name: str, calls: list) -> list:
        """Makes the calls of a kind, and prints the instructions of the counted ones."""
        results = [call() for call in calls[: ten_calls.WARM_UP]]
        self._ask("instrumentation", "on")
        results += [call() for call in calls[ten_calls.WARM_UP :]]
        self._ask("instrumentation", "off")
        figure(f"counters.{name}.instructions", [self._dump() / ten_calls.COUNTED], "instructions")
        return results

    def _dump(self) -> int:
        """Returns the instructions since the last dump, on all threads."""
        self._ask("dump")
        self._dumps += 1
        dump = self._output.with_name(f"{self._output.name}.{self._dumps}").read_text()
        return int(re.search(r"^totals: (\d+)", dump, re.MULTILINE)[1])

    def _ask(self, *command: str) -> None:
        process = self.gateway.process.pid
        rest(process)
        subprocess.run(["vgdb", f"--pid={process}", *command], check=True, capture_output=True)


def main(binary: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as directory:
        (generated := Path(directory, "stubs")).mkdir()
        stubs = stubs_module.load(ROOT / "protos", generated)
        for name, cost in counter_table.table(counter_table.measure(binary, stubs)).items():
            for kind, value in zip(counter_table.COLUMNS, astuple(cost), strict=True):
                figure(f"counters.{name}.{kind.replace(' ', '_')}", [value], kind)
        with Callgrind(binary, Path(directory)) as callgrind:
            ten_calls.make(callgrind.gateway, stubs, callgrind.run)
            user = User.login(callgrind.gateway, stubs, "system", "admin", ADMIN_PASSWORD)
            for name, call in WebCalls(callgrind.gateway, user).kinds().items():
                callgrind.run(f"GetObject_by_{name}", [call] * ten_calls.CALLS)


main(Path(sys.argv[1]))
