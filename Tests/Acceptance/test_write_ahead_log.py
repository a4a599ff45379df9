"""The database's write-ahead log beside a program of an operator that reads the database."""

import subprocess
import sys

import pytest
from support.gateway import eventually
from support.monitoring import log, logged, metric
from support.operators_store import Store
from support.uploads import MIB
from support.waiting import WAIT_SECONDS

pytestmark = pytest.mark.sqlite

# Reads the file whose path is the argument, in a transaction that lasts until standard input ends.
READER = """
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
database.execute("BEGIN")
database.execute("SELECT count(*) FROM sqlite_schema").fetchall()
print("reads", flush=True)
sys.stdin.read()
"""
BLOCKED = "another program reads the database and keeps its write-ahead log from shrinking"


def test_a_foreign_reader_of_the_database_is_reported(gateway_with, login, tmp_path):
    store = Store.start(gateway_with, login, tmp_path)
    gateway, client = store.gateway, store.client()

    def blocked() -> float:
        return metric(gateway, "data_gateway_database_wal_blocked_seconds", reader="other")

    def is_reported() -> bool:
        client.put_object(Bucket="data", Key=f"objects/{len(written)}", Body=b"x")
        written.append(len(written))
        return len(written) % 50 == 0 and any(line["event"] == BLOCKED for line in log(gateway))

    written = []
    assert blocked() == 0
    program = [sys.executable, "-c", READER, gateway.data / "gateway.db"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "reads\n"
        eventually(is_reported, every=0)
        line = logged(gateway, event=BLOCKED)
        assert line["level"] == "warning" and int(line["bytes"]) >= 30 * MIB
        assert f"fuser -v {gateway.data / 'gateway.db'}" in line["hint"]
        assert metric(gateway, "data_gateway_database_wal_bytes") >= int(line["bytes"])
        eventually(lambda: blocked() > 0)
        reader.communicate(timeout=WAIT_SECONDS)
    logged(gateway, event="the database's write-ahead log can shrink again")
    assert blocked() == 0

    def is_small() -> bool:
        client.put_object(Bucket="data", Key="objects/last", Body=b"x")
        return metric(gateway, "data_gateway_database_wal_bytes") <= 17 * MIB

    eventually(is_small)
    logged(gateway, event=BLOCKED)
