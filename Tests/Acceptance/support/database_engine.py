"""The server with the databases of the gateways of a whole run; see `scripts/sql acceptance`."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

#: The connection string of the server; empty = databases are files in the data directories.
_server = os.environ.get("DATABASE_URL", "") if os.environ.get("DATABASE_ENGINE") == "postgres" else ""
#: The connections of a gateway for reads. Hundreds of gateways share the server.
READ_CONNECTIONS = 6


def is_used() -> bool:
    return bool(_server)


def uri(connection_string: str) -> str:
    """Returns a connection string of keywords as a URI."""
    options = dict(option.split("=", 1) for option in connection_string.split())
    place = "&".join(f"{name}={options[name]}" for name in ("host", "port") if name in options)
    return f"postgresql://{options['user']}@/{options['dbname']}?{place}"


def variables(server, schema: str) -> dict[str, str]:
    """Returns the variables for a schema of a server (`engines.postgres.Server`)."""
    return {
        "DATA_GATEWAY_DATABASE__URL": uri(server.url("postgres")),
        "DATA_GATEWAY_DATABASE__SCHEMA": schema,
    }


def schema(data: Path) -> str:
    """Returns the schema of the gateway of a data directory."""
    return "gateway_" + hashlib.sha256(str(data).encode()).hexdigest()[:16]


def environment(data: Path) -> dict[str, str]:
    """Returns the variables for the gateway of a data directory."""
    if not _server:
        return {}
    settings = {"URL": uri(_server), "SCHEMA": schema(data), "READ_CONNECTIONS": str(READ_CONNECTIONS)}
    return {f"DATA_GATEWAY_DATABASE__{name}": value for name, value in settings.items()}


class Rows:
    """A connection to the schema of a gateway with the interface of SQLite's that tests use."""

    def __init__(self, data: Path):
        import psycopg

        options = f"-csearch_path={schema(data)}"
        self._connection = psycopg.connect(uri(_server), autocommit=True, prepare_threshold=None, options=options)

    def execute(self, statement: str, values: tuple | dict = ()):
        text = re.sub(r"length\(CAST\((\w+) AS BLOB\)\)", r"octet_length(\1)", statement)
        if values:
            text = re.sub(r"\$([a-z]\w*)", r"%(\1)s", text.replace("%", "%%").replace("?", "%s"))
        return self._connection.execute(text, values or None)

    def executemany(self, statement: str, rows: list[tuple]) -> None:
        for values in rows:
            self.execute(statement, values)

    def close(self) -> None:
        self._connection.close()


@contextlib.contextmanager
def connection(data: Path) -> Iterator[Rows]:
    with contextlib.closing(Rows(data)) as rows:
        yield rows
