"""The speed of writes, and the size of the tables, of a gateway with its database on a server, while backups and snapshots exist."""

import itertools
import json
import os
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from engines.postgres import Server
from support import database_engine
from support.client import SignedIn
from support.gateway import Gateway
from support.monitoring import metric
from support.parties import Fleet
from support.uploads import completed, content

pytestmark = pytest.mark.sqlite

#: The settings of a server that keeps what it acknowledges, and that removes dead rows.
SETTINGS = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}
CALLERS = 8
#: The duration in minutes, of which a snapshot is open for a third.
MINUTES = float(os.environ.get("LAB_MINUTES", "30"))
REPORTS = Path(__file__).resolve().parents[2] / ".build" / "lab"
WRITES = "data_gateway_database_writes_total"
TABLES = """
    SELECT relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup FROM pg_stat_user_tables
    WHERE pg_total_relation_size(relid) > 1000000 OR n_dead_tup > 1000 ORDER BY 2 DESC
"""


class Uploads:
    """Callers that upload small files until they are told to end."""

    def __init__(self, fleet: Fleet):
        self.failures: list[str] = []
        self.count = 0
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(fleet, number)) for number in range(CALLERS)]
        for thread in self._threads:
            thread.start()

    def _run(self, fleet: Fleet, number: int) -> None:
        uploader = fleet.uploader()
        try:
            for seed in itertools.count(number * 10_000_000):
                if self._ending.is_set():
                    return
                # The token ends before the test does.
                if seed % 1000 == 999:
                    uploader.sign_in()
                completed(uploader, content(1000, seed))
                self.count += 1
        except Exception as error:
            # The other callers are of no use without this one.
            self.failures.append(repr(error))
            self._ending.set()

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()


def repeated_backups(binary, gateway: Gateway, folder: Path, ending: threading.Event) -> None:
    operator, number = SignedIn(binary, gateway, folder), 0
    while not ending.is_set():
        number += 1
        archive = folder / f"archive-{number}"
        operator.done("backup", "--without-objects", "--to", str(archive))
        archive.unlink()


def test_speed_of_writes_stays_beside_a_backup_and_a_snapshot(binary, gateway_with, login, tmp_path, is_full):
    if not is_full:
        pytest.skip("takes half an hour: scripts/lab database_growth")
    with Server(settings=SETTINGS) as server:
        gateway = gateway_with({"uploads": {"calls_per_minute": 0}}, database_engine.variables(server, "growth"))
        uploads, ending = Uploads(Fleet.create(login(gateway))), threading.Event()
        backups = threading.Thread(target=repeated_backups, args=(binary, gateway, tmp_path, ending))
        backups.start()
        windows, minute = [], MINUTES / 30 * 60
        try:
            with closing(server.connect("postgres")) as snapshot:
                for window in range(6):
                    if window == 2:
                        snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                        snapshot.execute("SELECT count(*) FROM growth.audit")
                    if window == 4:
                        snapshot.execute("COMMIT")
                    before, begin = metric(gateway, WRITES), time.monotonic()
                    time.sleep(5 * minute)
                    windows.append((metric(gateway, WRITES) - before) / (time.monotonic() - begin))
        finally:
            ending.set()
            uploads.end()
            backups.join()
        with closing(server.connect("postgres")) as connection:
            tables = connection.execute(TABLES).fetchall()
        REPORTS.mkdir(parents=True, exist_ok=True)
        report = {"writes_a_second": windows, "uploads": uploads.count, "tables": tables}
        (REPORTS / "database_growth.json").write_text(json.dumps(report, indent=2))
        print(json.dumps(report))
        assert gateway.stop() == 0
    assert uploads.failures == []
    assert min(windows[2:4]) >= 0.5 * windows[0], windows
    assert windows[-1] >= 0.8 * windows[0], windows
