"""Writes and lists of a gateway whose database is on a PostgreSQL server, which is made for the measurement.

parts: parts a second of 64 callers that store parts of 1 KiB, at three durations of a round trip to the server. At the shortest one, the
same with the database in a file, and pgbench, which runs the same statements, of the writes alone and with those of the reads before
them, in transactions of the same number of writes.
counters: what the versions of counters cost the writes of a part and of a completion.
lists: lists compared with those of SQLite on the same catalog, which is copied to the server; DATA_GATEWAY_BENCHMARK_OBJECTS is its
number of objects (default: 10,000,000).
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import metadata
import psycopg
from engines import postgres, schema
from engines.network import Network
from engines.postgres import Server
from measuring import CLIENT_CORE, ROOT, cpu_seconds, figure, on_cores
from pgbench import READ, WRITE, WRITE_ALONE, Benchmark, Rate, Statements, recorded, server_cpu, statements_logged
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
#: The requests for a page in a round.
PAGES = 100
OBJECTS = int(os.environ.get("DATA_GATEWAY_BENCHMARK_OBJECTS", "10000000"))
#: The schema of the gateway whose statements pgbench runs.
RECORDED = "recorded"
#: The settings of a server that keeps what it acknowledges.
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}
#: The writes in a transaction of the comparison of counters.
BATCH = 16
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


def variables(server: Server, socket: Path, schema: str) -> dict[str, str]:
    """Returns the variables of a gateway that reaches the server at a socket."""
    url = f"postgresql://gateway@/postgres?host={socket}"
    return database_engine.variables(server, schema) | {"DATA_GATEWAY_DATABASE__URL": url}


class Gateway:
    """A gateway with a device that uploads."""

    def __init__(self, binary: str, stubs, folder: Path, variables: dict[str, str]):
        folder.mkdir()
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


class Usage:
    """The CPU time of the gateway, of the database's server and of this process, in microseconds for each part or page."""

    def __init__(self, gateway, server: Server):
        self._gateway, self._server = gateway.process.pid, server
        self._begin = self._now()

    def _now(self) -> dict[str, float]:
        times = {"gateway": cpu_seconds(self._gateway), "server": server_cpu(self._server)}
        return times | {"client": time.process_time()}

    def of_each(self, number: int) -> dict[str, float]:
        return {name: (end - self._begin[name]) / number * 1e6 for name, end in self._now().items()}


@dataclass
class Sent:
    """The parts that all callers have stored."""

    rate: float
    #: See `Usage`.
    cpu: dict[str, float]
    #: The writes of a transaction; 0 = it has no server.
    batch: float

    @classmethod
    def to(cls, gateway: Gateway, server: Server) -> "Sent":
        def counts() -> list[float]:
            return [metric(gateway.process, name) for name in (WRITES, BATCHES)]

        address, requests = gateway.requests()
        before, usage = counts(), Usage(gateway.process, server)
        rate = len(requests) / send_all(address, requests, CALLERS)
        cpu = usage.of_each(len(requests))
        writes, batches = (after - other for after, other in zip(counts(), before, strict=True))
        return cls(rate, cpu, writes / max(1, batches))


def measure_parts(binary: str, stubs) -> None:
    """Measures all delays in turn, a database in a file, and pgbench."""
    with on_cores({CLIENT_CORE}), Server(settings=DURABLE) as server, tempfile.TemporaryDirectory() as text:
        write, read = recorded_part(binary, stubs, server, Path(text))

        def sent(name: str, variables: dict[str, str]) -> Sent:
            gateway = Gateway(binary, stubs, Path(text, name), variables)
            try:
                return Sent.to(gateway, server)
            finally:
                gateway.process.close()

        found: dict[int, list[Sent]] = {delay: [] for delay in DELAYS}
        of_file: list[Sent] = []
        alone: list[Rate] = []
        with_reads: list[Rate] = []
        for number in range(ROUNDS):
            for delay in DELAYS:
                with reached(server, delay) as socket:
                    name = f"round_{number}_{delay}"
                    found[delay].append(sent(name, variables(server, socket, name)))
            of_file.append(sent(f"file_{number}", {}))
            batch = max(1, round(found[0][-1].batch))
            alone.append(Benchmark(server, schema=RECORDED).writes(write, batch))
            with_reads.append(Benchmark(server, schema=RECORDED).writes(write, batch, read))
    figure("metadata.postgres.parts.writes_in_transaction", [each.batch for each in found[0]], "writes")
    for kind, runs in (("postgres", found[0]), ("file", of_file)):
        for name in runs[0].cpu:
            figure(f"metadata.{kind}.parts.cpu.{name}", [each.cpu[name] for each in runs], "us")
    rates = {delay: [each.rate for each in runs] for delay, runs in found.items()}
    for delay in DELAYS[1:]:
        figure(f"metadata.postgres.parts.{delay}_us", rates[delay], "parts/s")
    name = "metadata.postgres.parts.0_us"
    figure(f"{name}.file", rates[0], "parts/s", "a database in a file", [each.rate for each in of_file])
    for kind, peer in (("writes", alone), ("reads_and_writes", with_reads)):
        figure(f"{name}.{kind}", rates[0], "parts/s", "pgbench, the same statements", [each.writes for each in peer])
        figure(
            f"{name}.{kind}.cpu",
            [each.cpu["server"] for each in found[0]],
            "us",
            "pgbench",
            [each.cpu for each in peer],
        )


def recorded_part(binary: str, stubs, server: Server, folder: Path) -> tuple[Statements, Statements]:
    """Returns the statements that store one part, and those that decide before whether it is accepted."""
    gateway = Gateway(binary, stubs, folder / RECORDED, variables(server, server.directory, RECORDED))
    try:
        address, requests = gateway.requests()
        with statements_logged(server):
            send_all(address, requests[: 4 * CALLERS], CALLERS)
    finally:
        gateway.process.close()
    # As before the writes.
    server.execute(f"SET search_path = {RECORDED}; DELETE FROM store_parts")
    return recorded(server, WRITE, "INTO store_parts"), recorded(server, READ, "FROM api_keys")


def copy_rows(server: Server, connection: psycopg.Connection, counters: list[str]) -> None:
    """Copies all rows of the recorded schema into tables of another database.

    :param counters: the tables whose own triggers store the rows.
    """
    with closing(server.connect("postgres")) as source:
        columns = source.execute(
            """
            SELECT c.relname::text, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(%s) AND c.relname NOT IN ('migrations', 'leases')
                AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = c.oid)
            GROUP BY c.relname
            """,
            (RECORDED,),
        ).fetchall()
        for table, names in columns:
            role = "origin" if table in counters else "replica"
            connection.execute(f"SET session_replication_role = {role}")
            reading = source.cursor().copy(f"COPY (SELECT {names} FROM {RECORDED}.{table}) TO STDOUT")
            writing = connection.cursor().copy(f"COPY {table} ({names}) FROM STDIN")
            with reading as rows, writing as target:
                for row in rows:
                    target.write(row)
    identities = connection.execute(
        "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE is_identity = 'YES'"
    ).fetchall()
    for table, column in identities:
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 0) + 1, false) FROM {table}"
        )
    connection.execute("ANALYZE")


class CounterPair:
    """Two databases with the rows of the recorded schema: in one, counters are plain rows, and in the other one versions of rows."""

    def __init__(self, server: Server, tables: sqlite3.Connection):
        self._server = server
        self._names = []
        for is_plain in (True, False):
            with closing(server.database()) as connection:
                postgres.create(connection, schema.objects(tables))
                if not is_plain:
                    postgres.complete(connection)
                copy_rows(server, connection, [] if is_plain else schema.COUNTERS)
                self._names.append(connection.info.dbname)

    def measure(self, name: str, write: Statements) -> None:
        """Compares the writes a second, and the CPU time of the server."""
        rates: list[list[Rate]] = [[], []]
        for _ in range(ROUNDS):
            for database, found in zip(self._names, rates, strict=True):
                found.append(Benchmark(self._server, database).writes(write, BATCH))
        for suffix, unit in (("writes", "writes/s"), ("cpu", "us")):
            plain, versions = ([getattr(rate, suffix) for rate in found] for found in rates)
            figure(f"metadata.postgres.counters.{name}.{suffix}", versions, unit, "counters that are plain rows", plain)


def measure_counters(binary: str, stubs) -> None:
    """Measures what the versions of counters cost the writes of a part and of a completion."""
    with on_cores({CLIENT_CORE}), Server(settings=DURABLE) as server, tempfile.TemporaryDirectory() as text:
        with closing(schema.connect()) as tables:
            schema.apply(tables)
            gateway = Gateway(binary, stubs, Path(text, RECORDED), variables(server, server.directory, RECORDED))
            try:
                upload = Upload.create(gateway.uploader)
                store = s3.client(upload.credentials)
                place = {"Bucket": upload.credentials.bucket, "Key": upload.credentials.key}
                multipart = place | {"UploadId": store.create_multipart_upload(**place)["UploadId"]}
                before_part = CounterPair(server, tables)
                with statements_logged(server):
                    etag = store.upload_part(**multipart, PartNumber=1, Body=bytes(1024))["ETag"]
                parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
                upload.etag = store.complete_multipart_upload(**multipart, MultipartUpload=parts)["ETag"]
                upload.size, upload.parts = 1024, [etag]
                before_completion = CounterPair(server, tables)
                with statements_logged(server):
                    upload.complete({"robot": "41", "run": "7", "weather": "rain"})
            finally:
                gateway.process.close()
        before_part.measure("part", recorded(server, WRITE_ALONE, "INTO store_parts"))
        completion = recorded(server, WRITE_ALONE, "INTO objects ")
        # Rows of others refer to the position, and the sequence is not rolled back.
        with closing(server.connect("postgres")) as connection:
            (position,) = connection.execute(f"SELECT max(position) FROM {RECORDED}.objects").fetchone()
        first = f"SELECT setval(pg_get_serial_sequence('objects', 'position'), {position}, false)"
        before_completion.measure("completion", [(first, []), *completion])


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
                usages: list[list[float]] = [[], []]
                loads = [each.first_page(filter) for each in lists]
                for _ in range(ROUNDS):
                    for each, load, taken, used in zip(running, loads, times, usages, strict=True):
                        usage = Usage(each, server)
                        taken.append(load.run(1, PAGES)[1])
                        cpu = usage.of_each(PAGES)
                        used.append(cpu["gateway"] + cpu["server"])
                figure(f"metadata.postgres.list.{name}", times[1], "ms", "SQLite", times[0])
                figure(f"metadata.postgres.list.{name}.cpu", usages[1], "us", "SQLite", usages[0])
            words = metadata.parts_of_names(source / "data" / "gateway.db", OBJECTS)
            found: list[list[metadata.PartTimes]] = [[], []]
            for _ in range(ROUNDS):
                for each, times in zip(lists, found, strict=True):
                    times.append(metadata.PartTimes.measured(each, words))
            for name in ("median", "p99", "unknown"):
                values = [[getattr(each, name) for each in times] for times in found]
                figure(f"metadata.postgres.parts.{name}", values[1], "ms", "SQLite", values[0])
        finally:
            for each in running:
                each.close()
            shutil.rmtree(folder, ignore_errors=True)


def main(binary: str, only: list[str]) -> None:
    with tempfile.TemporaryDirectory() as text:
        stubs = stubs_module.load(ROOT / "protos", Path(text))
        if not only or "parts" in only:
            measure_parts(binary, stubs)
        if not only or "counters" in only:
            measure_counters(binary, stubs)
        if not only or "lists" in only:
            cache = Path(os.environ.get("DATA_GATEWAY_BENCHMARK_CACHE") or text)
            cache.mkdir(exist_ok=True)
            measure_lists(binary, stubs, cache)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
