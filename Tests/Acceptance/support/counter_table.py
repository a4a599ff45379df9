"""The costs of the ten calls: measured, recorded in `counters.txt`, and compared with it."""

import statistics
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

from support import ten_calls
from support.counters import Counters, Counts
from support.gateway import Gateway

FILE = Path(__file__).resolve().parents[1] / "counters.txt"
COLUMNS = ("allocations", "statements", "round trips", "system calls")
#: The columns whose numbers are the same each time.
EXACT = ("statements", "round trips")
#: The tolerance for allocations and system calls; statements are the same each time. Identifiers and signatures are
#: random, and affect how many pages of the database a change touches, and how many characters of a URL are escaped.
TOLERANCE, LEAST_TOLERANCE = 0.01, 2

_HEADING = """\
# What one call costs the gateway: allocations, runs of SQL statements, the round trips that they would be to a database
# on the network, system calls. Medians of {counted} calls after {warm_up} others, in the debug build. Checked by
# `make test`, written by `scripts/counters --write`; docs/benchmarks.md says what is counted.
"""


@dataclass(frozen=True)
class Cost:
    """The cost of one call. The fields are in the order of `COLUMNS`."""

    allocations: int
    statements: int
    round_trips: int
    system_calls: int

    @classmethod
    def of(cls, calls: list[Counts]) -> "Cost":
        """Returns the cost of the median call."""
        return cls(
            statistics.median_low(call.allocations for call in calls),
            statistics.median_low(len(call.statements) for call in calls),
            statistics.median_low(call.round_trips for call in calls),
            statistics.median_low(call.system_calls.total() for call in calls),
        )


#: The costs by name of the call, in the order of the calls.
Table = dict[str, Cost]


def measure(binary: Path, stubs, **settings) -> dict[str, list[Counts]]:
    """Starts a gateway, makes the ten calls, and returns the costs of the counted ones; `settings` are further ones."""
    measured = {}
    with tempfile.TemporaryDirectory(prefix="data-gateway-counters-") as directory:
        counters = Counters(binary.with_name("libcounters.so"), Path(directory, "counters"), values=True)
        gateway = Gateway(binary, Path(directory), ten_calls.CONFIG | settings)
        gateway.wrapper = counters.wrapper
        gateway.start()
        counters.process = gateway.process.pid

        def run(name: str, calls: list) -> list:
            counted = [counters.count(call) for call in calls]
            measured[name] = [counts for counts, _ in counted[ten_calls.WARM_UP :]]
            return [result for _, result in counted]

        try:
            ten_calls.make(gateway, stubs, run)
        finally:
            gateway.close()
    return measured


def table(measured: dict[str, list[Counts]]) -> Table:
    return {name: Cost.of(calls) for name, calls in measured.items()}


def read() -> Table:
    """Reads the recorded table."""
    lines = [line.split() for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    return {name: Cost(*map(int, values)) for name, *values in lines}


def write(costs: Table) -> None:
    """Writes the table."""
    FILE.write_text(_HEADING.format(counted=ten_calls.COUNTED, warm_up=ten_calls.WARM_UP) + text(costs))


def text(costs: Table) -> str:
    """Returns the table as text, with a line for each call."""
    rows = [_row("# call", COLUMNS, 14), *(_row(name, astuple(cost), 14) for name, cost in costs.items())]
    return "".join(f"{row}\n" for row in rows)


def changes(before: Table, after: Table) -> str:
    """Returns the rows that differ by more than the tolerance, with old → new numbers; empty if all numbers agree."""
    rows = []
    for name in dict.fromkeys((*before, *after)):
        old, new = (astuple(costs[name]) if name in costs else None for costs in (before, after))
        if old is None or new is None:
            rows.append(f"{name}: " + ("not recorded" if old is None else "recorded, and not measured"))
        elif any(_differs(column, *pair) for column, pair in enumerate(zip(old, new, strict=True))):
            rows.append(_row(name, [_change(*pair) for pair in zip(old, new, strict=True)]))
    return "\n".join([_row("call", COLUMNS), *rows]) if rows else ""


def _differs(column: int, old: int, new: int) -> bool:
    tolerance = 0 if COLUMNS[column] in EXACT else max(LEAST_TOLERANCE, TOLERANCE * old)
    return abs(new - old) > tolerance


def _change(old: int, new: int) -> str:
    if old == new:
        return str(old)
    percent = f" ({(new - old) / old:+.1%})" if old else ""
    return f"{old} → {new}{percent}"


def _row(name: str, values, width: int = 22) -> str:
    return f"{name:<20}" + "".join(f"{value:>{width}}" for value in values)
