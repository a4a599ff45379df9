"""A PostgreSQL for the duration of a check, which nothing outlives, and the gateway's schema in it."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psycopg

from . import schema

#: The folder with the programs of the server; POSTGRES_PROGRAMS names that of another version.
_PROGRAMS = Path(os.environ.get("POSTGRES_PROGRAMS", "/usr/lib/postgresql/15/bin"))
#: The user of the server, which does not run as root.
_USER = "postgres"
_START_SECONDS = 60


class Server:
    """A server that accepts connections at a Unix socket in a temporary directory only.

    The kernel ends it with this process (PR_SET_PDEATHSIG), however that ends.
    """

    def __init__(
        self,
        primary: "Server | None" = None,
        settings: dict[str, str] | None = None,
        configuration: Path | None = None,
        way: Path | None = None,
    ):
        """
        :param primary: the server whose synchronous standby this one is.
        :param way: the folder of the socket at which it follows the primary, if that is not the primary's own.
        :param settings: of the server, in place of the usual ones.
        :param configuration: a file with settings of an operator. The usual ones, which are for speed alone, are not set.
        """
        self._settings = settings or {}
        self._configuration = configuration
        self.port = int(self._settings.get("port", 5432))
        self.directory = Path(tempfile.mkdtemp(prefix="gateway-postgres-"))
        self.process: subprocess.Popen | None = None
        self._primary = primary
        self._way = way
        self._number = 0

    def __enter__(self) -> "Server":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process is not None:
            # SIGQUIT ends it at once; its data are not needed again.
            self.process.send_signal(3)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def standby(self, way: Path | None = None) -> "Server":
        """Makes a standby, for which commits wait.

        :param way: the folder of the socket at which it follows this server, if that is not the server's own.
        """
        return Server(self, way=way)

    def signal(self, number: int) -> None:
        """Signals all processes of the server."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for process in (self.process.pid, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self) -> None:
        """Ends the server without warning."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def promote(self) -> None:
        """Makes a standby the primary."""
        self._primary = None
        # With a checkpoint, so that a server that follows finds the new timeline.
        self.execute("SELECT pg_promote()")
        self.execute("CHECKPOINT")

    def has_replayed(self, position: str) -> bool:
        """Whether a standby has what the log has up to a position."""
        with closing(self.connect("postgres")) as connection:
            replayed = "SELECT pg_last_wal_replay_lsn() >= CAST(%s AS pg_lsn)"
            return connection.execute(replayed, [position]).fetchone()[0]

    def serve_alone(self) -> None:
        """Starts a standby that was killed as a primary: what its own primary wrote since is lost."""
        self._primary = None
        self.serve()
        self.promote()

    def follow(self, primary: "Server") -> None:
        """Makes a primary that was killed the standby of another server, which was promoted (pg_rewind)."""
        source = ["--source-server", primary.url("postgres"), "--write-recovery-conf", "--no-sync"]
        self._run([_PROGRAMS / "pg_rewind", "-D", self.directory / "data", *source])
        self._primary = primary
        self.serve()

    def _start(self) -> None:
        if os.geteuid() == 0:
            user = pwd.getpwnam(_USER)
            os.chown(self.directory, user.pw_uid, user.pw_gid)
        self._make_data()
        self.serve()

    @property
    def _as_user(self) -> list[str]:
        """Returns the words before a command of the server's user."""
        user = [f"--reuid={_USER}", f"--regid={_USER}", "--init-groups"] if os.geteuid() == 0 else []
        return ["setpriv", *user, "--pdeathsig=QUIT"]

    def serve(self) -> None:
        """Starts the program, also again after it has ended."""
        places = {"listen_addresses": "", "unix_socket_directories": str(self.directory)}
        fast = {
            "fsync": "off",
            # Not for a standby, which tests let others wait for.
            "synchronous_commit": "local",
            "full_page_writes": "off",
            "autovacuum": "off",
            "max_wal_size": "4GB",
            "shared_buffers": "256MB",
            "maintenance_work_mem": "256MB",
            "max_connections": "1500",
            "jit": "off",
        }
        settings = places | ({} if self._configuration else fast) | self._settings
        if self._way is not None:
            settings["primary_conninfo"] = f"host={self._way} user=gateway"
        arguments = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*self._as_user, _PROGRAMS / "postgres", "-D", self.directory / "data", *arguments],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._wait()
        if self._primary is not None:
            with closing(self._primary.connect("postgres")) as connection:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                connection.execute("SELECT pg_reload_conf()")

    def _make_data(self) -> None:
        data = self.directory / "data"
        if self._primary is None:
            options = ["--auth=trust", "--username=gateway", "--no-sync", "--encoding=UTF8", "--locale=C"]
            options += ["--data-checksums"] if self._configuration else []
            making = [_PROGRAMS / "initdb", "-D", data, *options]
        else:
            options = ["--no-sync", "--write-recovery-conf", "--checkpoint=fast"]
            making = [_PROGRAMS / "pg_basebackup", "-D", data, "-d", self._primary.url("postgres"), *options]
        self._run(making)
        if self._configuration and self._primary is None:
            with open(data / "postgresql.conf", "a") as file:
                file.write(self._configuration.read_text())

    def _run(self, command: list) -> None:
        """Runs a program as the server's user."""
        done = subprocess.run(
            [*self._as_user, *command], cwd=self.directory, capture_output=True, text=True, timeout=_START_SECONDS
        )
        assert done.returncode == 0, done.stderr

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError:
                log_text = (self.directory / "log").read_text(errors="replace")
                assert self.process.poll() is None and time.monotonic() < deadline, log_text
                time.sleep(0.05)

    def url(self, database: str) -> str:
        """Returns what libpq needs to connect to a database."""
        port = f"port={self.port} " if "port" in self._settings else ""
        return f"host={self.directory} {port}user=gateway dbname={database}"

    def connect(self, database: str) -> psycopg.Connection:
        """Opens a connection on which each statement is a transaction of its own."""
        return psycopg.connect(self.url(database), autocommit=True, prepare_threshold=None)

    def execute(self, statement: str) -> None:
        """Runs a statement in the database of gateways."""
        with closing(self.connect("postgres")) as connection:
            connection.execute(statement)

    def database(self) -> psycopg.Connection:
        """Makes a database with the functions of the gateway's schema, without tables, and opens a connection to it."""
        connection = self.empty_database()
        for function in schema.FUNCTIONS:
            connection.execute(function)
        return connection

    def empty_database(self) -> psycopg.Connection:
        """Makes a database, and opens a connection to it."""
        self._number += 1
        name = f"gateway{self._number}"
        with closing(self.connect("postgres")) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.connect(name)


def create(connection: psycopg.Connection, objects: list[schema.Object]) -> None:
    """Creates objects of a SQLite database in a PostgreSQL one."""
    for object in schema.for_postgres(objects):
        try:
            connection.execute(object.sql)
        except psycopg.Error as error:
            raise ValueError(f"PostgreSQL refuses the {object.kind} {object.name}: {error}\n{object.sql}") from error


def complete(connection: psycopg.Connection) -> None:
    """Changes a database with all objects of SQLite as the migrations of PostgreSQL alone do."""
    for statements in schema.of_postgres():
        connection.execute(statements)
