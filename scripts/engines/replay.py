"""Recorded statements of gateways on PostgreSQL: each in the order of SQLite, with its arguments, and its result compared.

The writer's statements run in their transactions. A transaction that only reads runs as a whole where it began: it saw the last
commit before its first statement. If a commit was in progress when that statement ran, the state after the commit is as valid.
"""

import re
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import pq

from . import postgres, schema
from .sources import engine_reason, one_line

_DONE = 101
_BOOL, _BYTEA = 16, 17
_NUMBERS = {20, 21, 23, 1700}
_PARAMETER = re.compile(r"\$(\d+)")
#: A value in a text with arguments, as sqlite3_expanded_sql writes it.
_VALUE = re.compile(r"NULL|x'[0-9a-fA-F]*'|'(?:[^']|'')*'|-?\d+(?:\.\d+(?:e[+-]?\d+)?)?")
_MOST_PRINTED = 20


@dataclass(eq=False)
class Execution:
    """A statement that a connection ran; positions count the records of its process."""

    connection: int
    file: str
    inode: int
    text: str
    arguments: list[str | bytes | None]
    begin: int
    #: The position of its first result; of its end if it has none.
    first: int = 0
    end: int = 0
    rows: list[tuple] = field(default_factory=list)
    #: SQLite's result; `None` = the program did not read up to the end.
    code: int | None = None

    @property
    def is_ended(self) -> bool:
        return self.code is not None


def _arguments(text: str, expanded: str) -> list[str | bytes | None]:
    """Returns the arguments of a text from the text with the arguments in their places."""
    found: dict[int, str | bytes | None] = {}
    at = last = 0
    for parameter in _PARAMETER.finditer(text):
        at += parameter.start() - last
        last = parameter.end()
        value = _VALUE.match(expanded, at)
        if value is None:
            raise ValueError(f"no argument at {at}: {expanded}")
        at = value.end()
        found[int(parameter[1])] = _argument(value[0])
    return [found[number] for number in sorted(found)]


def _argument(value: str) -> str | bytes | None:
    if value == "NULL":
        return None
    if value.startswith("x'"):
        return bytes.fromhex(value[2:-1])
    return value[1:-1].replace("''", "'") if value.startswith("'") else value


class _Reader:
    """The records of a process, as sql/recorder.c writes them."""

    def __init__(self, path: Path):
        self._bytes = path.read_bytes()
        self._at = 0
        self._position = 0

    def executions(self) -> list[Execution]:
        """Returns the statements in the order of their beginnings. The last record of a killed process may be a part."""
        found: list[Execution] = []
        running: dict[int, Execution] = {}
        try:
            while self._at < len(self._bytes):
                self._read(found, running)
        except (struct.error, IndexError):
            pass
        return found

    def _read(self, found: list[Execution], running: dict[int, Execution]) -> None:
        kind = self._take(1)
        self._position += 1
        if kind == b"S":
            connection, statement = self._number(), self._number()
            file, inode = self._text().decode(), self._number()
            text, expanded = self._text().decode(), self._text().decode()
            execution = Execution(connection, file, inode, text, _arguments(text, expanded), self._position)
            running[statement] = execution
            found.append(execution)
            return
        execution = running[self._number()]
        execution.first = execution.first or self._position
        execution.end = self._position
        if kind == b"R":
            execution.rows.append(tuple(self._value() for _ in range(self._number())))
        else:
            execution.code = self._number()

    def _take(self, length: int) -> bytes:
        taken = self._bytes[self._at : self._at + length]
        if len(taken) < length:
            raise IndexError("the record is not whole")
        self._at += length
        return taken

    def _number(self) -> int:
        return struct.unpack("<q", self._take(8))[0]

    def _text(self) -> bytes:
        return self._take(self._number())

    def _value(self) -> object:
        match self._take(1).decode():
            case "1":
                return self._number()
            case "2":
                return float(self._text())
            case "3":
                return self._text().decode()
            case "4":
                return self._text()
            case _:
                return None


@dataclass(eq=False)
class Read:
    """The statements of a transaction that only reads, or one outside of a transaction."""

    executions: list[Execution]

    @property
    def begin(self) -> int:
        return self.executions[0].begin

    @property
    def first(self) -> int:
        return self.executions[0].first


def _is_own(text: str) -> bool:
    return engine_reason(text) is not None or re.match(r"\s*EXPLAIN\b", text) is not None


def _reads(executions: list[Execution], writers: set[int]) -> Iterator[Read]:
    """Returns the transactions of connections that only read."""
    for connection in {execution.connection for execution in executions} - writers:
        group: list[Execution] = []
        is_open = False
        for execution in (execution for execution in executions if execution.connection == connection):
            word = execution.text.split()[0]
            if word in ("BEGIN", "COMMIT", "ROLLBACK"):
                if group:
                    yield Read(group)
                group, is_open = [], word == "BEGIN"
            elif not _is_own(execution.text) and execution.first:
                group.append(execution)
                if not is_open:
                    yield Read(group)
                    group = []
        if group:
            yield Read(group)


class _Engine:
    """A PostgreSQL with the schema, in which the statements of a gateway run: one session writes, another one reads."""

    def __init__(self, server: postgres.Server, objects: list[schema.Object]):
        self.writer = server.database()
        postgres.create(self.writer, objects)
        postgres.complete(self.writer)
        self.reader = server.connect(self.writer.info.dbname)
        self._names: dict[tuple[int, str], bytes] = {}
        found = self.writer.execute("SELECT sequencename FROM pg_sequences").fetchall()
        self._sequences = " UNION ALL ".join(f"SELECT '{name}', last_value, is_called FROM {name}" for (name,) in found)

    def close(self) -> None:
        self.reader.close()
        self.writer.close()

    def run(self, connection: psycopg.Connection, execution: Execution) -> list[tuple] | str:
        """Returns the rows of a statement, or the error."""
        key = id(connection), execution.text
        if key not in self._names:
            name = b"s%d" % len(self._names)
            prepared = connection.pgconn.prepare(name, execution.text.encode())
            if prepared.status != pq.ExecStatus.COMMAND_OK:
                return prepared.error_message.decode().partition("\n")[0]
            self._names[key] = name
        values = [
            b"\\x" + value.hex().encode() if isinstance(value, bytes) else value if value is None else value.encode()
            for value in execution.arguments
        ]
        result = connection.pgconn.exec_prepared(self._names[key], values)
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            return result.error_message.decode().partition("\n")[0]
        return [
            tuple(_native(result.ftype(column), result.get_value(row, column)) for column in range(result.nfields))
            for row in range(result.ntuples)
        ]

    def sequences(self) -> list[tuple]:
        """Returns the states of sequences, which PostgreSQL does not roll back, and SQLite does."""
        return self.writer.execute(self._sequences).fetchall()

    def restore(self, sequences: list[tuple]) -> None:
        for name, value, is_called in sequences:
            self.writer.execute("SELECT setval(%s::regclass, %s, %s)", (name, value, is_called))


def _native(kind: int, value: bytes | None) -> object:
    if value is None:
        return None
    if kind == _BOOL:
        return int(value == b"t")
    if kind == _BYTEA:
        return bytes.fromhex(value.decode()[2:])
    return int(value) if kind in _NUMBERS else value.decode()


class Replay:
    """The statements of the processes of one database, in the order in which they ran."""

    def __init__(self, engine: _Engine):
        self._engine = engine
        self.counts: Counter = Counter()
        self.differences: list[str] = []
        self._saved: dict[str, list[tuple]] = {}

    def run(self, executions: list[Execution]) -> None:
        """Runs the statements of one process."""
        writers = {execution.connection for execution in executions if execution.text == "BEGIN IMMEDIATE"}
        written = [execution for execution in executions if execution.connection in writers and execution.first]
        written.sort(key=lambda execution: execution.first)
        commits = [execution for execution in written if execution.text == "COMMIT"]
        waiting = sorted(_reads(executions, writers), key=lambda read: read.begin)
        late: list[tuple[int, Read, str]] = []
        for execution in written:
            while waiting and waiting[0].begin < execution.first:
                self._start(waiting.pop(0), commits, late)
            self._write(execution)
            if execution.text == "COMMIT":
                late = [item for item in late if not self._is_same_later(execution, *item)]
        for read in waiting:
            self._start(read, commits, late)
        for _, _, difference in late:
            self._report(difference)
        # A process that was killed had an open transaction.
        if self._engine.writer.info.transaction_status != pq.TransactionStatus.IDLE:
            self._engine.writer.execute("ROLLBACK")

    def _start(self, read: Read, commits: list[Execution], late: list) -> None:
        difference = self._difference(read)
        if difference is None:
            self.counts["reads"] += 1
            return
        # The commits that ended after the read began, and had begun before it had its snapshot.
        overlapping = [commit.first for commit in commits if commit.first > read.begin and commit.begin < read.first]
        if overlapping:
            late.append((max(overlapping), read, difference))
        else:
            self._report(difference)

    def _is_same_later(self, commit: Execution, last: int, read: Read, difference: str) -> bool:
        """Whether a read that overlapped with a commit had the state after it, or its difference is reported."""
        if self._difference(read) is None:
            self.counts["reads that overlapped with a commit"] += 1
            return True
        if commit.first >= last:
            self._report(difference)
            return True
        return False

    def _difference(self, read: Read) -> str | None:
        for execution in read.executions:
            difference = self._compare(execution, self._engine.run(self._engine.reader, execution))
            if difference:
                return difference
        return None

    def _write(self, execution: Execution) -> None:
        text = execution.text
        if _is_transaction(text):
            self._transaction(text)
            return
        if _is_own(text):
            return
        writer = self._engine.writer
        in_transaction = writer.info.transaction_status == pq.TransactionStatus.INTRANS
        fails = execution.code not in (None, _DONE)
        if fails and in_transaction:
            writer.execute("SAVEPOINT failing")
        result = self._engine.run(writer, execution)
        difference = self._compare(execution, result)
        if fails and in_transaction:
            writer.execute("ROLLBACK TO failing")
        elif isinstance(result, str) and in_transaction:
            # PostgreSQL accepts no further statement of this transaction: nothing after it can be compared.
            raise _Stopped(difference or result)
        if difference:
            self._report(difference)
        else:
            self.counts["writer's statements"] += 1

    def _transaction(self, text: str) -> None:
        word = one_line(text)
        if word == "BEGIN IMMEDIATE":
            word = "BEGIN"
        writer = self._engine.writer
        if word.startswith(("BEGIN", "SAVEPOINT")):
            self._saved[word.split()[0]] = self._engine.sequences()
        writer.execute(word)
        if word.startswith("ROLLBACK"):
            self._engine.restore(self._saved["SAVEPOINT" if "TO" in word else "BEGIN"])

    def _compare(self, execution: Execution, result: list[tuple] | str) -> str | None:
        """Returns the difference between SQLite's result and PostgreSQL's; `None` = they are the same."""
        fails = execution.code not in (None, _DONE)
        if fails and isinstance(result, str):
            return None
        place = f"{one_line(execution.text)}\n    {execution.arguments}"
        if isinstance(result, str) or fails:
            lite = f"SQLite's result is {execution.code}" if fails else "SQLite executes it"
            return f"{place}\n    {lite}, PostgreSQL: {result}"
        expected = execution.rows
        same = result if execution.is_ended else result[: len(expected)]
        if same == expected:
            return None
        is_ordered = _is_ordered(execution.text)
        if not is_ordered and execution.is_ended and Counter(result) == Counter(expected):
            self.counts["in another order, without ORDER BY"] += 1
            return None
        if not is_ordered and not execution.is_ended and not Counter(expected) - Counter(result):
            self.counts["other first rows, without ORDER BY"] += 1
            return None
        return f"{place}\n    SQLite: {expected[:3]}\n    PostgreSQL: {result[:3]}"

    def _report(self, difference: str) -> None:
        self.counts["differences"] += 1
        self.differences.append(difference)


class _Stopped(Exception):
    """PostgreSQL refuses a statement in a transaction in which SQLite executes it."""


def _is_ordered(text: str) -> bool:
    """Whether a statement orders its rows; an ORDER BY of a sub-select does not."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return "ORDER BY" in text


def _is_transaction(text: str) -> bool:
    return re.match(r"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b", text) is not None


def _histories(folder: Path) -> dict[str, list[list[Execution]]]:
    """Returns the statements by the path of the database; for each one, those of its processes in their order, and an empty list
    where a test changed the database itself.
    """
    found: dict[str, list[list[Execution]]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".changed":
            found.setdefault(path.read_text(), []).append([])
            continue
        files: dict[str, list[Execution]] = {}
        for execution in _Reader(path).executions():
            files.setdefault(execution.file, []).append(execution)
        for file, executions in files.items():
            found.setdefault(file, []).append(executions)
    return found


def _known(processes: list[list[Execution]]) -> tuple[list[list[Execution]], str]:
    """Returns the processes whose results depend on recorded statements only, and the reason why a later one does not."""
    for number, executions in enumerate(processes):
        if not executions:
            return processes[:number], "databases up to a change by the test"
        if executions[0].inode != processes[0][0].inode:
            return processes[:number], "databases up to a restore"
        commits = [execution for execution in executions if execution.text == "COMMIT"]
        if any(not commit.first for commit in commits):
            return processes[: number + 1], "databases up to a kill during a commit"
    return processes, ""


def _begins_empty(processes: list[list[Execution]]) -> bool:
    """Whether the first process made the database: it found no migration."""
    listed = (execution for execution in processes[0] if execution.text.startswith("SELECT name FROM migrations"))
    first = next(listed, None)
    return first is not None and not first.rows and first.code == _DONE


def run(folder: Path) -> int:
    """Replays the histories in a folder, and returns the number of failures."""
    total: Counter = Counter()
    failures = 0
    with closing(schema.connect()) as database, postgres.Server() as server:
        schema.apply(database)
        objects = schema.objects(database)
        for file, processes in _histories(folder).items():
            if not _begins_empty(processes):
                total["databases that were not recorded from their beginning"] += 1
                continue
            processes, reason = _known(processes)
            total["databases"] += 1
            if reason:
                total[reason] += 1
            with closing(_Engine(server, objects)) as engine:
                replay = Replay(engine)
                try:
                    for executions in processes:
                        replay.run(executions)
                except _Stopped as stopped:
                    replay.counts["stopped"] += 1
                    replay.differences.append(str(stopped))
            total += replay.counts
            failures += len(replay.differences)
            for difference in replay.differences[:_MOST_PRINTED]:
                print(f"{file}: {difference}", file=sys.stderr)
    print(f"sql: {failures} failures; " + ", ".join(f"{count} {name}" for name, count in total.items()))
    if not total["databases"]:
        print(f"sql: {folder} has no history", file=sys.stderr)
        return 1
    return failures
