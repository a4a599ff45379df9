"""The database of a gateway: it can be read at any time, and changed while the gateway is stopped.

Each function takes a gateway or its data directory.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from . import database_engine, sql_recorder


def _folder(place) -> Path:
    return getattr(place, "data", place)


def _file(place) -> Path:
    return _folder(place) / "gateway.db"


@contextlib.contextmanager
def reading(place) -> Iterator[sqlite3.Connection | database_engine.Rows]:
    if database_engine.is_used():
        with database_engine.connection(_folder(place)) as rows:
            yield rows
        return
    with contextlib.closing(sqlite3.connect(f"file:{_file(place)}?mode=ro", uri=True)) as database:
        yield database


@contextlib.contextmanager
def changing(place) -> Iterator[sqlite3.Connection | database_engine.Rows]:
    """What the block changes is committed at its end."""
    if database_engine.is_used():
        with database_engine.connection(_folder(place)) as rows:
            yield rows
        return
    sql_recorder.note_change(_file(place))
    with contextlib.closing(sqlite3.connect(_file(place), timeout=60)) as database, database:
        yield database


def rows(place, statement: str, *values) -> list[tuple]:
    with reading(place) as database:
        return database.execute(statement, values).fetchall()


def change(place, statement: str, *values) -> None:
    """Changes at least one row."""
    with changing(place) as database:
        assert database.execute(statement, values).rowcount > 0


def integrity_error() -> type[Exception]:
    """Returns the error of a change that a trigger or a constraint refuses."""
    if not database_engine.is_used():
        return sqlite3.IntegrityError
    import psycopg

    return psycopg.IntegrityError


def columns(place, table: str) -> list[str]:
    if database_engine.is_used():
        listing = "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 ORDER BY attnum"
    else:
        listing = "SELECT name FROM pragma_table_info('{}')"
    return [name for (name,) in rows(place, listing.format(table))]


def tables(place) -> set[str]:
    if database_engine.is_used():
        listing = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    else:
        listing = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return {name for (name,) in rows(place, listing)}
