"""Durable small writes under many callers, and pages of a list of ten million objects. With `--engine postgres`, those of a gateway with
its database on a PostgreSQL server.

The catalogs are kept in $DATA_GATEWAY_BENCHMARK_CACHE (default: a temporary folder): the large one takes about an hour to
make, and about 25 GB.
"""

import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from measuring import CLIENT_CORE, ROOT, SERVER_CORE, figure, resident_mebibytes
from support import stubs as stubs_module
from support.faults import Faults
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import Fleet, Uploader, User

ROUNDS = 3
PASSWORD = "a password of some length"
#: The numbers of calls before the first figure, for one caller, and for 64.
WARM_UP, ALONE, MANY = 5000, 500, 20_000
#: The duration of one sync of the log in the figures with delayed syncs, in microseconds.
SYNC = 4000
SMALL, LARGE = 10_000, 10_000_000
#: One of this many objects has the requested tag.
TAGGED = 100
PAGE = 100


class Load:
    """One call, repeated by h2load."""

    def __init__(self, listener: str, method: str, request, token: str):
        self.directory = tempfile.TemporaryDirectory()
        message, self.log = Path(self.directory.name) / "message", Path(self.directory.name) / "log"
        content = request.SerializeToString()
        message.write_bytes(b"\0" + len(content).to_bytes(4, "big") + content)
        self.command = ["taskset", "-c", str(CLIENT_CORE), "h2load", "-d", str(message), "--log-file", str(self.log)]
        self.command += ["-H", "te: trailers", "-H", "content-type: application/grpc"]
        self.command += ["-H", f"authorization: Bearer {token}"]
        self.url = f"http://{listener}/archebase.data_gateway.v1.{method}"

    def run(self, callers: int, calls: int) -> tuple[float, float]:
        """Returns the rate in calls a second, and the median duration of a call in milliseconds. It does not read grpc-status."""
        self.log.unlink(missing_ok=True)
        connections = min(callers, 8)
        command = [*self.command, "-n", str(calls), "-c", str(connections), "-m", str(callers // connections), self.url]
        began = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=300)
        rate = calls / (time.monotonic() - began)
        times = [int(line.split("\t")[2]) for line in self.log.read_text().splitlines()]
        assert len(times) == calls
        return rate, statistics.median(times) / 1000


def started(binary: str, directory: Path, environment: dict[str, str] | None = None) -> Gateway:
    """Starts a gateway on the server's core; this process moves to the client's."""
    ours = Gateway(Path(binary), directory, {"quota": {"device_uploads": 0}, "uploads": {"calls_per_minute": 0}})
    ours.environment = environment or {}
    os.sched_setaffinity(0, {SERVER_CORE})
    ours.start()
    os.sched_setaffinity(0, {CLIENT_CORE})
    return ours


def uploads(ours: Gateway) -> int:
    """Returns the number of uploads."""
    database = sqlite3.connect(f"file:{ours.data / 'gateway.db'}?mode=ro", uri=True)
    try:
        return database.execute("SELECT count(*) FROM uploads").fetchone()[0]
    finally:
        database.close()


def writes(binary: str, stubs, parent: str | None, name: str, delay: int) -> None:
    """64 callers compared with one, which waits for a sync at each call."""
    with tempfile.TemporaryDirectory(dir=parent) as text:
        directory = Path(text)
        faults = Faults(directory, directory / "data")
        ours = started(binary, directory, faults.environment)
        try:
            user = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
            fleet = Fleet.create(user)
            key = user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="benchmark")
            token = Uploader(ours, stubs, key.credential).sign_in().token
            request, method = stubs.gateway.CreateLogicalUploadRequest(), "DataGatewayService/CreateLogicalUpload"
            creates = Load(ours.listeners["gateway"], method, request, token)
            creates.run(64, WARM_UP)
            faults.delay = delay
            many, alone = [], []
            for _ in range(ROUNDS):
                alone.append(creates.run(1, ALONE))
                many.append(creates.run(64, MANY))
            assert uploads(ours) == WARM_UP + ROUNDS * (ALONE + MANY), "not every call made an upload"
            rates, medians = zip(*many, strict=True)
            rates_alone, medians_alone = zip(*alone, strict=True)
            figure(f"metadata.{name}.64_callers", rates, "calls/s", "one caller", rates_alone)
            figure(f"metadata.{name}.64_callers.median", medians, "ms", "one caller", medians_alone)
            figure(f"metadata.{name}.resident", [resident_mebibytes(ours.process.pid)], "MiB")
        finally:
            ours.close()


def fill(path: Path, organization: int, objects: int) -> None:
    """Inserts verified objects like CompleteUpload, by 1000 devices at 10 sites, with three tags each."""
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;")
    # Indexes are made at the end, from sorted rows; the usage that triggers count is read only at the beginning of
    # uploads, which this database does not have.
    aside = database.execute(
        """
        SELECT type, name, sql FROM sqlite_master
        WHERE type IN ('index', 'trigger') AND tbl_name IN ('objects', 'object_tags', 'object_facets')
            AND sql IS NOT NULL
        """
    ).fetchall()
    for kind, name, _ in aside:
        database.execute(f"DROP {kind} {name}")
    database.execute(
        f"""
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count)
        INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, suite_id, device_id, bucket,
            object_key, size, etag, created_at, uploaded_at, verified_at, name, content_type, tag_texts)
        SELECT printf('0197%08x-7000-8000-%012x', i, i), printf('0198%08x-7000-8000-%012x', i, i),
            printf('0199%08x-7000-8000-%012x', i, i), $organization, 1 + i % 10, 1 + i % 100,
            printf('260101-%06d', i % 1000), 'data', printf('uploads/2026/01/01/0199%08x', i), i,
            printf('"%032X-3"', i), i * 1000000, i * 1000000, i * 1000000,
            printf('run-%02d_%08d.mcap', i % {TAGGED}, i), 'application/octet-stream',
            printf('robot%s260101-%06d%srun%srun-%d%sweather%srain%s', s, i % 1000, s, s, i % {TAGGED}, s, s, s)
        FROM n CROSS JOIN (SELECT char(31) AS s)
        """,
        {"count": objects, "organization": organization},
    )
    database.execute(
        f"""
        INSERT INTO object_tags (position, key, value)
        SELECT position, key, iif(key = 'robot', device_id, iif(key = 'run', 'run-' || (position % {TAGGED}), 'rain'))
        FROM objects CROSS JOIN (SELECT 'robot' AS key UNION ALL SELECT 'run' UNION ALL SELECT 'weather')
        """
    )
    fill_search(database, organization)
    for _, _, statement in aside:
        database.execute(statement)
    database.commit()
    database.close()


#: The lengths of stored prefixes, and the length of the longest name here, 20.
CUTS = [1, 2, 3, 4, 6, 8, 12, 16, 20]


def fill_search(database: sqlite3.Connection, organization: int) -> None:
    """Fills the tables of prefixes, facets and times like CompleteUpload. The tag `robot` has the device's words."""

    def prefixes(kind: int, text: str, table: str, cuts: list[int]) -> None:
        for cut in cuts:
            database.execute(
                f"""
                INSERT OR IGNORE INTO object_prefixes (organization_id, kind, prefix, position)
                SELECT {organization}, {kind}, substr({text}, 1, {cut}), position FROM {table} ORDER BY 3, 4
                """
            )

    prefixes(1, "name", "objects", CUTS)
    prefixes(2, "device_id", "objects", [*CUTS[:7], 13])
    for key in ("run", "weather"):
        prefixes(2, "value", f"(SELECT position, value FROM object_tags WHERE key = '{key}')", CUTS[:5])
    prefixes(3, "content_type", "objects", [12, 24])
    quarter_hour = "CAST((coalesce(recorded_from, created_at) + 181440000000000000) / 900000000 AS TEXT)"
    facets = {1: "''", 2: "device_id", 3: "CAST(site_id AS TEXT)", 7: quarter_hour, 8: "content_type"}
    for kind, value in facets.items():
        database.execute(
            f"""
            INSERT INTO object_facets (organization_id, kind, key, value, objects, bytes)
            SELECT {organization}, {kind}, '', {value}, count(*), sum(size) FROM objects GROUP BY {value}
            """
        )
    for kind, key, value in ((5, "key", "value"), (6, "''", "key")):
        database.execute(
            f"""
            INSERT INTO object_facets (organization_id, kind, key, value, objects, bytes)
            SELECT {organization}, {kind}, {key}, {value}, count(*), sum(size) FROM object_tags JOIN objects USING (position)
            GROUP BY key, {value}
            """
        )
    for span in (600_000_000, 86_400_000_000):
        database.execute(
            f"""
            INSERT INTO object_times (organization_id, span, start, first_position, last_position)
            SELECT {organization}, {span}, created_at / {span}, min(position), max(position) FROM objects
            GROUP BY created_at / {span}
            """
        )


#: A page for each kind of term, and for two of them; of ten million objects, some tens to millions match.
SEARCHES = {
    "prefix": "name:run-07*",
    "word": "run-7",
    "tag": "raw_tags.run=run-7",
    "device": "device=260101-000007",
    "device_prefix": "device:260101-00000*",
    "time": "created<1970-01-05T06:07:08Z",
    "prefix_and_tag": "name:run-07* weather=rain",
    "prefix_and_device": "name:run-07* device=260101-000007",
    "prefix_and_time": "name:run-07* created<1970-01-02",
    "tag_and_device": "run=run-7 device=260101-000107",
    "tag_and_time": "run=run-7 created<1970-01-03",
    "device_and_time": "device=260101-000007 created<1970-01-05",
    "or": "run=run-7 OR device=260101-000008",
    "size": "size>=1 NOT run=run-7",
}


def searches(lists: "Lists") -> None:
    """Measures the first page of each search, and facets, of one catalog."""
    for name, filter in SEARCHES.items():
        load = lists.first_page(filter)
        figure(f"metadata.search.{name}", [load.run(1, 200)[1] for _ in range(ROUNDS)], "ms")
    for name in ("all", "tag", "prefix", "word", "device", "prefix_and_time"):
        load = lists.facets(SEARCHES.get(name, ""))
        figure(f"metadata.facets.{name}", [load.run(1, 50)[1] for _ in range(ROUNDS)], "ms")


#: Words that no name here has, although names have each three characters of some.
UNKNOWN = ["zzz", "run-99999999", "0-0", "12345678_", "mcap.run", "_run", "9.mcap0", "07_00000000.", "5555_5555", "x1"]


def parts_of_names(database: Path, objects: int) -> list[str]:
    """Returns 1,000 parts of names in a catalog, 3 to 12 characters long; the same ones each time."""
    choose = random.Random(5)
    parts = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for position in [choose.randrange(1, objects + 1) for _ in range(1000)]:
            (name,) = connection.execute("SELECT name FROM objects WHERE position = ?", (position,)).fetchone()
            length = choose.choice([3, 4, 5, 6, 8, 12])
            start = choose.randrange(len(name) - length + 1)
            parts.append(name[start : start + length])
    return parts


def duration_of_part(lists: "Lists", part: str) -> tuple[float, bool]:
    """Returns the duration in milliseconds of a part's first page, with this process as the client, and whether it has objects, or
    the next page compares further names."""
    began = time.perf_counter()
    reply = lists.user.objects("ListObjects", page_size=PAGE, filter=f'"{part}"')
    return (time.perf_counter() - began) * 1000, bool(reply.objects or reply.next_page_token)


@dataclass
class PartTimes:
    """The durations of first pages of parts of names, in milliseconds."""

    median: float
    p99: float
    #: The longest of the parts that no name has.
    unknown: float

    @classmethod
    def measured(cls, lists: "Lists", parts: list[str]) -> "PartTimes":
        times = []
        for part in parts:
            duration, found = duration_of_part(lists, part)
            assert found, part
            times.append(duration)
        unknown = max(duration_of_part(lists, part)[0] for part in UNKNOWN)
        return cls(statistics.median(times), statistics.quantiles(times, n=100)[98], unknown)


def parts(lists: "Lists", database: Path, objects: int) -> None:
    """Measures the first pages of parts of names, and the size of their index."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        (size,) = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'object_trigrams'").fetchone()
    figure("metadata.parts.bytes_per_object", [size / objects], "B")
    words = parts_of_names(database, objects)
    times = [PartTimes.measured(lists, words) for _ in range(ROUNDS)]
    figure("metadata.parts.first_page.median", [each.median for each in times], "ms")
    figure("metadata.parts.first_page.p99", [each.p99 for each in times], "ms")
    figure("metadata.parts.unknown.longest", [each.unknown for each in times], "ms")


def index_names(binary: str, directory: Path) -> None:
    """Lets a gateway write the index of the names, as after an upgrade."""
    database = directory / "data" / "gateway.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            """
            INSERT OR REPLACE INTO object_trigram_range (id, first_position, end_position)
            SELECT 1, max(position) + 1, max(position) + 1 FROM objects
            """
        )
    ours = started(binary, directory)
    try:
        while True:
            with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
                (first,) = connection.execute("SELECT first_position FROM object_trigram_range").fetchone()
            if first == 0:
                return
            time.sleep(1)
    finally:
        ours.close()


def catalog(binary: str, stubs, cache: Path, objects: int) -> Path:
    """Returns a data directory with that many objects; it is made once."""
    directory = cache / f"{objects}-objects"
    if not (directory / "complete").exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        ours = started(binary, directory)
        admin = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
        fields = {"organization": "field", "bootstrap_admin_user_name": "boss", "bootstrap_admin_password": PASSWORD}
        boss = admin.admin("CreateOrganization", **fields).bootstrap_admin
        ours.close()
        fill(ours.data / "gateway.db", boss.organization_id, objects)
        index_names(binary, directory)
        (directory / "complete").touch()
    return directory


class Lists:
    """ListObjects on one catalog."""

    def __init__(self, ours: Gateway, stubs):
        self.gateway, self.user = ours, User.login(ours, stubs, "field", "boss", PASSWORD)
        self.request, self.stubs = stubs.gateway.ListObjectsRequest, stubs

    def first_page(self, filter: str) -> Load:
        request = self.request(page_size=PAGE, filter=filter)
        reply = self.user.objects("ListObjects", page_size=PAGE, filter=filter)
        assert reply.objects, filter
        listener = self.gateway.listeners["gateway"]
        return Load(listener, "DataGatewayObjectService/ListObjects", request, self.user.token)

    def facets(self, filter: str) -> Load:
        request = self.stubs.gateway.GetObjectFacetsRequest(filter=filter)
        assert self.user.object_management("GetObjectFacets", filter=filter).count
        listener = self.gateway.listeners["admin"]
        return Load(listener, "ObjectManagementService/GetObjectFacets", request, self.user.token)

    def page(self, filter: str, number: int) -> Load:
        """Returns the page of that number, counted from 1, for repeated requests."""
        token = ""
        for _ in range(number):
            request = {"page_size": PAGE, "filter": filter, "page_token": token}
            reply = self.user.objects("ListObjects", **request)
            assert len(reply.objects) == PAGE
            token = reply.next_page_token
        listener = self.gateway.listeners["gateway"]
        return Load(listener, "DataGatewayObjectService/ListObjects", self.request(**request), self.user.token)


def pages(binary: str, stubs, cache: Path) -> None:
    """Compares the same pages of both catalogs, one after the other."""
    running = {}
    try:
        for objects in (SMALL, LARGE):
            directory = catalog(binary, stubs, cache, objects)
            starts = []
            for _ in range(ROUNDS):
                began = time.monotonic()
                ours = started(binary, directory)
                starts.append(time.monotonic() - began)
                if len(starts) < ROUNDS:
                    ours.close()
            running[objects] = ours
            figure(f"metadata.start.{objects}_objects", starts, "s")
        lists = {objects: Lists(ours, stubs) for objects, ours in running.items()}
        for name, filter in [("unfiltered", ""), ("tag", "raw_tags.run=run-7")]:
            # The small catalog has a hundred pages, and one page for a tag.
            for page, beside in [(1, 1), (1000, 100 if not filter else 1)]:
                loads = {LARGE: lists[LARGE].page(filter, page), SMALL: lists[SMALL].page(filter, beside)}
                times = {LARGE: [], SMALL: []}
                for _ in range(ROUNDS):
                    for objects in (SMALL, LARGE):
                        times[objects].append(loads[objects].run(1, 500)[1])
                peer = f"{SMALL} objects, page {beside}"
                figure(f"metadata.page_{page}.{name}", times[LARGE], "ms", peer, times[SMALL])
        searches(lists[LARGE])
        # All match, and are neighbors in the table.
        dense = lists[SMALL].facets("weather=rain")
        figure(f"metadata.facets.dense.{SMALL}", [dense.run(1, 50)[1] for _ in range(ROUNDS)], "ms")
        parts(lists[LARGE], running[LARGE].data / "gateway.db", LARGE)
        figure("metadata.lists.resident", [resident_mebibytes(running[LARGE].process.pid)], "MiB")
    finally:
        for ours in running.values():
            ours.close()


def main(binary: str) -> None:
    with tempfile.TemporaryDirectory() as text:
        stubs = stubs_module.load(ROOT / "protos", Path(text))
        writes(binary, stubs, None, "create_on_disk", 0)
        writes(binary, stubs, "/dev/shm", "create_with_4_ms_a_sync", SYNC)
        cache = os.environ.get("DATA_GATEWAY_BENCHMARK_CACHE")
        pages(binary, stubs, Path(cache or text))


if __name__ == "__main__":
    if sys.argv[2:4] == ["--engine", "postgres"]:
        import metadata_server

        metadata_server.main(sys.argv[1], sys.argv[4:])
    else:
        main(sys.argv[1])
