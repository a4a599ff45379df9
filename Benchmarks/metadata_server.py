"""Writes and lists of a gateway whose database is on a PostgreSQL server, which is made for the measurement.

Parts a second are those of 64 callers that store parts of 1 KiB, at three durations of a round trip to the server; at the shortest one,
pgbench runs the same statements in transactions of the same number of writes. Lists are compared with those of SQLite on the same
catalog, which is copied to the server; DATA_GATEWAY_BENCHMARK_OBJECTS is its number of objects (default: 10,000,000).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path

import metadata
from engines.network import Network
from engines.postgres import Server
from measuring import CLIENT_CORE, ROOT, SERVER_CORE, figure, on_cores
from store_clients import request, send_all
from support import database_engine, s3
from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD
from support.monitoring import metric
from support.parties import Fleet, User
from support.uploads import Upload

ROUNDS = 5
CALLERS, PARTS = 64, 40
#: The added durations of a round trip, in microseconds.
DELAYS = [0, 200, 1000]
OBJECTS = int(os.environ.get("DATA_GATEWAY_BENCHMARK_OBJECTS", "10000000"))
#: The schema of the gateway whose statements pgbench runs.
RECORDED = "recorded"
PGBENCH = Path("/usr/lib/postgresql/15/bin/pgbench")
#: The settings of a server that keeps what it acknowledges.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}
#: The counters of transactions of writes, and of the writes in them.
BATCHES, WRITES = "data_gateway_database_batches_total", "data_gateway_database_writes_total"


@contextmanager
def reached(server: Server, microseconds: int):
    """Yields the folder of a socket at which the server is that far away."""
    if not microseconds:
        yield server.directory
        return
    with Network(server, microseconds) as network:
        yield network.folder


class Gateway:
    """A gateway with its database behind a delay."""

    def __init__(self, binary: str, stubs, folder: Path, server: Server, socket: Path, schema: str):
        variables = database_engine.variables(server, schema)
        variables["DATA_GATEWAY_DATABASE__URL"] = f"postgresql://gateway@/postgres?host={socket}"
        self.process = metadata.started(binary, folder, variables)
        user = User.login(self.process, stubs, "system", "admin", ADMIN_PASSWORD)
        self.uploader = Fleet.create(user).uploader()

    def requests(self) -> tuple[str, list[bytes]]:
        """Returns the address of the store, and requests for parts of one upload for each caller."""
        target, made = "", []
        for _ in range(CALLERS):
            upload = Upload.create(self.uploader)
            store = s3.client(upload.credentials)
            place = {"Bucket": upload.credentials.bucket, "Key": upload.credentials.key}
            multipart = store.create_multipart_upload(**place)["UploadId"]
            for number in range(1, PARTS + 1):
                part = place | {"UploadId": multipart, "PartNumber": number}
                url = store.generate_presigned_url("upload_part", Params=part, ExpiresIn=3600)
                target, path = re.fullmatch(r"http://([^/]+)(/.*)", url).groups()
                made.append((number, request("PUT", target, path, {}, os.urandom(1024))))
        # Neighbors are parts of different uploads.
        return target, [each for _, each in sorted(made, key=lambda pair: pair[0])]

    def counts(self) -> tuple[float, float]:
        return metric(self.process, BATCHES), metric(self.process, WRITES)


def measure_parts(binary: str, stubs) -> None:
    """Measures all delays in turn, and pgbench."""
    with on_cores({CLIENT_CORE}), Server(settings=DURABLE) as server:
        rates: dict[int, list[float]] = {delay: [] for delay in DELAYS}
        sizes, peers = [], []
        with tempfile.TemporaryDirectory() as text:
            statements = recorded_part(binary, stubs, server, Path(text))
            for number in range(ROUNDS):
                for delay in DELAYS:
                    with reached(server, delay) as socket:
                        folder = Path(text) / f"{number}-{delay}"
                        folder.mkdir()
                        gateway = Gateway(binary, stubs, folder, server, socket, f"round_{number}_{delay}")
                        try:
                            address, requests = gateway.requests()
                            before = gateway.counts()
                            rates[delay].append(len(requests) / send_all(address, requests, CALLERS))
                            after = gateway.counts()
                        finally:
                            gateway.process.close()
                    if delay == 0:
                        sizes.append((after[1] - before[1]) / (after[0] - before[0]))
                        peers.append(pgbench(server, statements, max(1, round(sizes[-1]))))
        figure("metadata.postgres.parts.writes_in_transaction", sizes, "writes")
        for delay in DELAYS:
            name = f"metadata.postgres.parts.{delay}_us"
            if delay:
                figure(name, rates[delay], "parts/s")
            else:
                figure(name, rates[delay], "parts/s", "pgbench, the same statements", peers)


#: A statement, and the value of a parameter, in the server's log.
STATEMENT = re.compile(r"\[(\d+)\] LOG:  execute [^:]+: (.*)", re.DOTALL)
VALUE = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")


def recorded_part(binary: str, stubs, server: Server, folder: Path) -> list[tuple[str, list[str | None]]]:
    """Returns the statements that store one part, with their values, from the server's log."""
    gateway = Gateway(binary, stubs, folder, server, server.directory, RECORDED)
    try:
        address, requests = gateway.requests()
        server.execute("ALTER SYSTEM SET log_statement = 'all'")
        server.execute("SELECT pg_reload_conf()")
        send_all(address, requests[: 4 * CALLERS], CALLERS)
    finally:
        gateway.process.close()
        server.execute("ALTER SYSTEM RESET log_statement")
        server.execute("SELECT pg_reload_conf()")
    log = (server.directory / "log").read_text(errors="replace")
    #: The statements since the latest savepoint, by the process that ran them.
    current: dict[str, list] = {}
    writes = []
    lines = re.split(r"\n(?=\d{4}-\d\d-\d\d \d\d:)", log)
    for line, detail in zip(lines, [*lines[1:], ""], strict=True):
        match = STATEMENT.search(line)
        if not match:
            continue
        process, text = match[1], match[2].strip()
        if text == "SAVEPOINT write":
            current[process] = []
        elif text.startswith("RELEASE"):
            writes.append(current.pop(process, []))
        elif process in current:
            values = VALUE.findall(detail) if "DETAIL:  parameters:" in detail else []
            texts = [None if value == "NULL" else value[1:-1].replace("''", "'") for _, value in values]
            current[process].append((text, texts))
    parts = [write for write in writes if any("INTO store_parts" in text for text, _ in write)]
    assert parts, "no part was stored"
    return parts[len(parts) // 2]


def pgbench(server: Server, statements: list[tuple[str, list[str | None]]], writes: int) -> float:
    """Returns the writes a second of a pgbench that runs the statements in transactions of so many writes.

    Each write is rolled back to its savepoint, because its keys are those of one part.
    """
    variables: dict[str, str] = {}
    body = []
    for number, (text, values) in enumerate(statements):
        for index in range(len(values), 0, -1):
            name, value = f"v{number}_{index}", values[index - 1]
            if value is not None:
                variables[name] = value
            text = text.replace(f"${index}", "NULL" if value is None else f":{name}")
        body.append(" ".join(text.split()) + ";")
    lines = ["BEGIN;", "SELECT pg_advisory_xact_lock(1, 2);"]
    for _ in range(writes):
        lines += ["\\startpipeline", "SAVEPOINT write;", *body, "ROLLBACK TO SAVEPOINT write;", "\\endpipeline"]
    lines.append("COMMIT;")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        command = [PGBENCH, "-n", "-M", "prepared", "-c", "2", "-T", "5", "-f", script.name, "-h", server.directory]
        command += [word for name, value in variables.items() for word in ("-D", f"{name}={value}")]
        done = subprocess.run(
            ["taskset", "-c", str(SERVER_CORE), *command, "-U", "gateway", "postgres"],
            env=os.environ | {"PGOPTIONS": f"-c search_path={RECORDED}"},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    return float(re.search(r"tps = ([\d.]+)", done.stdout)[1]) * writes


def measure_lists(binary: str, stubs, cache: Path) -> None:
    """Compares the lists of one catalog on both engines, request by request."""
    source = metadata.catalog(binary, stubs, cache, OBJECTS)
    with on_cores({CLIENT_CORE}), Server(settings=DURABLE | {"shared_buffers": "1GB"}) as server:
        folder = cache / "on-a-server"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        url = database_engine.uri(server.url("postgres"))
        began = time.monotonic()
        copy = [binary, "database", "copy", "--from", folder / "data", "--to", url, "--schema", "lists"]
        subprocess.run(copy, check=True)
        figure(f"metadata.postgres.copy.{OBJECTS}_objects", [time.monotonic() - began], "s")
        for kept in (folder / "data").glob("gateway.db.copied-*"):
            kept.unlink()
        with closing(server.connect("postgres")) as connection:
            (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        figure(f"metadata.postgres.size.{OBJECTS}_objects", [size / OBJECTS], "B/object")
        running = [
            metadata.started(binary, source),
            metadata.started(binary, folder, database_engine.variables(server, "lists")),
        ]
        try:
            lists = [metadata.Lists(each, stubs) for each in running]
            for name, filter in ({"unfiltered": ""} | metadata.SEARCHES).items():
                times: list[list[float]] = [[], []]
                loads = [each.first_page(filter) for each in lists]
                for _ in range(ROUNDS):
                    for load, taken in zip(loads, times, strict=True):
                        taken.append(load.run(1, 100)[1])
                figure(f"metadata.postgres.list.{name}", times[1], "ms", "SQLite", times[0])
        finally:
            for each in running:
                each.close()
            shutil.rmtree(folder, ignore_errors=True)


def main(binary: str, only: list[str]) -> None:
    with tempfile.TemporaryDirectory() as text:
        stubs = stubs_module.load(ROOT / "protos", Path(text))
        if not only or "parts" in only:
            measure_parts(binary, stubs)
        if not only or "lists" in only:
            cache = Path(os.environ.get("DATA_GATEWAY_BENCHMARK_CACHE") or text)
            cache.mkdir(exist_ok=True)
            measure_lists(binary, stubs, cache)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
