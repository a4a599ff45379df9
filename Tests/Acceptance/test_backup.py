"""Backups of a running gateway, restores, and the doctor's reports."""

import contextlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from support import process
from support.commands import OK, REFUSED, USAGE, CommandLine, offline
from support.database import change, rows, tables
from support.gateway import LISTENERS, Gateway, eventually
from support.parties import Fleet, User, unique
from support.process_usage import memory
from support.uploads import Upload, completed, content, download
from support.waiting import WAIT_SECONDS

pytestmark = pytest.mark.sqlite

PART_SIZE = 65536
CONFIG = {"uploads": {"part_size_bytes": PART_SIZE}}
FREE_PORTS = [part for name in LISTENERS for part in (f"--{name}-listen", "127.0.0.1:0")]


@pytest.fixture
def gateway(gateway_with):
    return gateway_with(CONFIG)


@pytest.fixture
def operator(binary, gateway, tmp_path) -> CommandLine:
    return CommandLine(binary, gateway, tmp_path).login()


def refused(binary, *arguments, code: int = REFUSED) -> str:
    done = process.run(binary, *map(str, arguments), code=code)
    assert done.stdout == ""
    return done.stderr


def restored(binary, tmp_path: Path, archive: Path, *options) -> Gateway:
    """Returns a gateway, not yet started, with a data directory restored from the archive."""
    directory = tmp_path / unique("restored")
    directory.mkdir()
    gateway = Gateway(binary, directory, CONFIG)
    offline(binary, "restore", "--from", archive, "--data-dir", gateway.data, *options)
    return gateway


def tree(path: Path) -> dict[str, bytes]:
    """Returns the contents of every file below a folder."""
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def stored_bytes(gateway: Gateway) -> list[bytes]:
    """Returns the contents of every file of the store, wherever it is, except the file with the store's generation."""
    store = gateway.data / "store"
    return sorted(file.read_bytes() for file in store.rglob("*") if file.is_file() and file.name != "identity")


def test_a_backup_under_load_restores_to_a_gateway_that_serves_all_that_it_lists(
    binary, gateway, login, operator, stubs, tmp_path
):
    user = login(gateway)
    fleet = Fleet.create(user)
    run = unique("run")
    uploaders = [fleet.uploader() for _ in range(4)]
    before = {}
    for index, uploader in enumerate(uploaders):
        data = content(2 * PART_SIZE + index)
        upload = Upload.create(uploader).multipart(data)
        upload.complete({"run": run, "kind": "before"})
        before[upload.id] = data
    stop = threading.Event()

    def work(uploader) -> int:
        count = 0
        while not stop.is_set():
            completed(uploader, content(5000 + count), {"run": run, "kind": "meanwhile"})
            count += 1
        return count

    archive = tmp_path / "gateway.backup"
    with ThreadPoolExecutor(4) as pool:
        works = [pool.submit(work, uploader) for uploader in uploaders]
        eventually(lambda: len(user.list_all(filter=f"raw_tags.run={run}")) > 10)
        acknowledged = {found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")}
        summary = operator.json("backup", "--to", str(archive))
        stop.set()
        assert sum(work.result() for work in works) > 0
    assert archive.stat().st_mode & 0o777 == 0o600
    assert summary["objects"] >= len(acknowledged)
    assert summary["missing_objects"] == summary["damaged_objects"] == 0
    originals = {found.file_id: download(user, found.file_id) for found in user.list_all(filter=f"raw_tags.run={run}")}
    in_flight = Upload.create(uploaders[0])
    gateway.kill()

    copy = restored(binary, tmp_path, archive)
    # Uploads that were completed while their data was being archived are included, for the doctor to list.
    assert offline(binary, "doctor", "--data-dir", copy.data, "--checksums", "--readopt", "all")["in_order"]
    copy.start()
    try:
        admin = login(copy)
        listed = admin.list_all(filter=f"raw_tags.run={run}")
        assert acknowledged <= {found.file_id for found in listed}
        assert all(download(admin, found.file_id) == originals[found.file_id] for found in listed)
        # Its devices sign in with their existing keys, and continue.
        for uploader in uploaders:
            uploader.gateway = copy
            uploader.sign_in()
        completed(uploaders[0], content(77), {"run": run})
        with pytest.raises(grpc.RpcError) as error:
            in_flight.recovery()
        assert error.value.code() == grpc.StatusCode.NOT_FOUND
    finally:
        copy.close()


def test_an_older_database_over_the_live_store_loses_nothing(binary, gateway, login, operator, tmp_path):
    user = login(gateway)
    fleet = Fleet.create(user)
    run = unique("run")
    uploaders = [fleet.uploader() for _ in range(5)]
    completed(uploaders[0], content(1000), {"run": run})
    # The backup knows these uploads as in progress: with parts, complete in the store, and without data.
    begun = [Upload.create(uploader) for uploader in uploaders[:3]]
    multipart_id = begun[0].store.initiate()
    begun[0].send_parts(content(2 * PART_SIZE + 1), multipart_id)
    begun[1].multipart(content(3 * PART_SIZE))
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))

    begun[0].etag = begun[0].store.complete(multipart_id, begun[0].parts)
    begun[2].put(content(123))
    for upload in begun:
        upload.complete({"run": run, "begun": "before"})
    later = [completed(uploaders[index % 5], content(2000 + index), {"run": run}) for index in range(97)]
    objects = {found.file_id: download(user, found.file_id) for found in user.list_all(filter=f"raw_tags.run={run}")}
    assert len(objects) == 101
    order = [found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")]
    gateway.stop()
    bytes_before = stored_bytes(gateway)

    outcome = offline(binary, "restore", "--from", archive, "--data-dir", gateway.data)
    assert outcome["quarantined"] == 100
    assert Path(outcome["replaced"], "gateway.db").exists()
    for _ in range(2):  # However often it is started, and swept.
        gateway.start()
        assert gateway.stop() == 0
    assert stored_bytes(gateway) == bytes_before

    report = offline(binary, "doctor", "--data-dir", gateway.data, code=REFUSED)
    assert not report["in_order"]
    assert len(report["quarantined"]) == 100 and all(file["can_be_taken_in"] for file in report["quarantined"])
    treated = offline(binary, "doctor", "--data-dir", gateway.data, "--readopt", "all")
    assert treated["in_order"] and len(treated["taken_in"]) == 100
    assert all(file["problem"] is None for file in treated["taken_in"])

    gateway.start()
    user = login(gateway)
    listed = user.list_all(filter=f"raw_tags.run={run}")
    assert {found.file_id for found in listed} == set(objects)
    # In the order of their completion.
    assert [found.file_id for found in listed] == order
    assert all(download(user, found.file_id) == objects[found.file_id] for found in listed)
    # A client that asks again gets the same response as before.
    stubs = uploaders[0].stubs.gateway
    for upload in [*begun, *later[:3]]:
        upload.uploader.sign_in()
        assert upload.recovery().logical_upload_status == stubs.LOGICAL_UPLOAD_STATUS_COMPLETED
        assert upload.recovery().oss_object_etag == upload.etag
    begun[0].complete({"run": run, "begun": "before"})
    later[0].complete({"run": run})
    assert gateway.stop() == 0
    assert offline(binary, "doctor", "--data-dir", gateway.data, "--checksums")["in_order"]


def test_database_restored_by_hand_is_reported_and_reconciled(binary, gateway, login, tmp_path):
    uploader = Fleet.create(login(gateway)).uploader()
    assert gateway.stop() == 0
    shutil.copy(gateway.data / "gateway.db", tmp_path / "older.db")
    gateway.start()
    uploader.sign_in()
    run = unique("run")
    upload = completed(uploader, content(4321), {"run": run})
    assert gateway.stop() == 0
    shutil.copy(tmp_path / "older.db", gateway.data / "gateway.db")
    gateway.start()
    eventually(lambda: "the database and the store were not last used together" in gateway.stderr)
    assert gateway.stop() == 0
    report = offline(binary, "doctor", "--data-dir", gateway.data, code=REFUSED)
    assert not report["same_age"] and report["unknown"]["count"] == 1
    assert "--reconcile first" in refused(binary, "doctor", "--data-dir", gateway.data, "--readopt", "all")
    reconciled = offline(binary, "doctor", "--data-dir", gateway.data, "--reconcile", code=REFUSED)
    assert reconciled["settled"] == 1 and reconciled["same_age"] and len(reconciled["quarantined"]) == 1
    # A file with other bytes than those stored is not listed.
    (file,) = (gateway.data / "store/quarantine").iterdir()
    file.chmod(0o600)
    file.write_bytes(b"x" * 4321)
    treated = offline(binary, "doctor", "--data-dir", gateway.data, "--readopt", "all", code=REFUSED)
    assert "do not match its checksum" in treated["taken_in"][0]["problem"] and file.exists()
    file.write_bytes(content(4321))
    file.chmod(0o400)
    assert offline(binary, "doctor", "--data-dir", gateway.data, "--readopt", file.name)["in_order"]
    gateway.start()
    user = login(gateway)
    (found,) = user.list_all(filter=f"raw_tags.run={run}")
    assert download(user, found.file_id) == content(4321)
    uploader.sign_in()
    assert upload.recovery().oss_object_etag == upload.etag


def doctor(gateway: Gateway, *options, code: int = OK) -> dict:
    return offline(gateway.binary, "doctor", "--data-dir", gateway.data, *options, code=code)


def purge(user: User, file_id: str, reason: str) -> None:
    for method in ("DeleteObject", "PurgeObject"):
        user.object_management(method, file_id=file_id, reason=reason)


def scheduled_removals(gateway: Gateway) -> list:
    return rows(gateway, "SELECT file_id FROM store_removals")


def test_a_deletion_whose_file_is_still_there_is_final(gateway, login, tmp_path):
    user = login(gateway)
    completed(Fleet.create(user).uploader(), content(1000))
    (found,) = user.list_all()
    assert gateway.stop() == 0
    older = tmp_path / "older.db"
    shutil.copy(gateway.data / "gateway.db", older)
    gateway.start()
    assert gateway.stop() == 0
    shutil.copy(older, gateway.data / "gateway.db")
    # The database and the store were not last used together, so that no file is removed.
    gateway.start()
    purge(login(gateway), found.file_id, "a person is in it")
    assert gateway.stop() == 0
    report = doctor(gateway, code=REFUSED)
    assert report["scheduled_removals"]["file_ids"] == [found.file_id] and report["unknown"]["count"] == 0
    treated = doctor(gateway, "--reconcile", "--readopt", "all")
    assert treated["settled"] == 0 and treated["taken_in"] == [] and treated["in_order"]
    (named,) = doctor(gateway, "--readopt", found.file_id, code=REFUSED)["taken_in"]
    assert re.fullmatch(
        r"the database has scheduled its removal: the gateway removes it "
        r"\(deleted on \S+Z by user:system/admin: a person is in it\)",
        named["problem"],
    )
    gateway.start()
    eventually(lambda: not scheduled_removals(gateway))
    assert login(gateway).list_all() == [] and gateway.stop() == 0
    assert [file for folder in ("data", "facts", "quarantine") for file in tree(gateway.data / "store" / folder)] == []


def test_a_deleted_object_is_re_adopted_only_by_its_name(gateway, login):
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    for size in (1000, 2000):
        completed(uploader, content(size))
    first, second = sorted(user.list_all(), key=lambda found: found.size_bytes)
    store = gateway.data / "store"
    paths = [
        store / kind / found.file_id[:2] / found.file_id for found in (first, second) for kind in ("data", "facts")
    ]
    before = {path: path.read_bytes() for path in paths}
    for found in (first, second):
        purge(user, found.file_id, "a person is in it")
    eventually(lambda: not scheduled_removals(gateway))
    assert gateway.stop() == 0
    # As a disk that is older than the database has them.
    for path, body in before.items():
        path.write_bytes(body)
        path.chmod(0o400)
    gateway.start()
    eventually(lambda: len(list((store / "quarantine").iterdir())) == 2)
    assert gateway.stop() == 0
    report = doctor(gateway, "--readopt", "all", code=REFUSED)
    assert report["taken_in"] == [] and len(report["quarantined"]) == 2
    for file in report["quarantined"]:
        assert file["can_be_taken_in"] and file["deleted_at"].endswith("Z")
        assert (file["deleted_by"], file["deletion_reason"]) == ("user:system/admin", "a person is in it")
    output = subprocess.run(
        [gateway.binary, "doctor", "--data-dir", gateway.data], capture_output=True, text=True, timeout=WAIT_SECONDS
    ).stdout
    assert len(re.findall(r"  deleted on \S+Z by user:system/admin: a person is in it\n", output)) == 2
    report = doctor(gateway, "--readopt", first.file_id, "--delete", second.file_id)
    assert report["in_order"] and report["taken_in"][0]["problem"] is None
    gateway.start()
    user = login(gateway)
    assert [found.file_id for found in user.list_all()] == [first.file_id]
    assert download(user, first.file_id) == content(1000)
    # Its deletion is recorded again.
    purge(user, first.file_id, "after all")
    assert gateway.stop() == 0


def test_doctor_changes_nothing_by_default_and_deletes_what_is_named(binary, gateway, login):
    user = login(gateway)
    fleet = Fleet.create(user)
    run = unique("run")
    kept, lost = (completed(fleet.uploader(), content(100 + index), {"run": run}) for index in range(2))
    assert "is in use by another gateway" in refused(binary, "doctor", "--data-dir", gateway.data)
    by_upload = {found.size_bytes: found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")}
    assert gateway.stop() == 0
    assert offline(binary, "doctor", "--data-dir", gateway.data)["in_order"]
    file_id = by_upload[lost.size]
    path = gateway.data / "store/data" / file_id[:2] / file_id
    damaged = gateway.data / "store/data" / by_upload[kept.size][:2] / by_upload[kept.size]
    path.unlink()
    damaged.chmod(0o600)
    damaged.write_bytes(b"x" * kept.size)
    stranger = gateway.data / "store/quarantine" / ("ab" * 16)
    stranger.write_bytes(b"who knows")
    before = tree(gateway.data)
    report = offline(binary, "doctor", "--data-dir", gateway.data, "--checksums", code=REFUSED)
    assert tree(gateway.data) == before
    assert report["missing"] == {"count": 1, "file_ids": [file_id]}
    assert report["damaged"] == {"count": 1, "file_ids": [by_upload[kept.size]]}
    (found,) = report["quarantined"]
    assert found["file_id"] == stranger.name and found["size_bytes"] == 9 and not found["can_be_taken_in"]
    treated = offline(binary, "doctor", "--data-dir", gateway.data, "--readopt", stranger.name, code=REFUSED)
    assert "never completed" in treated["taken_in"][0]["problem"]
    treated = offline(binary, "doctor", "--data-dir", gateway.data, "--delete", "../../gateway.db", code=REFUSED)
    assert "no such file" in treated["deleted"][0]["problem"]
    treated = offline(binary, "doctor", "--data-dir", gateway.data, "--delete", stranger.name, code=REFUSED)
    assert treated["deleted"][0]["problem"] is None and treated["quarantined"] == []
    assert not stranger.exists()


def test_an_encrypted_archive_needs_its_passphrase_and_all_of_its_bytes(binary, gateway, login, operator, tmp_path):
    completed(Fleet.create(login(gateway)).uploader(), content(3 * PART_SIZE))
    right, wrong, archive = tmp_path / "right", tmp_path / "wrong", tmp_path / "sealed.backup"
    right.write_text("correct horse battery\n")
    wrong.write_text("incorrect horse\n")
    operator.json("backup", "--to", str(archive), "--passphrase-file", str(right))
    data = archive.read_bytes()
    assert b"SQLite format 3" not in data
    target = tmp_path / "target"

    def attempt(contents: bytes | None, *options) -> str:
        file = archive
        if contents is not None:
            file = tmp_path / "changed.backup"
            file.write_bytes(contents)
        output = refused(binary, "restore", "--from", file, "--data-dir", target, *options)
        # No files are left that look like a gateway's.
        assert not target.exists() or {path.name for path in target.iterdir()} <= {"lock"}
        return output

    passphrase = ("--passphrase-file", right)
    assert "is encrypted" in attempt(None)
    assert "passphrase is wrong" in attempt(None, "--passphrase-file", wrong)
    unreadable = "cannot read the passphrase file /nowhere: No such file or directory"
    missing = ("--passphrase-file", "/nowhere")
    assert unreadable in refused(binary, "restore", "--from", archive, "--data-dir", target, *missing, code=USAGE)
    middle = len(data) // 2
    assert "altered" in attempt(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], *passphrase)
    sealed = len(data) - (22 + 16 + 32)
    chunk = 65536 + 16
    assert "cut off" in attempt(data[: 22 + 16 + 32 + (sealed // chunk) * chunk], *passphrase)
    offline(binary, "restore", "--from", archive, "--data-dir", target, *passphrase)
    assert offline(binary, "doctor", "--data-dir", target, "--checksums")["in_order"]


def test_an_archive_that_is_cut_off_or_altered_is_refused(binary, gateway, login, operator, tmp_path):
    completed(Fleet.create(login(gateway)).uploader(), content(1000))
    archive, changed, target = tmp_path / "gateway.backup", tmp_path / "changed", tmp_path / "target"
    operator.json("backup", "--to", str(archive))
    data = archive.read_bytes()
    for contents, output in [
        (data[:-1], "cut off"),
        (data[: len(data) // 2], "cut off"),
        (data[:-40] + bytes([data[-40] ^ 1]) + data[-39:], "is damaged"),
        (data.replace(b"SQLite format 3", b"SQLite format 4", 1), "is damaged"),
        (data + b"x", "is damaged"),
        (b"PK" + data, "is not an archive"),
        (data.replace(b"backup 1", b"backup 9", 1), "newer data-gateway"),
        (b"", "is not an archive"),
    ]:
        changed.write_bytes(contents)
        assert output in refused(binary, "restore", "--from", changed, "--data-dir", target), output
        assert not target.exists() or {path.name for path in target.iterdir()} <= {"lock"}
    right = tmp_path / "passphrase"
    right.write_text("correct horse battery\n")
    assert "is not encrypted" in refused(
        binary, "restore", "--from", archive, "--data-dir", target, "--passphrase-file", right
    )
    right.write_text("short\n")
    refused(binary, "restore", "--from", archive, "--data-dir", target, "--passphrase-file", right, code=USAGE)


def test_restore_requires_a_directory_without_other_data(binary, gateway, gateway_with, operator, tmp_path):
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))
    assert "in use by another gateway" in refused(binary, "restore", "--from", archive, "--data-dir", gateway.data)
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "cat.jpg").write_bytes(b"meow")
    assert "is not empty" in refused(binary, "restore", "--from", archive, "--data-dir", photos)
    assert tree(photos) == {"cat.jpg": b"meow"}
    other = gateway_with(CONFIG)
    assert other.stop() == 0
    before = tree(other.data)
    assert "another gateway" in refused(binary, "restore", "--from", archive, "--data-dir", other.data)
    assert tree(other.data) == before


def test_an_archive_that_is_refused_leaves_the_live_gateway_as_it_was(binary, gateway, operator, tmp_path):
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))
    assert gateway.stop() == 0
    archive.write_bytes(archive.read_bytes()[:-1])
    before = tree(gateway.data)
    assert "cut off" in refused(binary, "restore", "--from", archive, "--data-dir", gateway.data)
    assert tree(gateway.data) == before
    gateway.start()


def test_without_objects_it_is_restored_over_its_store(binary, gateway, login, operator, tmp_path):
    fleet = Fleet.create(login(gateway))
    completed(fleet.uploader(), content(500_000))
    archive = tmp_path / "small.backup"
    assert operator.json("backup", "--to", str(archive), "--without-objects")["objects"] == 1
    assert content(500_000)[:1000] not in archive.read_bytes()
    assert gateway.stop() == 0
    assert "objects without their data" in refused(binary, "restore", "--from", archive, "--data-dir", tmp_path / "new")
    outcome = offline(binary, "restore", "--from", archive, "--data-dir", gateway.data)
    assert outcome["already_there"] == 1 and outcome["quarantined"] == 0
    assert offline(binary, "doctor", "--data-dir", gateway.data, "--checksums")["in_order"]


def test_restore_repairs_missing_and_damaged_files(binary, gateway, login, operator, tmp_path):
    user = login(gateway)
    fleet = Fleet.create(user)
    run = unique("run")
    for size in (1000, 2000):
        completed(fleet.uploader(), content(size), {"run": run})
    whole = tmp_path / "whole.backup"
    operator.json("backup", "--to", str(whole))
    ids = {found.size_bytes: found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")}
    paths = {size: gateway.data / "store/data" / ids[size][:2] / ids[size] for size in ids}
    paths[1000].unlink()
    paths[2000].chmod(0o600)
    paths[2000].write_bytes(b"y" * 2000)
    paths[2000].chmod(0o400)
    poor = tmp_path / "poor.backup"
    summary = operator.json("backup", "--to", str(poor))
    assert summary["missing_objects"] == 1 and summary["damaged_objects"] == 1
    outcome = offline(binary, "restore", "--from", poor, "--data-dir", tmp_path / "poor")
    assert outcome["missing"]["file_ids"] == [ids[1000]] and outcome["damaged"]["file_ids"] == [ids[2000]]
    assert gateway.stop() == 0
    # The earlier backup restores both; the damaged copy is kept separately.
    outcome = offline(binary, "restore", "--from", whole, "--data-dir", gateway.data)
    assert (outcome["quarantined"], outcome["displaced"]) == (0, 1)
    assert paths[1000].read_bytes() == content(1000) and paths[2000].read_bytes() == content(2000)
    assert (gateway.data / "store/quarantine" / ids[2000]).read_bytes() == b"y" * 2000


def test_only_admins_of_system_back_up_and_one_at_a_time(binary, gateway, login, operator, stubs, tmp_path):
    admin = login(gateway)
    admin.users("CreateUser", user_name="vera", password="a password of some length", role="operator")
    clerk = CommandLine(binary, gateway, tmp_path / "clerk").login("vera", "a password of some length")
    archive = tmp_path / "gateway.backup"
    assert "role admin" in clerk.refused(REFUSED, "backup", "--to", str(archive))
    assert not list(tmp_path.glob("gateway.backup*"))
    # A backup that is begun and not read keeps its place until its call ends.
    completed(Fleet.create(admin).uploader(), content(30_000_000))
    stub = stubs.gateway.BackupServiceStub(gateway.channel("admin"))
    slow = stub.Backup(stubs.gateway.BackupRequest(), metadata=[("authorization", f"Bearer {admin.token}")], timeout=60)
    next(slow)
    assert "another backup is running" in operator.refused(REFUSED, "backup", "--to", str(archive))
    slow.cancel()
    done = eventually(lambda: (run := operator.run("backup", "--to", str(archive))).returncode == OK and run)
    assert re.search(r": \d+ objects?, [\d.]+ ([KMG]i)?B of data$", done.stdout.strip())
    assert "already exists" in operator.refused(REFUSED, "backup", "--to", str(archive))
    assert not (gateway.data / "copies").exists() or not list((gateway.data / "copies").iterdir())


@pytest.mark.parametrize("victim", ["client", "server"])
def test_killed_backup_leaves_no_archive(binary, gateway, login, operator, tmp_path, victim):
    uploader = Fleet.create(login(gateway)).uploader()
    upload = Upload.create(uploader)
    upload.put(content(30_000_000)).complete()
    archive = tmp_path / "gateway.backup"
    partial = Path(f"{archive}.partial")

    def is_killed() -> bool:
        """Kills the victim; the backup may have ended before."""
        archive.unlink(missing_ok=True)
        command = subprocess.Popen(
            [binary, "backup", "--to", archive], env=operator.environment, stdout=subprocess.DEVNULL
        )
        eventually(lambda: command.poll() is not None or (partial.exists() and partial.stat().st_size > 0), every=0.001)
        if victim == "client":
            command.kill()
        else:
            gateway.kill()
        code = command.wait(WAIT_SECONDS)
        if victim == "server":
            gateway.start()
        if code != 0 and archive.exists():
            # The client may be killed between the end of the archive and its own.
            assert victim == "client"
            offline(binary, "backup", "verify", archive)
            return False
        return code != 0

    eventually(is_killed)
    if victim == "server":
        assert not partial.exists()
    copies = gateway.data / "copies"
    eventually(lambda: not copies.exists() or not list(copies.iterdir()))
    # The next one finds its place free, and is not obstructed by the remains of the failed one.
    done = eventually(lambda: (run := operator.run("backup", "--to", str(archive))).returncode == OK and run)
    assert re.search(r": \d+ objects?, [\d.]+ ([KMG]i)?B of data$", done.stdout.strip())


def test_a_restore_that_was_killed_is_not_served_and_is_run_again(binary, gateway, login, operator, tmp_path):
    uploader = Fleet.create(login(gateway)).uploader()
    upload = Upload.create(uploader).put(content(20_000_000))
    upload.complete()
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))
    copy = Gateway(binary, tmp_path, CONFIG)

    def is_killed() -> bool:
        """Kills the restore; it may have ended before."""
        shutil.rmtree(copy.data, ignore_errors=True)
        command = subprocess.Popen([binary, "restore", "--from", archive, "--data-dir", copy.data])
        eventually(lambda: command.poll() is not None or (copy.data / "restoring/gateway.db").exists(), every=0.001)
        command.kill()
        return command.wait(WAIT_SECONDS) == -signal.SIGKILL

    eventually(is_killed)
    assert "did not finish" in refused(binary, "serve", "--data-dir", copy.data, *FREE_PORTS)
    offline(binary, "restore", "--from", archive, "--data-dir", copy.data)
    assert offline(binary, "doctor", "--data-dir", copy.data, "--checksums")["in_order"]


def test_restores_over_a_live_store_that_are_killed_anywhere_lose_nothing(binary, gateway, login, operator, tmp_path):
    user = login(gateway)
    uploaders = [Fleet.create(user).uploader() for _ in range(2)]
    run = unique("run")
    for index in range(3):
        completed(uploaders[0], content(1000 + index), {"run": run})
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))
    for index in range(10):
        completed(uploaders[index % 2], content(3000 + index), {"run": run})
    objects = {found.file_id: download(user, found.file_id) for found in user.list_all(filter=f"raw_tags.run={run}")}
    assert gateway.stop() == 0
    before = stored_bytes(gateway)
    restore = [binary, "restore", "--from", archive, "--data-dir", gateway.data]
    started = time.monotonic()
    offline(*restore)
    whole = time.monotonic() - started
    moments = random.Random(5)
    for _ in range(5):
        command = subprocess.Popen(restore, stdout=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(moments.uniform(0, whole))
        command.kill()
        command.wait()
        assert [data for data in before if data not in stored_bytes(gateway)] == []
    offline(*restore)
    assert offline(binary, "doctor", "--data-dir", gateway.data, "--readopt", "all", "--checksums")["in_order"]
    gateway.start()
    user = login(gateway)
    listed = user.list_all(filter=f"raw_tags.run={run}")
    assert {found.file_id: download(user, found.file_id) for found in listed} == objects


def test_memory_does_not_grow_with_what_is_backed_up(binary, gateway, login, operator, tmp_path):
    uploader = Fleet.create(login(gateway)).uploader()
    upload = Upload.create(uploader)
    upload.put(content(100_000_000)).complete()

    before = memory(gateway.process.pid, "VmHWM")
    operator.json("backup", "--to", str(tmp_path / "gateway.backup"))
    # For an object of 100 MB.
    assert memory(gateway.process.pid, "VmHWM") - before < 24 << 20


def test_a_start_with_wrong_or_missing_parts_is_refused_with_what_to_do(binary, gateway, login, tmp_path):
    completed(Fleet.create(login(gateway)).uploader(), content(1000))
    assert gateway.stop() == 0
    data, aside = gateway.data, tmp_path / "aside"
    root, database = data / "keys/root", data / "gateway.db"
    serve = ("serve", "--data-dir", data, *FREE_PORTS)
    key = root.read_bytes()
    root.write_bytes(bytes(32))
    output = refused(binary, *serve)
    assert f"the root key {root} is not that of the database {database}" in output and "restore a backup" in output
    (problem,) = doctor(gateway, code=REFUSED)["key_problems"]
    assert problem in output
    root.unlink()
    assert "restore the key from the backup" in refused(binary, *serve)
    (problem,) = doctor(gateway, code=REFUSED)["key_problems"]
    assert f"{root} is missing" in problem
    (data / "keys").rename(aside)
    assert "restore the key from the backup" in refused(binary, *serve)
    (problem,) = doctor(gateway, code=REFUSED)["key_problems"]
    assert f"the folder {data / 'keys'} is missing" in problem
    aside.rename(data / "keys")
    root.write_bytes(key)
    database.rename(aside)
    for arguments in (serve, ("doctor", "--data-dir", data)):
        output = refused(binary, *arguments)
        assert f"the database {database} is missing, but {data / 'store/identity'} is there" in output
        assert f"data-gateway restore --from FILE --data-dir {data}" in output
    assert not database.exists()
    aside.rename(database)
    # A key that is lost can be replaced by another, on request.
    root.write_bytes(bytes(32))
    assert doctor(gateway, "--accept-root-key")["in_order"]
    gateway.start()
    assert len(login(gateway).list_all()) == 1 and gateway.stop() == 0


@pytest.mark.parametrize("page", [0, 1, 10, 40])
def test_a_damaged_database_is_explained(gateway, page):
    assert gateway.stop() == 0
    with open(gateway.data / "gateway.db", "r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xaa" * 4096)
    done = subprocess.run(
        [gateway.binary, "doctor", "--data-dir", gateway.data], capture_output=True, text=True, timeout=WAIT_SECONDS
    )
    assert done.returncode == REFUSED and done.stderr == "", done.stderr
    assert done.stdout.startswith("database: ") and "database error" not in done.stdout
    assert f"the database {gateway.data}/gateway.db is damaged: keep a copy of it, and restore a backup" in done.stdout


def test_an_archive_with_another_root_key_is_refused(binary, gateway, operator, tmp_path):
    # Somebody replaces the key of the running gateway, which only the next start would notice.
    (gateway.data / "keys/root").write_bytes(bytes(32))
    archive = tmp_path / "gateway.backup"
    operator.json("backup", "--to", str(archive))
    output = refused(binary, "backup", "verify", archive, "--scratch", tmp_path)
    assert "its root key is not that of its database" in output
    assert "its root key is not" in refused(binary, "restore", "--from", archive, "--data-dir", tmp_path / "target")


def test_a_database_of_a_newer_version_is_refused_with_what_to_do(binary, gateway):
    assert gateway.stop() == 0
    change(gateway, "INSERT INTO migrations (name, number) VALUES ('catalog-99', 999)")
    serve = ("serve", "--data-dir", gateway.data, *FREE_PORTS)
    for arguments in (serve, ("doctor", "--data-dir", gateway.data)):
        output = refused(binary, *arguments)
        assert (
            "newer version" in output and "start that version, or restore a backup" in output and "catalog-99" in output
        )
    change(gateway, "DELETE FROM migrations WHERE number = 999")
    gateway.start()


def test_every_table_is_described(gateway):
    page = (Path(__file__).resolve().parents[2] / "docs/schema.md").read_text()
    names = tables(gateway)
    assert names and all(f"| `{name}` |" in page for name in names if not name.startswith("sqlite_"))


def test_status_knows_a_backup_that_no_schedule_took(binary, gateway_with, tmp_path):
    gateway = gateway_with()
    operator = CommandLine(binary, gateway, tmp_path).login()
    status = lambda: operator.json("status", "--ops", gateway.listeners["ops"])
    assert (status()["last_backup_at_unix"], status()["last_backup_kind"]) == (None, None)
    operator.json("backup", "--to", str(tmp_path / "archive"))
    taken = status()
    assert taken["last_backup_kind"] == "manual" and taken["last_backup_at_unix"] > 0
    gateway.kill()
    gateway.start()
    operator = CommandLine(binary, gateway, tmp_path).login()
    eventually(lambda: status()["last_backup_at_unix"] == taken["last_backup_at_unix"])
