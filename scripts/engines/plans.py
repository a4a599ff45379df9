"""The plans of statements on a PostgreSQL with many objects: generic ones, and ones for the arguments."""

import re
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from .rows import SMALL
from .schema import COUNTERS
from .sources import one_line
from .texts import Report

#: The statements whose plans may be worse, each with the reason.
EXCEPTIONS = Path(__file__).with_name("plans.txt")
#: The largest number of rows of a sort that a page bounds: a page has at most 1,000 entries, and estimates are rounded.
_MOST_SORTED = 1100
_COMPARED = re.compile(r"\b(\w+)\s*(=|<>|<=|>=|<|>)\s*(?:CAST\()?\$(\d+)\b")
_IN = re.compile(r"\b(\w+) IN \(([$\d, ]+)\)")
_ROWS = re.compile(r"\(([\w., ]+)\)\s*(?:<=|>=|<|>|=)\s*\(([$\d, ]+)\)")
_LIMIT = re.compile(r"\bLIMIT \$(\d+)")
_PAGE = 100
#: The cost that PostgreSQL assumes for planning, for each table and once (plancache.c: 1000 * cpu_operator_cost).
_PLANNING_COST = 2.5
#: The tables of which all rows may be read. The rows of a counter are in its table of versions.
_READABLE = {*SMALL, *COUNTERS, *(f"{counter}_versions" for counter in COUNTERS if counter in SMALL)}


@dataclass(frozen=True)
class Allowed:
    """A statement that may have a worse plan: one whose text begins with the words."""

    words: str
    reason: str


def allowed() -> list[Allowed]:
    """Returns the exceptions of plans.txt."""
    found, reason = [], ""
    for line in EXCEPTIONS.read_text().splitlines():
        if line.startswith("== "):
            reason = line[3:]
        elif line and not line.startswith("#"):
            found.append(Allowed(line, reason))
    return found


class _Arguments:
    """Arguments for which a plan is made, from the rows: a parameter that a column is compared with has the value of a row in
    the middle, and as an upper bound one of the lowest, as for rows that have expired.
    """

    def __init__(self, connection: psycopg.Connection):
        self._connection = connection
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        )
        self._columns = set(rows.fetchall())
        self._known: dict[tuple[str, str, bool], object] = {}

    def of(self, text: str, types: list[str]) -> list[object]:
        values: dict[int, object] = {}
        for number, column, is_bound in self._compared(text):
            value = self._value(text, column, is_bound)
            if value is not None:
                values.setdefault(number, value)
        values |= {int(number): _PAGE for number in _LIMIT.findall(text)}
        other = {"bigint": 1, "text": "x", "bytea": b"x"}
        # A column of the name may be of another table and type.
        fits = {"bigint": int, "text": str, "bytea": bytes}
        found = [(values.get(number, other[kind]), kind) for number, kind in enumerate(types, 1)]
        return [value if isinstance(value, fits[kind]) else other[kind] for value, kind in found]

    @staticmethod
    def _compared(text: str):
        """Returns the parameters and the columns that they are compared with, and whether they are an upper bound."""
        for column, operator, number in _COMPARED.findall(text):
            yield int(number), column, operator in ("<", "<=")
        for column, numbers in _IN.findall(text):
            for number in re.findall(r"\d+", numbers):
                yield int(number), column, False
        for columns, numbers in _ROWS.findall(text):
            for column, number in zip(columns.split(","), re.findall(r"\d+", numbers), strict=False):
                yield int(number), column.strip().rpartition(".")[2], False

    def _value(self, text: str, column: str, is_bound: bool) -> object:
        tables = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)", text)
        table = next((table for table in tables if (table, column) in self._columns), None)
        if table is None:
            return None
        key = table, column, is_bound
        if key not in self._known:
            portion = 0.01 if is_bound else 0.5
            row = self._connection.execute(
                f"SELECT percentile_disc({portion}) WITHIN GROUP (ORDER BY {column}) FROM {table}"
            ).fetchone()
            self._known[key] = row[0]
        return self._known[key]


def _nodes(plan: dict, parent: dict | None = None):
    yield plan, parent
    for child in plan.get("Plans", []):
        yield from _nodes(child, plan)


def _reads_first_row(node: dict, parent: dict | None) -> bool:
    """Whether a scan ends after the first rows, because it has no condition."""
    is_limited = parent is not None and parent["Node Type"] == "Limit"
    return "Filter" not in node and (is_limited or node.get("Parent Relationship") == "InitPlan")


def _problems(plan: dict) -> set[str]:
    found = set()
    for node, parent in _nodes(plan):
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] not in _READABLE:
            if not _reads_first_row(node, parent):
                found.add(f"reads all rows of {node['Relation Name']}")
        elif node["Node Type"] == "Sort" and node["Plans"][0]["Plan Rows"] > _MOST_SORTED:
            tables = {inner["Relation Name"] for inner, _ in _nodes(node) if "Relation Name" in inner} - set(SMALL)
            if tables:
                found.add(f"sorts many rows of {', '.join(sorted(tables))}")
    return found


def judge(connection: psycopg.Connection, report: Report, is_full: bool) -> None:
    """Adds the texts of the report with a bad plan to its failures.

    is_full: whether plans are those that the planner prefers, with the rows of a large gateway. Otherwise they are those in
    which it reads or sorts a table only if no index can be used.
    """
    # A page that is read out of order costs hardly more than one in order, as on flash memory.
    connection.execute("SET random_page_cost = 1.1")
    if not is_full:
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_sort = off")
    arguments = _Arguments(connection)
    exceptions = allowed()
    used: set[Allowed] = set()
    for text, places in report.texts.items():
        if text in report.parts:
            report.counts["parts of statements, without plans"] += 1
            report.leave_out(places, "a part of statements, without a plan of its own", text)
            continue
        plans = dict(_plans(connection, arguments, text))
        report.counts["plans"] += len(plans)
        for mode, plan in plans.items():
            problems = _problems(plan)
            if problems and mode == "generic" and is_full and _prefers_custom(plans):
                report.counts["worse generic plans that PostgreSQL does not choose"] += 1
                continue
            exception = next((item for item in exceptions if one_line(text).startswith(item.words)), None)
            if problems and exception:
                used.add(exception)
            elif problems:
                report.fail(places, f"the {mode} plan {' and '.join(sorted(problems))}", text)
    report.counts["exceptions of plans"] = len(used)
    if is_full:
        report.failures += [
            f"plans.txt: no plan needs this exception: {item.words}" for item in exceptions if item not in used
        ]


def _prefers_custom(plans: dict[str, dict]) -> bool:
    """Whether PostgreSQL makes a plan for the arguments of each execution, because that costs less than the generic plan."""
    tables = sum("Relation Name" in node for node, _ in _nodes(plans["custom"]))
    return plans["custom"]["Total Cost"] + _PLANNING_COST * (tables + 1) < plans["generic"]["Total Cost"]


def _plans(connection: psycopg.Connection, arguments: _Arguments, text: str):
    """Returns the generic plan of a statement, and the one for arguments."""
    connection.execute(f"PREPARE judged AS {text}".encode())
    types = connection.execute("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'judged'")
    values = arguments.of(text, types.fetchone()[0])
    call = sql.SQL("EXPLAIN (FORMAT JSON) EXECUTE judged")
    if values:
        call += sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, values)))
    for mode in ("generic", "custom"):
        connection.execute(f"SET plan_cache_mode = force_{mode}_plan")
        yield mode, connection.execute(call).fetchone()[0][0]["Plan"]
    connection.execute("DEALLOCATE judged")
