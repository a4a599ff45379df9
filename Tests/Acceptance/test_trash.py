"""The trash: deleted objects can be restored until they are purged, and a kill at any moment loses nothing."""

import random
import re
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from support.commands import CommandLine
from support.database import change, rows
from support.gateway import eventually
from support.parties import Fleet, User, unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import added, content, location

KILLS, FULL_KILLS = 3, 30
#: The longest lifetime of a presigned URL (see RequestDownload), in microseconds.
HOUR = 3_600_000_000
DAY = 24 * HOUR
PASSWORD = "long enough"


def add(user: User, uploader, size: int = 1000, **tags: str):
    """Uploads an object, and returns its entry in ListObjects."""
    return added(user, uploader, content(size), tags)


def listed(user: User, file_id: str, filter: str = "") -> bool:
    return file_id in {found.file_id for found in user.list_all(filter=filter)}


def usage(gateway) -> tuple[dict, dict]:
    """Returns the stored usage for quotas, and the same counted from the rows; the gateway is stopped.

    Tags cost several times their length; the formula is that of short ones.
    """
    kept = {
        owner: (size, objects)
        for owner, size, objects in rows(gateway, "SELECT owner, bytes, objects FROM upload_usage")
        if (size, objects) != (0, 0)
    }
    counted: dict = defaultdict(lambda: (0, 0))
    counts = rows(
        gateway,
        """
        SELECT w.owner, coalesce(s.size, 0), o.position IS NOT NULL, coalesce((
            SELECT sum(150 + 8 * (length(CAST(key AS BLOB)) + length(CAST(value AS BLOB)))) FROM object_tags t
            WHERE t.position = o.position), 0)
        FROM upload_owners w LEFT JOIN store_objects s ON s.upload_id = w.upload_id
            LEFT JOIN objects o ON o.upload_id = w.upload_id
        """,
    )
    for owner, size, objects, tags in counts:
        before = counted[owner]
        counted[owner] = (before[0] + size + tags, before[1] + objects)
    return kept, {owner: sums for owner, sums in counted.items() if sums != (0, 0)}


def test_restored_object_has_the_same_bytes(uploader, admin, stubs, copy_root):
    found = add(admin, uploader, light="dim")
    uri = location(admin, found.file_id)
    reply = admin.object_management("DeleteObject", file_id=found.file_id, reason="acceptance test")
    shown = admin.object_management("GetObject", file_id=found.file_id)
    assert shown.purge_at == reply.purge_at
    assert (shown.trashed_by, shown.trash_reason) == ("user:system/admin", "acceptance test")
    assert 0 <= reply.purge_at.ToMicroseconds() - shown.object.trashed_at.ToMicroseconds() - 7 * DAY < 1_000_000
    assert not listed(admin, found.file_id, f"raw_tags.run={found.tags['run']}")
    assert listed(admin, found.file_id, f"trashed=true raw_tags.run={found.tags['run']}")
    # The earlier URL is valid until it expires; no new one is issued.
    assert fetch_url(uri).body == content(1000)
    with refused(stubs, "NOT_FOUND") as refusal:
        location(admin, found.file_id)
    assert "in the trash" in refusal.message
    place = {"bucket": shown.bucket, "key": shown.object_key}
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        admin.internal("PresignObject", **place, access_mode=1, expires_in_seconds=60)
    assert "in the trash" in refusal.message
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        admin.internal("ReadObject", **place, max_bytes=10_000)
    with refused(stubs, "NOT_FOUND"):
        admin.copies("CreateCopyJob", file_ids=[found.file_id], destination={"endpoint": f"file://{copy_root}"})
    for _ in range(2):
        assert admin.object_management("RestoreObject", file_id=found.file_id).object == found
    assert fetch_url(location(admin, found.file_id)).body == content(1000)
    assert fetch_url(uri).body == content(1000)


@pytest.mark.directory
def test_purged_object_is_not_found(uploader, admin, stubs, gateway):
    found = add(admin, uploader)
    uri = location(admin, found.file_id)
    (path,) = gateway.data.glob(f"store/data/*/{found.file_id}")
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        admin.object_management("PurgeObject", file_id=found.file_id)
    assert "not in the trash" in refusal.message
    admin.object_management("DeleteObject", file_id=found.file_id)
    for _ in range(2):
        admin.object_management("PurgeObject", file_id=found.file_id)
    response = fetch_url(uri)
    assert (response.status, b"<Code>NoSuchKey</Code>" in response.body) == (404, True)
    eventually(lambda: not path.exists())
    with refused(stubs, "NOT_FOUND") as refusal:
        admin.object_management("RestoreObject", file_id=found.file_id)
    assert "permanently" in refusal.message
    assert not admin.object_management("DeleteObject", file_id=found.file_id).HasField("purge_at")


def test_roles_and_organizations_are_kept_apart(uploader, admin, stubs, gateway, new_organization):
    found = add(admin, uploader)
    boss = new_organization()
    for method in ("DeleteObject", "RestoreObject", "PurgeObject", "UpdateObject"):
        with refused(stubs, "NOT_FOUND"):
            fields = {"tags": {"a": "b"}} if method == "UpdateObject" else {}
            boss.object_management(method, file_id=found.file_id, **fields)
    name = unique("op")
    admin.users("CreateUser", user_name=name, password=PASSWORD, role="operator")
    operator = User.login(gateway, stubs, "system", name, PASSWORD)
    for method in ("DeleteObject", "RestoreObject", "PurgeObject"):
        with refused(stubs, "PERMISSION_DENIED"):
            operator.object_management(method, file_id=found.file_id)
    reply = operator.object_management("UpdateObject", file_id=found.file_id, tags={"checked": "yes"})
    assert reply.object.tags == {**found.tags, "checked": "yes"}
    assert listed(operator, found.file_id, f"checked=yes run={found.tags['run']}")


def test_events_report_deletion_restoration_and_purge(with_webhooks):
    gateway, fleet, receiver = with_webhooks()
    uploader = fleet.uploader()
    found = add(fleet.user, uploader, keep="no")
    call = lambda method, **fields: fleet.user.object_management(method, file_id=found.file_id, **fields)
    for _ in range(2):
        call("UpdateObject", tags={"keep": "yes"}, remove_tags=["run"])
        call("DeleteObject", reason="first")
        call("RestoreObject")
    call("DeleteObject", reason="second")
    call("PurgeObject")
    events = receiver.waits_for(f"objects/{found.file_id}", 8)
    assert [event["type"].removeprefix("object.") for event in events] == [
        "verified",
        "updated",
        *("trashed", "restored") * 2,
        "trashed",
        "deleted",
    ]
    assert events[1]["data"]["raw_tags"] == {"keep": "yes"}
    assert [event["data"].get("reason") for event in events[2:]] == ["first", None, "first", None, "second", "second"]
    device_id = uploader.device_id
    assert all(
        (event["data"]["file_id"], event["data"]["device_id"], event["data"]["size_bytes"])
        == (found.file_id, device_id, 1000)
        for event in events
    )


@pytest.mark.directory
def test_sweep_purges_after_the_grace(gateway_with, login):
    gateway = gateway_with()
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    objects = [add(user, uploader, 100 + number) for number in range(40)]
    for found in objects:
        user.object_management("DeleteObject", file_id=found.file_id)
    old, recent = objects[:37], objects[37:]
    user.object_management("RestoreObject", file_id=old[0].file_id)
    gateway.kill()
    for found in old[1:]:
        change(gateway, "UPDATE objects SET trashed_at = trashed_at - ? WHERE file_id = ?", 7 * DAY, found.file_id)
    gateway.start()
    eventually(lambda: len(user.list_all(filter="trashed=true")) == len(recent))
    assert [found.file_id for found in user.list_all()] == [old[0].file_id]
    assert fetch_url(location(user, old[0].file_id)).body == content(100)
    eventually(lambda: len(list(gateway.data.glob("store/data/*/*"))) == len(recent) + 1)
    gateway.kill()
    kept, counted = usage(gateway)
    assert kept == counted and kept
    gateway.start()


@pytest.mark.directory
def test_kills_at_any_moment_leave_one_state(gateway_with, login, is_full):
    """Objects are deleted, restored, purged and tagged concurrently, while the gateway is killed."""
    gateway = gateway_with()
    user = login(gateway)
    fleet = Fleet.create(user)
    uploaders = [fleet.uploader() for _ in range(2)]
    objects = {}
    for number in range(24):
        found = add(user, uploaders[number % 2], 1000 + number)
        objects[found.file_id] = content(1000 + number)
    purging: set[str] = set()
    purged: set[str] = set()

    def work(seed: int, file_ids: list[str], is_over: threading.Event):
        choose = random.Random(seed)
        while not is_over.is_set():
            file_id = choose.choice(file_ids)
            method = choose.choices(("DeleteObject", "RestoreObject", "UpdateObject", "PurgeObject"), (8, 8, 4, 1))[0]
            fields = {"tags": {"note": "x" * choose.randrange(100)}} if method == "UpdateObject" else {}
            if method == "PurgeObject":
                purging.add(file_id)
            try:
                user.object_management(method, file_id=file_id, **fields)
            except grpc.RpcError as error:
                if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION):
                    return  # The gateway is gone.
                continue
            if method == "PurgeObject":
                purged.add(file_id)

    for number in range(FULL_KILLS if is_full else KILLS):
        is_over = threading.Event()
        with ThreadPoolExecutor(6) as pool:
            for thread in range(6):
                pool.submit(work, 100 * number + thread, sorted(objects), is_over)
            is_over.wait(0.2 + 0.3 * (number % 5))
            gateway.kill()
            is_over.set()
        kept, counted = usage(gateway)
        assert kept == counted
        gateway.start()
        live = {found.file_id for found in user.list_all()}
        trashed = {found.file_id for found in user.list_all(filter="trashed=true")}
        assert not live & trashed and not (live | trashed) & purged
        assert set(objects) - purging <= live | trashed
        assert user.object_management("GetObjectFacets").count == len(live)
        for file_id in sorted(trashed):
            user.object_management("RestoreObject", file_id=file_id)
        for file_id in live | trashed:
            assert fetch_url(location(user, file_id)).body == objects[file_id]
        eventually(lambda: len(list(gateway.data.glob("store/data/*/*"))) == len(live | trashed))  # noqa: B023


def test_command_line_restores_and_purges(binary, gateway, tmp_path, uploader, admin):
    found = add(admin, uploader)
    command = CommandLine(binary, gateway, tmp_path).login()
    run = f"run={found.tags['run']}"
    command.json("object", "tag", found.file_id, "--tag", "color=red")
    assert command.json("object", "rm", found.file_id, "--reason", "acceptance test")["purge_at"]
    (shown,) = command.json("trash", "list", f"{run} OR size<0")["objects"]
    assert shown["file_id"] == found.file_id and shown["tags"]["color"] == "red" and shown["trashed_at"]
    assert command.json("trash", "show")["days"] == 7
    assert re.search(r"trashed: +[0-9.]+ ([KMG]i)?B$", command.run("trash", "show").stdout, re.MULTILINE)
    assert command.json("trash", "set", "3", "--dry-run")["days"] == 3
    (restored,) = command.json("trash", "restore", found.file_id)["objects"]
    assert restored["file_id"] == found.file_id and restored["trashed_at"] is None
    command.json("object", "rm", found.file_id)
    assert command.json("trash", "purge", found.file_id)["file_ids"] == [found.file_id]
    assert command.json("trash", "list", run)["objects"] == []


@pytest.mark.parametrize("method", ["RestoreObject", "PurgeObject", "UpdateObject"])
def test_unknown_file_is_named(admin, stubs, method):
    fields = {"tags": {"a": "b"}} if method == "UpdateObject" else {}
    with refused(stubs, "NOT_FOUND") as refusal:
        admin.object_management(method, file_id="nowhere", **fields)
    assert "nowhere" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        admin.object_management(method, file_id="", **fields)
    assert "file_id" in refusal.message
