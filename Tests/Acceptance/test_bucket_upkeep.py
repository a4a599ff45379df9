"""Databases that are older than the bucket with their objects, and what the doctor makes of them.

The bucket is that of another gateway, with its objects in its data directory.
"""

import shutil
import sqlite3
from pathlib import Path

import grpc
import pytest
from support.commands import OK, REFUSED, CommandLine, offline
from support.database import rows
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, User, unique
from support.uploads import FILE_NAME_TAG, Upload, completed, content, download

PART_SIZE = 65536
UPLOADS = {"uploads": {"part_size_bytes": PART_SIZE}}
KEY, SECRET, BUCKET = "engine", "engine-secret-of-a-test", "data"
OFF = "the database and the bucket do not belong together"


@pytest.fixture
def engine(gateway_with) -> Gateway:
    """Returns the gateway whose object store has the bucket."""
    key = {"id": KEY, "secret_env": "ENGINE_SECRET", "access": "write"}
    return gateway_with({"object_store": {"static_keys": [key]}}, environment={"ENGINE_SECRET": SECRET})


@pytest.fixture
def gateway(gateway_with, engine):
    objects = {
        "engine": "s3",
        "endpoint": f"http://{engine.object_store}",
        "bucket": BUCKET,
        "prefix": "gateway",
        "credentials": "environment",
        "retry_budget": 1,
    }
    gateway = gateway_with({**UPLOADS, "objects": objects}, environment=credentials())
    yield gateway
    # Before its bucket is gone.
    gateway.close()


def credentials() -> dict[str, str]:
    return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def keys(engine: Gateway, kind: str) -> list[str]:
    found = rows(engine, "SELECT object_key FROM store_objects ORDER BY object_key")
    return [key for (key,) in found if key.startswith(f"gateway/{kind}")]


@pytest.fixture
def doctor(binary, gateway):
    """Returns the doctor of the stopped gateway."""

    def run(*options, code: int = OK) -> dict:
        command = ["doctor", "--objects", "--data-dir", gateway.data, "--config", gateway.config, *options]
        return offline(binary, *command, code=code, environment=credentials())

    return run


def set_database(gateway: Gateway, source: Path) -> None:
    for end in ("", "-wal", "-shm"):
        (gateway.data / f"gateway.db{end}").unlink(missing_ok=True)
    shutil.copy(source, gateway.data / "gateway.db")


def live_copy(gateway: Gateway, target: Path) -> Path:
    """Copies the database of a gateway that serves, as Litestream does."""
    with sqlite3.connect(gateway.data / "gateway.db") as source, sqlite3.connect(target) as copy:
        source.backup(copy)
    return target


def objects(user: User, run: str) -> dict[str, tuple]:
    """Returns the listed objects by id: the name, the device, the tags and the bytes."""
    found = {}
    for listed in user.list_all(filter=f"raw_tags.run={run}"):
        shown = user.object_management("GetObject", file_id=listed.file_id)
        data = download(user, listed.file_id)
        found[listed.file_id] = (shown.object.name, shown.device_id, dict(shown.tags), data)
    return found


def complete(uploader, run: str, index: int) -> None:
    data = content(2 * PART_SIZE + index, seed=index + 1)
    upload = Upload.create(uploader)
    (upload.multipart if index % 2 else upload.put)(data)
    upload.complete({"run": run, "index": str(index), FILE_NAME_TAG: f"drive-{index}.mcap"})


@pytest.mark.sqlite
def test_uploads_that_an_older_database_lacks_are_listed_again(gateway, engine, login, doctor, tmp_path):
    uploader, run = Fleet.create(login(gateway)).uploader(), unique("run")
    complete(uploader, run, 0)
    # In progress when the copy is made, and completed afterwards.
    begun = Upload.create(uploader)
    multipart_id = begun.store.initiate()
    begun.send_parts(content(2 * PART_SIZE, seed=50), multipart_id)
    older = live_copy(gateway, tmp_path / "older.db")
    begun.etag = begun.store.complete(multipart_id, begun.parts)
    begun.complete({"run": run})
    for index in range(1, 4):
        complete(uploader, run, index)
    before = objects(login(gateway), run)
    assert len(before) == len(keys(engine, "facts")) == 5 and gateway.stop() == 0
    stored = keys(engine, "data")
    set_database(gateway, older)
    gateway.start()
    eventually(lambda: OFF in gateway.stderr)
    assert metric(gateway, "data_gateway_object_engine_removals_off") == 1
    assert len(objects(login(gateway), run)) == 1
    assert gateway.stop() == 0 and keys(engine, "data") == stored
    report = doctor(code=REFUSED)
    assert not report["same_age"] and len(report["unlisted"]) == 4 and report["missing"]["count"] == 0
    treated = doctor("--readopt", "all")
    assert treated["in_order"] and len(treated["taken_in"]) == 4
    errors = len(gateway.stderr)
    gateway.start()
    assert objects(login(gateway), run) == before
    uploader.sign_in()
    assert begun.recovery().oss_object_etag == begun.etag
    # Removals are executed again.
    user = login(gateway)
    for file_id in before:
        for method in ("DeleteObject", "PurgeObject"):
            user.object_management(method, file_id=file_id, reason="")
    eventually(lambda: keys(engine, "data") == keys(engine, "facts") == [])
    assert OFF not in gateway.stderr[errors:]


def test_a_completion_is_not_acknowledged_without_its_facts(gateway, engine, login):
    upload = Upload.create(Fleet.create(login(gateway)).uploader()).put(content(1000))
    engine.stop()
    with pytest.raises(grpc.RpcError) as error:
        upload.complete()
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    engine.start()
    upload.complete()
    assert len(keys(engine, "facts")) == 1


@pytest.mark.sqlite
def test_a_copy_without_the_last_completion_removes_nothing(gateway, engine, login, doctor, tmp_path):
    uploader, run = Fleet.create(login(gateway)).uploader(), unique("run")
    complete(uploader, run, 0)
    older = live_copy(gateway, tmp_path / "older.db")
    complete(uploader, run, 1)
    before = objects(login(gateway), run)
    stored = keys(engine, "")
    gateway.kill()
    set_database(gateway, older)
    gateway.start()
    eventually(lambda: OFF in gateway.stderr)
    gateway.kill()
    assert [key for key in stored if key not in keys(engine, "")] == []
    # Without a repair the uploads go into quarantine, and can be listed later.
    reconciled = doctor("--reconcile", code=REFUSED)
    assert reconciled["settled"] == 1 and reconciled["same_age"] and len(reconciled["quarantined"]) == 1
    (file,) = reconciled["quarantined"]
    assert doctor("--readopt", file["file_id"])["in_order"]
    gateway.start()
    assert objects(login(gateway), run) == before


def test_another_gateway_is_refused_on_the_prefix(binary, gateway, login, tmp_path):
    completed(Fleet.create(login(gateway)).uploader(), content(1000))
    assert gateway.stop() == 0
    directory = tmp_path / "another"
    directory.mkdir()
    another = Gateway(binary, directory, UPLOADS)
    another.config.write_bytes(gateway.config.read_bytes())
    another.environment |= credentials()
    with pytest.raises(AssertionError):
        another.start()
    assert "has the objects of another gateway" in another.stderr


@pytest.mark.sqlite
def test_metadata_are_restored_over_a_live_bucket(binary, gateway, engine, login, doctor, tmp_path):
    uploader, run = Fleet.create(login(gateway)).uploader(), unique("run")
    complete(uploader, run, 0)
    archive = tmp_path / "metadata.backup"
    CommandLine(binary, gateway, tmp_path).login().run("backup", "--to", archive, "--without-objects")
    complete(uploader, run, 1)
    before = objects(login(gateway), run)
    assert gateway.stop() == 0
    shutil.rmtree(gateway.data)
    offline(binary, "restore", "--from", archive, "--data-dir", gateway.data, "--keep-bucket")
    gateway.start()
    eventually(lambda: OFF in gateway.stderr)
    assert len(objects(login(gateway), run)) == 1 and gateway.stop() == 0
    assert doctor("--readopt", "all", "--checksums")["in_order"]
    gateway.start()
    assert objects(login(gateway), run) == before
