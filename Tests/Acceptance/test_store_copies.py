"""Copies of objects, which share their bytes, through backups, restores, kills and the scrubber."""

import contextlib
import os
import threading
from http.client import HTTPException

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from support import s3
from support.commands import CommandLine, offline
from support.faults import KILL, LINK, OPEN, SYNC, UNLINK, WRITE
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet
from support.static_keys import OWNER
from support.stories import Lab, Refused, response_of
from support.uploads import MIB, completed, content


@pytest.fixture
def gateway(gateway_with, tmp_path) -> Gateway:
    return gateway_with({"object_store": {"static_keys": [OWNER.setting(tmp_path)]}})


#: Links of files.
pytestmark = pytest.mark.directory


def client(gateway):
    return s3.client(OWNER.credentials(gateway, part_size=8 * MIB))


def names(gateway) -> list[str]:
    pages = client(gateway).get_paginator("list_objects_v2").paginate(Bucket="data")
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


def read(gateway, key: str) -> bytes:
    return client(gateway).get_object(Bucket="data", Key=key)["Body"].read()


def data_files(gateway) -> list:
    return [file for file in (gateway.data / "store/data").rglob("*") if file.is_file()]


@pytest.mark.sqlite
def test_copies_are_restored_from_a_backup_and_deleted_separately(binary, gateway, login, tmp_path):
    operator = CommandLine(binary, gateway, tmp_path).login()
    upload = completed(Fleet.create(login(gateway)).uploader(), content(300_000))
    store = client(gateway)
    store.copy_object(Bucket="data", Key="copy/1", CopySource=f"data/{upload.credentials.key}", Metadata={})
    store.copy_object(
        Bucket="data", Key="copy/2", CopySource="data/copy/1", MetadataDirective="REPLACE", Metadata={"a": "b"}
    )
    assert len({os.stat(file).st_ino for file in data_files(gateway)}) == 1 and len(data_files(gateway)) == 3
    archive = tmp_path / "gateway.backup"
    assert operator.json("backup", "--to", str(archive))["objects"] == 3
    store.delete_object(Bucket="data", Key="copy/1")
    store.put_object(Bucket="data", Key="copy/2", Body=b"other")
    store.copy_object(Bucket="data", Key="copy/3", CopySource=f"data/{upload.credentials.key}")
    assert gateway.stop() == 0
    # Over the live store: what the older database does not know is kept aside.
    outcome = offline(binary, "restore", "--from", archive, "--data-dir", gateway.data)
    assert outcome["quarantined"] == 2
    gateway.start()
    for key in (upload.credentials.key, "copy/1", "copy/2"):
        assert read(gateway, key) == content(300_000)
    assert client(gateway).head_object(Bucket="data", Key="copy/2")["Metadata"] == {"a": "b"}
    assert gateway.stop() == 0
    # To a new place.
    elsewhere = tmp_path / "elsewhere"
    offline(binary, "restore", "--from", archive, "--data-dir", elsewhere)
    assert [file.read_bytes() for file in (elsewhere / "store/data").rglob("*") if file.is_file()] == [
        content(300_000)
    ] * 3
    assert offline(binary, "doctor", "--data-dir", elsewhere, "--checksums")["in_order"]


@pytest.mark.parametrize("kill", range(3))
def test_kills_while_objects_are_copied_lose_and_keep_nothing(gateway, kill):
    client(gateway).put_object(Bucket="data", Key="source", Body=content(200_000))
    acknowledged: set[str] = set()
    stop = threading.Event()

    def copy(worker: int) -> None:
        store, number = client(gateway), 0
        with contextlib.suppress(ClientError, BotoCoreError):
            while not stop.is_set():
                key = f"copy/{worker}/{number}"
                store.copy_object(Bucket="data", Key=key, CopySource="data/source")
                acknowledged.add(key)
                number += 1

    workers = [threading.Thread(target=copy, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    while len(acknowledged) < 20 * (kill + 1):
        stop.wait(0.005)
    gateway.kill()
    stop.set()
    for worker in workers:
        worker.join()
    gateway.start()
    found = set(names(gateway)) - {"source"}
    # One copy of each worker may have been committed without an answer.
    assert acknowledged <= found and len(found) <= len(acknowledged) + 4
    client(gateway).delete_object(Bucket="data", Key="source")
    assert all(read(gateway, key) == content(200_000) for key in sorted(found)[:10])
    reconciled(gateway, len(found))
    assert gateway.stop() == 0
    gateway.start()
    assert gateway.stop() == 0
    assert len(data_files(gateway)) == len(found)
    assert not list((gateway.data / "store/duplicates").iterdir())
    assert not list((gateway.data / "store/quarantine").iterdir())


def compared(gateway) -> None:
    """Waits until the gateway has compared its files with its rows after a start."""
    eventually(lambda: metric(gateway, "data_gateway_store_folders_to_reconcile") == 0)


def reconciled(gateway, count: int) -> None:
    """Waits until the gateway has compared its files with its rows after a start, and only `count` files are left."""
    compared(gateway)
    eventually(lambda: len(data_files(gateway)) == count)


def copy_object(lab: Lab, source, target) -> None:
    """Copies one object of the static key to another; raises `Refused`, or the connection's error."""
    (data,) = source.contents
    target.contents.add(data)
    path = f"/{target.store.credentials.bucket}/{source.key}"
    response_of(CopyFrom(target.store, path), "PUT", key=target.key)
    target.contents = {data}


class CopyFrom:
    """A store whose requests name the source of a copy."""

    def __init__(self, store, source: str):
        self._store, self._source = store, source

    def request(self, method, query, body, key):
        return self._store.request(method, query, body, {"x-oss-copy-source": self._source}, key)


@pytest.mark.parametrize("end", ["restart", "power"])
@pytest.mark.parametrize(
    "kind",
    [OPEN, pytest.param(WRITE, marks=pytest.mark.sqlite), SYNC, LINK, UNLINK],
    ids=["open", "write", "sync", "link", "unlink"],
)
def test_a_kill_at_each_step_of_a_copy_loses_and_keeps_nothing(lab, kind, end):
    """The mark, the link, the row, and the removal of the mark; then the source is deleted, and the copy has to stay.

    With the process the power may go, and every change of names that no sync has made durable. A source's name that a power
    cut brings back is nobody's file at the next start, which quarantines it.
    """
    kept, number, was_killed = [], 0, True
    while was_killed:
        number += 1
        source, target = (lab.tools(f"tools/{name}/{number}") for name in ("source", "copy"))
        source.put(content(30_000, number))
        lab.faults.arm(kind, number, 0, path="data/", action=KILL)
        with contextlib.suppress(Refused, OSError, HTTPException):
            copy_object(lab, source, target)
        was_killed = lab.faults.failed == 1
        lab.faults.disarm()
        lab.restart() if end == "restart" else lab.cut_power()
        # The copy without a row is removed while its bytes have another name.
        compared(lab.gateway)
        source.check()
        target.check()
        source.delete()
        target.check()
        kept.append(target)
    assert number > 1
    lab.assert_sound()
    there = 0
    for target in kept:
        found = target.store.request("GET", key=target.key).status == 200
        there += found
        target.contents = {next(iter(target.contents - {None}))} if found else {None}
    reconciled(lab.gateway, there)
    assert lab.gateway.stop() == 0
    lab.gateway.start()
    for target in kept:
        target.check()
    assert lab.gateway.stop() == 0
    assert len(data_files(lab.gateway)) == there
    assert not list((lab.gateway.data / "store/duplicates").iterdir())
    if end == "restart":
        assert not list((lab.gateway.data / "store/quarantine").iterdir())
