"""The command line of the counters; scripts/counters describes its use."""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "Acceptance"))

from support import counter_table, stubs  # noqa: E402
from support.counters import Counts  # noqa: E402

DEBUG = ROOT / ".build/debug/data-gateway"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/counters")
    parser.add_argument("--write", action="store_true", help="record the numbers")
    parser.add_argument("--explain", metavar="CALL", help="print the statements and the system calls of one such call")
    parser.add_argument("--binary", type=Path, default=DEBUG, help="another build, whose numbers are only printed")
    options = parser.parse_args()
    if options.write and options.binary != DEBUG:
        parser.error("what is recorded are the numbers of the debug build: leave out --binary")
    with tempfile.TemporaryDirectory() as directory:
        measured = counter_table.measure(options.binary, stubs.load(ROOT / "protos", Path(directory)))
    if options.explain:
        if options.explain not in measured:
            parser.error(f"no such call; there are {', '.join(measured)}")
        explain(measured[options.explain])
        return 0
    costs = counter_table.table(measured)
    if options.binary != DEBUG:
        print(counter_table.text(costs), end="")
        return 0
    changes = counter_table.changes(counter_table.read(), costs)
    print(changes or "as recorded")
    if options.write:
        counter_table.write(costs)
        return 0
    return 1 if changes else 0


def explain(calls: list[Counts]) -> None:
    """Prints the work of the median call."""
    cost = counter_table.Cost.of(calls)
    call = min(calls, key=lambda call: abs(call.system_calls.total() - cost.system_calls))
    print(f"{cost.allocations} allocations")
    print(f"{len(call.statements)} statements, {call.round_trips} round trips to a database on the network")
    for statement in call.statements:
        print("   ", " ".join(statement.split()))
    print(f"{call.system_calls.total()} system calls")
    for name, count in call.system_calls.most_common():
        print(f"{count:7} {name}")


sys.exit(main())
