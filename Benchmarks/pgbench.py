"""pgbench, which runs statements that a gateway has run, as the log of the server has them."""

import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engines.postgres import Server
from measuring import SERVER_CORE, cpu_seconds

PROGRAM = Path("/usr/lib/postgresql/15/bin/pgbench")
#: The duration of a run in seconds.
DURATION = 5
#: A statement, and the value of a parameter, in the server's log.
STATEMENT = re.compile(r"\[(\d+)\] LOG:  (?:execute [^:]+|statement): (.*)", re.DOTALL)
VALUE = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")
#: The statements that begin and end a write beside others, one that is alone, and a read.
WRITE, READ = ("SAVEPOINT write", "RELEASE write"), ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "COMMIT")
WRITE_ALONE = ("BEGIN ISOLATION LEVEL READ COMMITTED", "COMMIT")
#: Statements with their values.
Statements = list[tuple[str, list[str | None]]]


@contextmanager
def statements_logged(server: Server):
    """Makes the server log all statements meanwhile."""

    def set_logging(command: str) -> None:
        server.execute(f"ALTER SYSTEM {command}")
        server.execute("SELECT pg_reload_conf()")

    set_logging("SET log_statement = 'all'")
    try:
        yield
    finally:
        set_logging("RESET log_statement")


def recorded(server: Server, bounds: tuple[str, str], mark: str) -> Statements:
    """Returns logged statements between two, one of which has the mark.

    :param bounds: what the first one begins with, and the second one.
    """
    log = (server.directory / "log").read_text(errors="replace")
    #: The statements since the latest beginning, by the process that ran them.
    current: dict[str, Statements] = {}
    found = []
    lines = re.split(r"\n(?=\d{4}-\d\d-\d\d \d\d:)", log)
    for line, detail in zip(lines, [*lines[1:], ""], strict=True):
        match = STATEMENT.search(line)
        if not match:
            continue
        process, text = match[1], match[2].strip()
        if text.startswith(bounds[0]):
            current[process] = []
        elif text == bounds[1]:
            found.append(current.pop(process, []))
        elif process in current:
            values = VALUE.findall(detail) if "DETAIL:  parameters:" in detail else []
            texts = [None if value == "NULL" else value[1:-1].replace("''", "'") for _, value in values]
            current[process].append((text, texts))
    marked = [statements for statements in found if any(mark in text for text, _ in statements)]
    assert marked, mark
    return marked[len(marked) // 2]


def server_cpu(server: Server) -> float:
    """Returns the CPU time of a server's processes, also of those that have ended, in seconds."""
    process = Path("/proc", str(server.process.pid))
    children = (process / "task" / process.name / "children").read_text().split()
    ended = (process / "stat").read_text().rpartition(")")[2].split()[13:15]
    return sum(map(cpu_seconds, map(int, children))) + sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Rate:
    #: Writes a second.
    writes: float
    #: The CPU time of the server for each write, in microseconds.
    cpu: float


class Benchmark:
    """Runs of pgbench with statements whose values are its variables."""

    def __init__(self, server: Server, database: str = "postgres", schema: str = "public"):
        self._server, self._database, self._schema = server, database, schema
        self._variables: dict[str, str] = {}

    def _pipeline(self, statements: Statements, begin: str, *end: str) -> list[str]:
        """Returns the lines that send statements between others in one message."""
        lines = []
        for text, values in statements:
            for index in range(len(values), 0, -1):
                name, value = f"v{len(self._variables)}", values[index - 1]
                # A variable is not empty.
                if value:
                    self._variables[name] = value
                text = text.replace(f"${index}", f":{name}" if value else "NULL" if value is None else "''")
            lines.append(" ".join(text.split()))
        return ["\\startpipeline", *(f"{each};" for each in (begin, *lines, *end)), "\\endpipeline"]

    def writes(self, write: Statements, number: int, read: Statements | None = None) -> Rate:
        """Runs writes in transactions of that number of writes, each of which is rolled back to its savepoint,
        because its keys are those of one write.

        :param read: the statements of a transaction that is run once for each write; none = none.
        """
        lines = ["BEGIN;", "SELECT pg_advisory_xact_lock(1, 2);"]
        lines += self._pipeline(write, WRITE[0], "ROLLBACK TO SAVEPOINT write", WRITE[1]) * number
        scripts = [([*lines, "COMMIT;"], 1)]
        # One writes, and one waits for the lock.
        clients = 2
        if read is not None:
            scripts.append((self._pipeline(read, *READ), number))
            clients = 8
        with tempfile.TemporaryDirectory() as folder:
            command = [PROGRAM, "-n", "-M", "prepared", "-c", str(clients), "-T", str(DURATION)]
            command += ["-h", self._server.directory, "-U", "gateway"]
            for name, (lines, weight) in enumerate(scripts):
                (file := Path(folder, f"{name}.sql")).write_text("\n".join(lines) + "\n")
                command += ["-f", f"{file}@{weight}"]
            command += [word for name, value in self._variables.items() for word in ("-D", f"{name}={value}")]
            begin = server_cpu(self._server)
            done = subprocess.run(
                ["taskset", "-c", str(SERVER_CORE), *command, self._database],
                env=os.environ | {"PGOPTIONS": f"-c search_path={self._schema}"},
                capture_output=True,
                text=True,
                timeout=120,
            )
        assert done.returncode == 0, done.stderr
        # With two scripts, there is a line for each below the one for both.
        rates = re.findall(r"tps = ([\d.]+)", done.stdout)
        writes = float(rates[0] if read is None else rates[1]) * number
        return Rate(writes, (server_cpu(self._server) - begin) / (writes * DURATION) * 1e6)
