"""The texts that must be valid on both engines: those in Sources, and those that gateways prepared during tests."""

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import pq

from . import order
from .sources import Statement, all_literals, engine_reason, one_line, statements

#: SQL of SQLite alone, which a text that is put together at run time could have without being prepared by a test.
_SQLITE_ONLY = re.compile(r"\b(INSERT OR|json_\w+|last_insert_rowid|rowid|changes\(\))(?![\w*])")
#: The types of parameters that the gateway binds: bigint, text and bytea.
_TYPES = {20: "bigint", 25: "text", 17: "bytea"}
_PARAMETER = re.compile(r"\$(\d+)")
RUN_TIME = "run time"
#: The characters of a text that is not judged that are printed.
_MOST_SHOWN = 100


@dataclass
class Report:
    """The result of a check: what failed, and what was not judged, with the reason."""

    failures: list[str] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    #: The number of texts by what was done with them.
    counts: Counter = field(default_factory=Counter)
    #: The valid texts, each with its places.
    texts: dict[str, list[str]] = field(default_factory=dict)
    #: The texts that are only parts of others, as far as is known.
    parts: set[str] = field(default_factory=set)

    def leave_out(self, places: list[str], reason: str, text: str) -> None:
        self.not_judged.append(f"{', '.join(places)}: {reason}: {one_line(text)[:_MOST_SHOWN]}")

    def fail(self, places: list[str], problem: object, text: str) -> None:
        self.failures.append(f"{', '.join(places)}: {one_line(str(problem))}\n    {one_line(text)}")


def seen_at_run_time(folder: Path | None) -> list[str]:
    """Returns the texts that sql/recorder.c of the acceptance tests wrote."""
    return [path.read_text() for path in sorted(folder.glob("*.sql"))] if folder else []


def _collect(folder: Path | None, is_of_all_tests: bool, report: Report) -> dict[str, list[str]]:
    """Returns the complete texts with their places, and judges incomplete ones."""
    recorded = seen_at_run_time(folder)
    texts: dict[str, list[str]] = {}
    incomplete: dict[str, list[Statement]] = {}
    for statement in statements():
        if statement.is_complete:
            texts.setdefault(statement.text, []).append(statement.place)
        else:
            incomplete.setdefault(statement.place, []).append(statement)
    report.counts["texts in Sources"] = len(texts)
    used = {statement.text for statement in statements() if not statement.is_constant}
    report.parts = set(texts) - used - set(recorded)
    report.counts["in Sources with parts of run time"] = len(incomplete)
    for place, forms in incomplete.items():
        if not any(form.pattern.fullmatch(text) for form in forms for text in recorded):
            judge = report.fail if is_of_all_tests else report.leave_out
            judge([place], "no test prepared this text", forms[0].text)
    for text in recorded:
        if text not in texts:
            report.counts["only at run time"] += 1
            texts[text] = [RUN_TIME]
    return texts


def _find_sqlite_only(report: Report) -> None:
    # Also in a part of a statement.
    for literal in all_literals():
        if literal.migration is None and re.search(r"\bGLOB\b", literal.text):
            report.fail([literal.place], "GLOB is of SQLite alone: compare with bounds", literal.text)
    for statement in statements():
        if not engine_reason(statement.text) and (found := _SQLITE_ONLY.search(statement.text)):
            report.fail([statement.place], f"{found[0]} is of SQLite alone", statement.text)


def judge(
    database: sqlite3.Connection, connection: psycopg.Connection, folder: Path | None, is_of_all_tests: bool
) -> Report:
    """Prepares every text on both engines, which have the schema.

    folder: the texts that gateways prepared during tests.
    is_of_all_tests: whether each text that is put together at run time must be among them.
    """
    report = Report()
    texts = _collect(folder, is_of_all_tests, report)
    _find_sqlite_only(report)
    for text, places in texts.items():
        if reason := engine_reason(text):
            report.counts["of SQLite itself"] += 1
            report.leave_out(places, reason, text)
            continue
        report.texts[text] = places
        if found := problem(database, connection, text):
            report.fail(places, found, text)
            del report.texts[text]
    report.counts["valid on both"] = len(report.texts)
    return report


def problem(database: sqlite3.Connection, connection: psycopg.Connection, text: str) -> str | None:
    """Returns the reason why a text is not valid on both engines; `None` if it is."""
    return _sqlite_problem(database, text) or _postgres_problem(connection, text) or _order_problem(text)


def _sqlite_problem(database: sqlite3.Connection, text: str) -> str | None:
    parameters = {int(number) for number in _PARAMETER.findall(text)}
    if parameters != set(range(1, len(parameters) + 1)):
        return f"the parameters are not $1 to ${len(parameters)}"
    try:
        database.execute(f"EXPLAIN {text}", [None] * len(parameters))
    except sqlite3.Error as error:
        return f"SQLite: {error}"
    return None


def _order_problem(text: str) -> str | None:
    terms = list(order.problems(one_line(text)))
    return f"ORDER BY {', '.join(terms)}: write NULLS FIRST or NULLS LAST" if terms else None


def _postgres_problem(connection: psycopg.Connection, text: str) -> str | None:
    prepared = connection.pgconn.prepare(b"", text.encode())
    if prepared.status != pq.ExecStatus.COMMAND_OK:
        return "PostgreSQL: " + prepared.error_message.decode().partition("\n")[0]
    described = connection.pgconn.describe_prepared(b"")
    for number in range(described.nparams):
        if described.param_type(number) not in _TYPES:
            name = connection.adapters.types[described.param_type(number)].name
            return f"PostgreSQL: ${number + 1} is of type {name}: use CAST(${number + 1} AS BIGINT)"
    return None
