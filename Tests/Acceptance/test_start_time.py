"""The time of a start does not depend on the number of files: after a clean stop they are not compared, and otherwise
in the background.
"""

import os
import shutil
import sqlite3
import time

import pytest
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet
from support.uploads import Upload, completed, content

pytestmark = pytest.mark.sqlite

#: The numbers of objects with files, and of rows without; the longest start in seconds (long form).
SHORT, FULL, FULL_ROWS = 2000, 1_000_000, 10_000_000
CLEAN_SECONDS, KILLED_SECONDS, STOP_SECONDS = 2, 10, 2


@pytest.fixture
def gateway(binary, tmp_path):
    gateway = Gateway(binary, tmp_path, {"scrub": {"bytes_per_second": 0}})
    yield gateway.start()
    gateway.close()
    # A million files are not kept for later.
    shutil.rmtree(gateway.data)


def multiply(gateway: Gateway, count: int, tables: dict[str, dict[str, str]]) -> None:
    """Copies the rows of a stopped gateway's only object, and its file if `store_objects` is among the tables."""
    database = sqlite3.connect(gateway.data / "gateway.db")
    # Data lost in a power cut is created again by the next run.
    for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "cache_size = -1048576", "temp_store = FILE"):
        database.execute(f"PRAGMA {pragma}")
    # Ids in ascending order, so that indexes and folders are written sequentially.
    database.execute(
        f"""CREATE TEMP TABLE copies AS
            WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count - 1})
            SELECT n, printf('%08x', n * {2**32 // count}) || lower(hex(randomblob(12))) AS file FROM numbers"""
    )
    for table, changed in tables.items():
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
        database.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM copies, (SELECT * FROM {table} LIMIT 1) AS t"
        )
    database.commit()
    if "store_objects" in tables:
        data = gateway.data / "store/data"
        body = next(data.glob("*/*")).read_bytes()
        for (file_id,) in database.execute("SELECT file FROM copies"):
            file = os.open(data / file_id[:2] / file_id, os.O_CREAT | os.O_WRONLY, 0o400)
            os.write(file, body)
            os.close(file)
    database.execute("PRAGMA journal_mode = WAL")
    database.close()


UPLOADS = {
    "logical_uploads": {"id": "'logical-' || n"},
    "uploads": {"id": "'copy-' || n", "logical_id": "'logical-' || n", "object_key": "'copies/' || n"},
}
OBJECTS = UPLOADS | {
    "store_objects": {"object_key": "'copies/' || n", "upload_id": "'copy-' || n", "file_id": "file"},
    "objects": {
        "position": "n + 10",
        "id": "'object-' || n",
        "file_id": "file",
        "upload_id": "'copy-' || n",
        "object_key": "'copies/' || n",
    },
    "object_tags": {"position": "n + 10"},
}


def agree(gateway: Gateway) -> None:
    """Makes a gateway compare everything, and stop."""
    gateway.start()
    eventually(lambda: metric(gateway, "data_gateway_store_folders_to_reconcile") == 0, seconds=3600)
    assert gateway.stop() == 0


def seconds_to_start(gateway: Gateway) -> float:
    began = time.monotonic()
    gateway.start()
    return time.monotonic() - began


def comparisons(gateway: Gateway) -> int:
    """Returns how often a start began to compare the store with the database."""
    return gateway.stderr.count('the last shutdown was unclean"')


@pytest.fixture
def stopped(gateway, login):
    """A stopped gateway with one object."""
    completed(Fleet.create(login(gateway)).uploader(), content(100), {"run": "start"})
    assert gateway.stop() == 0
    return gateway


def test_only_a_start_after_no_clean_stop_looks_at_files(stopped):
    gateway = stopped
    multiply(gateway, SHORT, OBJECTS)
    # The folders have changed since the stop.
    agree(gateway)
    # The first start ever is the other one.
    assert comparisons(gateway) == 2
    gateway.start()
    assert metric(gateway, "data_gateway_store_folders_to_reconcile") == 0
    gateway.kill()
    assert comparisons(gateway) == 2
    agree(gateway)
    assert comparisons(gateway) == 3
    assert "the store was reconciled with the database" not in gateway.stderr


def test_a_killed_gateway_serves_while_it_compares(stopped, login):
    gateway = stopped
    multiply(gateway, SHORT, OBJECTS)
    gateway.start()
    gateway.kill()
    gateway.start()
    # Whatever part of it is done by now.
    uploader = Fleet.create(login(gateway)).uploader()
    uploads = [Upload.create(uploader).put(content(100, seed=seed)) for seed in range(20)]
    eventually(lambda: metric(gateway, "data_gateway_store_folders_to_reconcile") == 0)
    for seed, upload in enumerate(uploads):
        assert upload.store.get() == content(100, seed=seed)
    assert "the store was reconciled with the database" not in gateway.stderr


@pytest.mark.parametrize("rows", ["objects", "uploads"])
def test_a_start_takes_seconds(stopped, is_full, rows):
    if not is_full:
        pytest.skip("makes a million objects: scripts/lab start_time")
    gateway = stopped
    multiply(gateway, *((FULL, OBJECTS) if rows == "objects" else (FULL_ROWS // len(UPLOADS), UPLOADS)))
    agree(gateway)
    size = (gateway.data / "gateway.db").stat().st_size
    clean = [seconds_to_start(gateway)]
    for _ in range(2):
        assert gateway.stop() == 0
        clean.append(seconds_to_start(gateway))
    killed, stops = [], []
    for _ in range(3):
        gateway.kill()
        killed.append(seconds_to_start(gateway))
        # During the comparison.
        began = time.monotonic()
        assert gateway.stop() == 0
        stops.append(time.monotonic() - began)
        gateway.start()
    gateway.kill()
    gateway.start()
    began = time.monotonic()
    eventually(lambda: metric(gateway, "data_gateway_store_folders_to_reconcile") == 0, seconds=3600)
    print(
        f"\n{rows}: a database of {size / 2**20:.0f} MiB; starts after a clean stop {clean}, after a kill {killed}, "
        f"stops meanwhile {stops}, comparing {time.monotonic() - began} s"
    )
    assert max(clean) < CLEAN_SECONDS and max(killed) < KILLED_SECONDS and max(stops) < STOP_SECONDS
