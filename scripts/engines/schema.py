"""The schema of all migrations: on SQLite, and translated for PostgreSQL.

A PostgreSQL database begins with the translated schema; there is nothing to convert in it.
"""

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache

from .sources import Migration, migrations

#: The functions that statements use and PostgreSQL does not have: `instr` of SQLite, and `coalesce` of a text and a number.
FUNCTIONS = (
    "CREATE FUNCTION instr(text, text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos($1, $2)",
    'CREATE FUNCTION "coalesce"(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE '
    "RETURN COALESCE($1, CAST($2 AS text))",
)
#: The tables of counters, whose rows PostgreSQL keeps in tables with the versions of rows (CounterVersions.swift).
COUNTERS = ("audit_usage", "object_days", "object_facets", "object_times", "store_owner_usage", "upload_usage")
#: The columns whose first values differ in type, in the expressions of indexes.
_MIXED = re.compile(r"\bcoalesce\((device_id, site_id)\)")
#: The modules whose tables others refer to, in the order in which they are created.
_FIRST = ("accounts", "devices", "store", "catalog", "uploads")
_TRIGGER = re.compile(
    r"CREATE TRIGGER (\w+)\s+(BEFORE|AFTER)\s+(INSERT|DELETE|UPDATE(?: OF [\w, ]+)?)\s+ON (\w+)\s*(?:WHEN\s+(.*?))?"
    r"\s*BEGIN\s(.*?)\s*END;?",
    re.DOTALL,
)
_KINDS = ("table", "index", "view", "trigger")


def connect(path: str = ":memory:") -> sqlite3.Connection:
    """Opens a SQLite database with the functions that the gateway defines."""
    database = sqlite3.connect(path, isolation_level=None)
    database.create_function("octet_length", 1, _octet_length, deterministic=True)
    return database


def _octet_length(value) -> int | None:
    if value is None:
        return None
    return len(value if isinstance(value, bytes) else str(value).encode())


def _order(migration: Migration) -> tuple[int, int]:
    module, _, number = migration.name.rpartition("-")
    position = _FIRST.index(module) if module in _FIRST else len(_FIRST)
    return position, int(number) if number.isdigit() else 0


def apply(database: sqlite3.Connection) -> list[str]:
    """Applies all migrations, and returns their names in the order in which that was possible.

    The program's order is that of its modules; here a migration whose tables do not exist yet is applied later.
    """
    database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT")
    applied: list[str] = []
    remaining = sorted({migration.name: migration for migration in migrations()}.values(), key=_order)
    while remaining:
        failed = []
        for migration in remaining:
            try:
                database.executescript(f"BEGIN;\n{migration.sql}\n;COMMIT;")
                applied.append(migration.name)
            except sqlite3.Error as error:
                database.rollback()
                failed.append((migration, error))
        if len(failed) == len(remaining):
            raise ValueError("\n".join(f"{migration.place}: {error}" for migration, error in failed))
        remaining = [migration for migration, _ in failed]
    return applied


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    is_nullable: bool


@dataclass(frozen=True)
class Object:
    """A table, an index, a view or a trigger."""

    kind: str
    name: str
    table: str
    sql: str


def objects(database: sqlite3.Connection) -> list[Object]:
    """Returns the objects of a database, tables first."""
    rows = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    found = [Object(*row) for row in rows if not row[1].startswith("sqlite_")]
    return sorted(found, key=lambda object: _KINDS.index(object.kind))


def columns(database: sqlite3.Connection) -> dict[str, dict[str, Column]]:
    """Returns the columns of the tables and views."""
    tables = [object.name for object in objects(database) if object.kind in ("table", "view")]
    return {
        table: {
            name: Column(name, kind, not (is_not_null or key))
            for _, name, kind, is_not_null, _, key in database.execute(f"PRAGMA table_info({table})")
        }
        for table in tables
    }


@cache
def all_columns() -> dict[str, dict[str, Column]]:
    """Returns the columns of the schema of all migrations."""
    with closing(connect()) as database:
        apply(database)
        return columns(database)


def for_postgres(found: list[Object]) -> list[Object]:
    """Translates objects; a table comes after those that it refers to."""
    tables = {object.name: object for object in found if object.kind == "table"}
    ordered: dict[str, Object] = {}

    def add(name: str) -> None:
        for other in re.findall(r"REFERENCES (\w+)", tables[name].sql):
            if other != name and other not in ordered:
                add(other)
        ordered.setdefault(name, tables[name])

    for name in tables:
        add(name)
    rest = [object for object in found if object.kind != "table"]
    return [
        Object(object.kind, object.name, object.table, _translated(object)) for object in [*ordered.values(), *rest]
    ]


def of_postgres() -> list[str]:
    """Returns the statements of PostgreSQL alone, which come after the tables of SQLite."""
    return [migration.postgres for migration in migrations() if migration.postgres is not None]


def _translated(object: Object) -> str:
    match object.kind:
        case "table":
            return _table(object.sql)
        case "index":
            return _MIXED.sub(r'"coalesce"(\1)', object.sql)
        case "trigger":
            return _trigger(object.sql)
        case _:
            return object.sql


def _table(sql: str) -> str:
    sql = sql.replace("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
    sql = re.sub(r"\bINTEGER\b", "BIGINT", sql)
    sql = re.sub(r"\bBLOB\b", "BYTEA", sql)
    sql = re.sub(r"\bx'([0-9a-f]*)'", r"'\\x\1'", sql, flags=re.IGNORECASE)
    sql = re.sub(r"\)\s*(STRICT(, WITHOUT ROWID)?|WITHOUT ROWID(, STRICT)?)\s*$", ")", sql.strip())
    return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)


def _trigger(sql: str) -> str:
    match = _TRIGGER.fullmatch(sql.strip())
    assert match, f"the form of this trigger is unknown: {sql}"
    name, timing, event, table, condition, body = match.groups()
    body = re.sub(
        r"SELECT RAISE\(ABORT, ('[^']*')\);",
        r"RAISE EXCEPTION USING MESSAGE = \1, ERRCODE = 'integrity_constraint_violation';",
        body,
    )
    body, guard, when = _qualified(body), "", ""
    if condition:
        condition = re.sub(r"(\S+) GLOB 'direct-\*'", r"starts_with(\1, 'direct-')", condition)
        condition = re.sub(r"\bmax\(((?:[^(),]|\([^()]*\))*,)", r"greatest(\1", condition)
        # A condition of a trigger cannot have a sub-select.
        if "SELECT" in condition:
            guard = re.sub(r", 1\)$", ", true)", condition.strip())
        else:
            when = f"WHEN ({condition}) "
    body = f"IF {guard} THEN {body} END IF;" if guard else body
    result = "OLD" if event == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN {body} RETURN {result}; END $f$;\n"
        f"CREATE TRIGGER {name} {timing} {event} ON {table} FOR EACH ROW {when}EXECUTE FUNCTION {name}()"
    )


def _qualified(body: str) -> str:
    """Writes the table's name in front of the columns of the row that a conflict is with, and `least` and `greatest` for the
    functions of two arguments.
    """

    def statement(match: re.Match) -> str:
        table, rest = match.groups()
        begin, conflict, assignments = rest.partition("DO UPDATE SET")
        assignments = re.sub(r"(\b(\w+) = )\2\b", rf"\g<1>{table}.\2", assignments)
        for function, name in (("min", "least"), ("max", "greatest")):
            assignments = re.sub(rf"\b{function}\((\w+), (excluded\.\w+)\)", rf"{name}({table}.\1, \2)", assignments)
        return f"INSERT INTO {table}{begin}{conflict}{assignments}"

    body = re.sub(r"INSERT INTO (\w+)([^;]*)", statement, body)
    return re.sub(r"\b(min|max)\((?=[^(),]*(?:\([^()]*\)[^(),]*)*,)", _of_two, body)


def _of_two(match: re.Match) -> str:
    return ("least" if match[1] == "min" else "greatest") + "("
