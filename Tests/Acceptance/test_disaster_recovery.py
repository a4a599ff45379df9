"""A service that loses all its machines is recovered on others from a copy of the database's server, the bucket and the root key, by
the steps of docs/scale-out.md; `scripts/lab disaster_recovery`."""

import dataclasses
import shutil
import subprocess

import pytest
from engines.postgres import Server
from support import database_engine
from support.buckets import Bucket
from support.gateway import eventually
from support.parties import Fleet
from support.replicas import Replicas
from support.uploads import MIB, Upload, content, download, fresh_seeds
from support.waiting import WAIT_SECONDS

pytestmark = pytest.mark.sqlite


def service(binary, server: Server, bucket: Bucket, folder) -> Replicas:
    place = {"url": database_engine.uri(server.url("postgres")), "schema": "service"}
    return Replicas(binary, place, bucket.settings("service"), folder, uploads={"part_size_bytes": MIB})


def uploaded(uploader) -> tuple[str, bytes]:
    """Uploads an object in parts, and returns its ETag and its bytes."""
    data = content(2 * MIB + 5, next(fresh_seeds))
    upload = Upload.create(uploader).multipart(data)
    upload.complete()
    return upload.etag, data


def has_started(gateway) -> bool:
    """Starts a gateway, unless the prefix of the bucket is still that of the lost ones, which have not renewed it for a while."""
    try:
        gateway.start()
    except AssertionError as failure:
        print(failure)
        return False
    return True


def reported(binary, doctor: list) -> subprocess.CompletedProcess | None:
    """Runs the doctor; `None` if other gateways may use the database."""
    done = subprocess.run([binary, *doctor], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    return None if "the database is in use" in done.stderr else done


def test_a_lost_service_is_recovered_on_other_machines(binary, gateway_with, login, tmp_path, is_full):
    if not is_full:
        pytest.skip("--full")
    bucket = Bucket.start(gateway_with, tmp_path)
    (folder := tmp_path / "lost").mkdir()
    with Server() as lost, Server(lost) as restored:
        replicas = service(binary, lost, bucket, folder)
        try:
            replicas.start()
            fleet = Fleet.create(login(replicas.service))
            uploader = fleet.uploader()
            objects = dict([uploaded(uploader)])
            # The restore point: what comes later is in the bucket only.
            with lost.connect("postgres") as connection:
                (position,) = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            eventually(lambda: restored.has_replayed(position))
            restored.kill()
            objects |= dict([uploaded(uploader)])
            for gateway in replicas.gateways.values():
                gateway.kill()
        finally:
            replicas.close()
        lost.kill()
        restored.serve_alone()

        (folder := tmp_path / "recovered").mkdir()
        shutil.copy(tmp_path / "lost/root.key", folder / "root.key")
        replicas = service(binary, restored, bucket, folder)
        try:
            place = replicas.gateways["a"]
            eventually(lambda: has_started(place), every=2)
            # It serves, and removes nothing: the bucket has an upload that the database does not list.
            assert place.stop() == 0
            assert "the database and the bucket do not belong together" in place.stderr
            doctor = ["doctor", "--objects", "--data-dir", place.data, "--config", place.config]
            # The rights of the lost gateways to the schema end after 30 seconds.
            found = eventually(lambda: reported(binary, doctor), every=2)
            assert found.returncode == 1 and "completed but not listed" in found.stdout, found
            # Both end with 1: segments that the lost gateways have merged stay in the bucket, for a later sweep to put into quarantine.
            assert "re-adopted" in reported(binary, [*doctor, "--readopt", "all"]).stdout
            found = reported(binary, doctor).stdout
            assert "not listed" not in found and "removals" not in found and "objects" not in found, found
            replicas.start()
            boss = login(replicas.service)
            listed = {entry.etag: entry.file_id for entry in boss.list_all()}
            assert {etag: download(boss, listed[etag]) for etag in objects} == objects
            # A device continues with its key.
            uploader = dataclasses.replace(uploader, gateway=replicas.service).sign_in()
            etag, data = uploaded(uploader)
            assert download(boss, next(each.file_id for each in boss.list_all() if each.etag == etag)) == data
        finally:
            replicas.close()
