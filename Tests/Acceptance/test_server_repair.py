"""The doctor, restores and migrations of a gateway whose database is on a PostgreSQL server."""

import json
import os
import shutil
from contextlib import closing

import pytest
from engines.postgres import Server
from support import database_engine, process
from support.client import SignedIn
from support.commands import OK, REFUSED, offline
from support.gateway import Gateway, eventually
from support.parties import Fleet, unique
from support.uploads import completed, content, download

#: The databases of this file are on a server in every run.
pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


@pytest.fixture
def place(postgres) -> dict[str, str]:
    """The variables for a schema of the test's own."""
    return database_engine.variables(postgres, unique("repair").replace("-", "_"))


@pytest.fixture
def gateway(gateway_with, place) -> Gateway:
    return gateway_with(None, place)


def doctor(gateway: Gateway, *options, code: int = OK) -> dict:
    command = ("doctor", "--data-dir", gateway.data, "--config", gateway.config, *options)
    return offline(gateway.binary, *command, code=code, environment=gateway.environment)


def refusal(gateway: Gateway, *command) -> str:
    return process.run(gateway.binary, *command, code=REFUSED, env=os.environ | gateway.environment).stderr


def test_doctor_examines_a_database_on_a_server(gateway, login):
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    for seed in range(3):
        completed(uploader, content(5000, seed))
    ids = [entry.file_id for entry in user.list_all()]
    assert gateway.stop() == 0
    assert doctor(gateway, "--checksums")["in_order"]
    path = gateway.data / "store/data" / ids[1][:2] / ids[1]
    path.rename(kept := path.with_name("kept"))
    report = doctor(gateway, code=REFUSED)
    assert report["missing"] == {"count": 1, "file_ids": [ids[1]]} and not report["in_order"]
    kept.rename(path)
    with open(path, "r+b") as file:
        file.write(b"\xff\x00")
    assert doctor(gateway)["in_order"]
    assert doctor(gateway, "--checksums", code=REFUSED)["damaged"]["file_ids"] == [ids[1]]
    gateway.start()


def test_archive_is_restored_to_a_server_and_later_objects_are_listed_again(
    gateway, login, place, postgres, tmp_path, binary
):
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    contents = [content(5000, seed) for seed in range(4)]
    for data in contents[:3]:
        completed(uploader, data)
    archive = tmp_path / "archive"
    SignedIn(binary, gateway, tmp_path).done("backup", "--to", str(archive))
    earlier = {entry.file_id for entry in user.list_all()}
    completed(uploader, contents[3])
    ids = [entry.file_id for entry in user.list_all()]
    assert gateway.stop() == 0
    restore = ("restore", "--from", archive, "--data-dir", gateway.data, "--config", gateway.config)
    before = sorted(path for path in gateway.data.rglob("*"))
    assert "has tables: name a new schema in database.schema" in refusal(gateway, *restore)
    assert sorted(path for path in gateway.data.rglob("*")) == before

    gateway.environment |= database_engine.variables(postgres, "another")
    assert "is on a server" in refusal(gateway, *restore)
    postgres.execute(f'DROP SCHEMA "{place["DATA_GATEWAY_DATABASE__SCHEMA"]}" CASCADE')
    gateway.environment |= place
    done = offline(binary, *restore, environment=gateway.environment)
    assert done["objects"] == 3 and done["already_there"] == 3 and done["quarantined"] == 1
    assert done["database"].endswith(place["DATA_GATEWAY_DATABASE__SCHEMA"])
    assert (gateway.data / "database").read_text().strip() == done["database"]
    assert not (gateway.data / "gateway.db").exists()

    report = doctor(gateway, code=REFUSED)
    assert [file["file_id"] for file in report["quarantined"]] == list(set(ids) - earlier)
    assert [file["problem"] for file in doctor(gateway, "--readopt", "all")["taken_in"]] == [None]
    gateway.start()
    user = login(gateway)
    assert sorted(entry.file_id for entry in user.list_all()) == sorted(ids)
    assert {download(user, file_id) for file_id in ids} == set(contents)


def test_archive_of_a_file_is_restored_to_a_server(gateway_with, login, place, tmp_path, binary):
    source = gateway_with(None)
    user = login(source)
    completed(Fleet.create(user).uploader(), data := content(5000))
    archive = tmp_path / "archive"
    SignedIn(binary, source, tmp_path).done("backup", "--to", str(archive))
    (folder := tmp_path / "target").mkdir()
    target = Gateway(binary, folder)
    target.environment |= place
    command = ("restore", "--from", archive, "--data-dir", target.data, "--config", target.config)
    assert offline(binary, *command, environment=target.environment)["objects"] == 1
    target.start()
    user = login(target)
    assert [download(user, entry.file_id) for entry in user.list_all()] == [data]
    assert target.stop() == 0


def test_a_gateway_that_serves_is_not_examined(gateway, binary, tmp_path):
    assert "in use by another gateway" in refusal(
        gateway, "doctor", "--data-dir", gateway.data, "--config", gateway.config
    )
    # Not even with a copy of its keys on another machine, which has another lock.
    copy = tmp_path / "copy"
    shutil.copytree(gateway.data, copy)
    command = ("doctor", "--data-dir", copy, "--config", gateway.config)
    assert "the database is in use by another gateway (process" in refusal(gateway, *command)


def test_support_bundle_examines_a_stopped_gateway(gateway, binary, tmp_path):
    assert gateway.stop() == 0
    bundle = tmp_path / "bundle.json"
    command = ("support-bundle", "--to", bundle, "--data-dir", gateway.data, "--config", gateway.config)
    process.run(binary, *command, env=os.environ | gateway.environment)
    assert json.loads(bundle.read_text())["doctor"]["in_order"]


def test_migrate_command_keeps_a_current_schema(gateway, binary, postgres, tmp_path):
    command = ("database", "migrate", "--config", gateway.config)
    done = offline(binary, *command, environment=gateway.environment)
    assert done["applied"] == [] and done["place"].startswith("postgresql://")
    schema = gateway.environment["DATA_GATEWAY_DATABASE__SCHEMA"]
    # A program of a later release has added what this one does not notice.
    add = f'INSERT INTO "{schema}".migrations VALUES (%s, 1000, %s)'
    postgres.execute(add % ("'later-1'", "''"))
    gateway.stop()
    gateway.start()
    assert offline(binary, *command, environment=gateway.environment)["applied"] == []
    postgres.execute(add % ("'later-2'", "NULL"))
    assert "written by a newer version" in refusal(gateway, *command)
    postgres.execute(f"DELETE FROM \"{schema}\".migrations WHERE name = 'later-2'")
    gateway.environment |= database_engine.variables(postgres, unique("empty").replace("-", "_"))
    assert "has no tables: a gateway creates them when it starts" in refusal(gateway, *command)
    assert "has no database.url" in process.run(binary, *command, code=REFUSED).stderr


def test_database_of_an_earlier_time_gets_its_later_objects(gateway_with, login):
    """A recovery of the server to a point in time, over the store as it is now."""
    with Server() as server:
        gateway = gateway_with(None, database_engine.variables(server, "gateway"))
        user = login(gateway)
        uploader = Fleet.create(user).uploader()
        completed(uploader, content(5000))
        assert gateway.stop() == 0
        with closing(server.connect("template1")) as connection:
            connection.execute("CREATE DATABASE earlier TEMPLATE postgres")
        gateway.start()
        user = login(gateway)
        completed(uploader, later := content(6000, seed=1))
        ids = {entry.file_id for entry in user.list_all()}
        assert gateway.stop() == 0
        gateway.environment["DATA_GATEWAY_DATABASE__URL"] = database_engine.uri(server.url("earlier"))
        gateway.start()
        assert eventually(lambda: "the database and the store were not last used together" in gateway.stderr)
        assert len(login(gateway).list_all()) == 1
        assert gateway.stop() == 0
        assert not doctor(gateway, code=REFUSED)["same_age"]
        doctor(gateway, "--reconcile", "--readopt", "all", "--checksums")
        gateway.start()
        user = login(gateway)
        assert {entry.file_id for entry in user.list_all()} == ids
        assert later in {download(user, file_id) for file_id in ids}
        assert gateway.stop() == 0
