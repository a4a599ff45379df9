"""A PostgreSQL for the duration of a check, which nothing outlives, and the gateway's schema in it."""

import os
import pwd
import shutil
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
        self, primary: "Server | None" = None, settings: dict[str, str] | None = None, way: Path | None = None
    ):
        """
        :param primary: the server whose synchronous standby this one is.
        :param way: the folder of the socket at which it follows the primary, if that is not the primary's own.
        :param settings: of the server, in place of the usual ones.
        """
        self._settings = settings or {}
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

    def _start(self) -> None:
        as_user = []
        if os.geteuid() == 0:
            user = pwd.getpwnam(_USER)
            os.chown(self.directory, user.pw_uid, user.pw_gid)
            as_user = [f"--reuid={_USER}", f"--regid={_USER}", "--init-groups"]
        command = ["setpriv", *as_user, "--pdeathsig=QUIT"]
        self._make_data(command)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.directory),
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
        } | self._settings
        if self._way is not None:
            settings["primary_conninfo"] = f"host={self._way} user=gateway"
        arguments = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                [*command, _PROGRAMS / "postgres", "-D", self.directory / "data", *arguments],
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

    def _make_data(self, command: list[str]) -> None:
        data = self.directory / "data"
        if self._primary is None:
            options = ["--auth=trust", "--username=gateway", "--no-sync", "--encoding=UTF8", "--locale=C"]
            making = [_PROGRAMS / "initdb", "-D", data, *options]
        else:
            options = ["--no-sync", "--write-recovery-conf", "--checkpoint=fast"]
            making = [_PROGRAMS / "pg_basebackup", "-D", data, "-d", self._primary.url("postgres"), *options]
        made = subprocess.run(
            [*command, *making], cwd=self.directory, capture_output=True, text=True, timeout=_START_SECONDS
        )
        assert made.returncode == 0, made.stderr

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
        return f"host={self.directory} user=gateway dbname={database}"

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
