"""Deletion by filter: counted first, executed in the background, and continued after a kill at any moment."""

import random
import time
import uuid

import pytest
from support.commands import OK, REFUSED, USAGE, CommandLine
from support.database import change, changing, rows
from support.gateway import eventually
from support.parties import Fleet, User, unique
from support.refusal import refused
from support.terminal import Terminal
from support.uploads import completed, content
from support.waiting import WAIT_SECONDS

KILLS, FULL_KILLS = 3, 20
OBJECTS = 6000


def status(user: User, operation_id: str):
    return user.object_management("GetObjectOperation", operation_id=operation_id).operation


def fill(gateway, count: int) -> None:
    """Adds objects without files to a stopped gateway's database; every second one has the tag `kind=test`."""
    with changing(gateway) as database:
        (organization,) = database.execute("SELECT id FROM organizations WHERE name = 'system'").fetchone()
        (site,) = database.execute("SELECT id FROM sites LIMIT 1").fetchone()
        now = time.time_ns() // 1000
        for number in range(count):
            name = str(uuid.uuid4())
            (position,) = database.execute(
                """
                INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, bucket, object_key, size, etag,
                    created_at, uploaded_at, verified_at, name, content_type)
                VALUES (?, ?, ?, ?, ?, 'data', ?, ?, '"x"', ?, ?, ?, ?, 'text/plain') RETURNING position
                """,
                (name, name, name, organization, site, name, number, now, now, now, name),
            ).fetchone()
            if number % 2 == 0:
                database.execute("INSERT INTO object_tags VALUES (?, 'kind', 'test')", (position,))
        # The search tables are filled at the next start.
        database.execute(
            "INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects WHERE true"
            " ON CONFLICT (id) DO UPDATE SET position = excluded.position"
        )


def test_deletion_by_filter_is_counted_run_and_undone(uploader, admin, stubs):
    run = unique("run")
    for number in range(3):
        completed(uploader, content(100 + number), {"run": run, "kind": "test" if number else "kept"})
    filter = f"run={run} kind=test"
    dry = admin.object_management("DeleteObjects", filter=filter, dry_run=True)
    assert (dry.matching_objects, dry.matching_bytes) == (2, 203)
    assert not dry.is_lower_bound and not dry.HasField("operation")
    assert len(admin.list_all(filter=f"run={run}")) == 3
    made = admin.object_management("DeleteObjects", filter=filter, reason="acceptance test").operation
    assert made.created_by == "user:system/admin" and made.reason == "acceptance test"
    succeeded = stubs.gateway.OBJECT_OPERATION_STATUS_SUCCEEDED
    eventually(lambda: status(admin, made.operation_id).status == succeeded)
    done = status(admin, made.operation_id)
    assert (done.deleted_objects, done.deleted_bytes, done.progress_percent) == (2, 203, 100)
    assert len(admin.list_all(filter=f"run={run}")) == 1
    trashed = admin.list_all(filter=f"trashed=true run={run}")
    shown = admin.object_management("GetObject", file_id=trashed[0].file_id)
    assert (shown.trashed_by, shown.trash_reason) == ("user:system/admin", "acceptance test")
    for found in trashed:
        admin.object_management("RestoreObject", file_id=found.file_id)
    assert len(admin.list_all(filter=filter)) == 2
    assert admin.object_management("CancelObjectOperation", operation_id=made.operation_id).operation == done
    listed = admin.object_management("ListObjectOperations").operations
    assert made.operation_id in {operation.operation_id for operation in listed}


def test_invalid_requests_are_refused(admin, stubs, new_organization):
    for filter, word in [("", "empty"), ("  ", "empty"), ("trashed=true", "trashed"), ("size>much", "byte 5")]:
        for dry_run in (True, False):
            with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
                admin.object_management("DeleteObjects", filter=filter, dry_run=dry_run)
            assert "filter" in refusal.message and word in refusal.message
    for filter in ("", "  "):
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
            rules = [{"filter": filter, "days": 1}]
            admin.object_management("SetRetention", rules=rules, replace_rules=True, dry_run=True)
        assert "rules[0].filter must not be empty" in refusal.message
    boss = new_organization()
    made = admin.object_management("DeleteObjects", filter=f"run={unique('none')}").operation
    for method in ("GetObjectOperation", "CancelObjectOperation"):
        with refused(stubs, "NOT_FOUND"):
            boss.object_management(method, operation_id=made.operation_id)
    assert list(boss.object_management("ListObjectOperations").operations) == []


def test_kills_at_any_moment_delete_each_match_once(gateway_with, login, stubs, is_full):
    gateway = gateway_with()
    Fleet.create(login(gateway))
    gateway.stop()
    fill(gateway, OBJECTS)
    gateway.start()
    user = login(gateway)
    eventually(lambda: user.object_management("GetObjectFacets").count == OBJECTS)
    made = user.object_management("DeleteObjects", filter="kind=test", reason="acceptance test")
    assert made.matching_objects == OBJECTS // 2
    choose = random.Random(1)
    for _ in range(FULL_KILLS if is_full else KILLS):
        # The time of the kill is the subject of the test.
        time.sleep(choose.random() * 0.2)
        gateway.kill()
        gateway.start()
    running = stubs.gateway.OBJECT_OPERATION_STATUS_RUNNING
    eventually(lambda: status(user, made.operation.operation_id).status != running)
    done = status(user, made.operation.operation_id)
    assert done.status == stubs.gateway.OBJECT_OPERATION_STATUS_SUCCEEDED
    assert (done.deleted_objects, done.deleted_bytes) == (OBJECTS // 2, made.matching_bytes)
    assert user.object_management("GetTrashSettings").trashed_objects == OBJECTS // 2
    assert user.object_management("GetObjectFacets").count == OBJECTS // 2
    assert user.object_management("DeleteObjects", filter="kind=test", dry_run=True).matching_objects == 0
    gateway.stop()
    assert rows(gateway, "SELECT sum(count) FROM audit WHERE action = 'ApplyDeleteObjects'") == [(OBJECTS // 2,)]
    gateway.start()


def finished(user: User, stubs, operation_id: str):
    eventually(lambda: status(user, operation_id).status != stubs.gateway.OBJECT_OPERATION_STATUS_RUNNING)
    return status(user, operation_id)


def test_undo_restores_what_the_deletion_moved(uploader, admin, stubs, new_organization):
    run = unique("run")
    for number in range(4):
        completed(uploader, content(100 + number), {"run": run})
    first, second, third, _ = admin.list_all(filter=f"run={run}")
    admin.object_management("DeleteObject", file_id=first.file_id)
    made = admin.object_management("DeleteObjects", filter=f"run={run}").operation
    finished(admin, stubs, made.operation_id)
    admin.object_management("RestoreObject", file_id=second.file_id)
    admin.object_management("PurgeObject", file_id=third.file_id)
    dry = admin.object_management("UndoObjectOperation", operation_id=made.operation_id, dry_run=True)
    assert dry.matching_objects == 1 and not dry.HasField("operation")
    undo = admin.object_management("UndoObjectOperation", operation_id=made.operation_id)
    assert undo.matching_objects == 1
    done = finished(admin, stubs, undo.operation.operation_id)
    assert (done.kind, done.restored_objects, done.deleted_objects) == (4, 1, 0)
    assert done.undone_operation_id == made.operation_id
    assert len(admin.list_all(filter=f"run={run}")) == 2
    assert [found.file_id for found in admin.list_all(filter=f"trashed=true run={run}")] == [first.file_id]
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        admin.object_management("UndoObjectOperation", operation_id=undo.operation.operation_id)
    assert "only deletions" in refusal.message
    with refused(stubs, "NOT_FOUND"):
        new_organization().object_management("UndoObjectOperation", operation_id=made.operation_id)


def test_trash_is_restored_and_purged_by_filter(uploader, admin, stubs):
    run = unique("run")
    for number in range(4):
        completed(uploader, content(100 + number), {"run": run, "kind": "test" if number < 3 else "kept"})
    live = completed(uploader, content(99), {"run": f"{run}-live"})
    for found in admin.list_all(filter=f"run={run}"):
        admin.object_management("DeleteObject", file_id=found.file_id)
    for method in ("RestoreObjects", "PurgeObjects"):
        for filter, word in [("", "empty"), ("trashed=true", "trashed"), ("size>much", "byte 5")]:
            with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
                admin.object_management(method, filter=filter)
            assert word in refusal.message
    dry = admin.object_management("RestoreObjects", filter=f"run={run} kind=test", dry_run=True)
    assert (dry.matching_objects, dry.matching_bytes) == (3, 303)
    made = admin.object_management("RestoreObjects", filter=f"run={run} kind=test").operation
    done = finished(admin, stubs, made.operation_id)
    assert (done.restored_objects, done.restored_bytes, done.progress_percent) == (3, 303, 100)
    assert len(admin.list_all(filter=f"run={run}")) == 3
    made = admin.object_management("PurgeObjects", filter=f"run={run} OR run={run}-live", reason="acceptance").operation
    done = finished(admin, stubs, made.operation_id)
    assert (done.deleted_objects, done.kind) == (1, 3)
    assert admin.list_all(filter=f"trashed=true run={run}") == []
    assert live and len(admin.list_all(filter=f"run={run} OR run={run}-live")) == 4


def test_retention_rules_select_by_tag_device_and_site(gateway_with, login):
    gateway = gateway_with()
    user = login(gateway)
    fleet = Fleet.create(user)
    first, second = fleet.uploader(), fleet.uploader()
    for uploader in (first, second):
        for kind in ("test", "keep", "other"):
            completed(uploader, content(100), {"kind": kind})
    device = {"filter": f"device={first.device_id}", "days": 20}
    rules = [{"filter": "kind=keep", "days": 0}, {"filter": "kind=test", "days": 7}, device]
    user.object_management("SetRetention", days=90, rules=rules, replace_rules=True)
    # A client that does not know the rules leaves them unchanged.
    assert len(user.object_management("SetRetention", days=30).rules) == 3
    site = [{"filter": f"site={fleet.site_id}", "days": 7}]
    dry = user.object_management("SetRetention", days=30, rules=site, replace_rules=True, dry_run=True)
    assert dry.affected_objects == 0
    left = 6
    for days, expected in [(8, 4), (21, 3), (31, 2), (400, 2)]:
        gateway.stop()
        aged = time.time_ns() // 1000 - days * 86_400_000_000
        change(gateway, "UPDATE objects SET verified_at = ? WHERE trashed_at IS NULL", aged)
        gateway.start()
        dry = user.object_management("SetRetention", days=30, dry_run=True)
        assert dry.affected_objects in (left - expected, 0)  # The sweep may have been faster.
        eventually(lambda: len(user.list_all()) == expected)  # noqa: B023
        left = expected
    assert {found.tags["kind"] for found in user.list_all()} == {"keep"}
    dry = user.object_management("SetRetention", days=1, replace_rules=True, dry_run=True)
    kept = {(found.file_id, found.name, found.device_id, 100) for found in user.list_all()}
    assert {(each.file_id, each.name, each.device_id, each.size_bytes) for each in dry.examples} == kept
    assert all(each.kept_since.seconds * 1_000_000 <= aged for each in dry.examples)
    assert len(user.list_all(filter="trashed=true")) == 4


def test_command_line_removes_by_filter(binary, gateway, tmp_path, uploader, admin):
    run = unique("run")
    for _ in range(3):
        completed(uploader, content(100), {"run": run})
    command = CommandLine(binary, gateway, tmp_path).login()
    one = admin.list_all(filter=f"run={run}")[0].file_id
    assert command.json("rm", one, "--reason", "acceptance test")["file_ids"] == [one]
    assert command.json("rm", "--filter", f"run={run}", "--dry-run")["matching_objects"] == 2
    assert "--yes" in command.refused(USAGE, "rm", "--filter", f"run={run}")
    assert "OBJECT" in command.refused(USAGE, "rm")
    made = command.json("rm", "--filter", f"run={run}", "--yes")["operation"]
    # The command waits for the end.
    assert (made["status"], made["deleted_objects"]) == ("OBJECT_OPERATION_STATUS_SUCCEEDED", 2)
    assert command.json("object", "operation", "show", made["operation_id"]) == made
    assert made["operation_id"] in {
        each["operation_id"] for each in command.json("object", "operation", "list")["operations"]
    }
    command.json("object", "operation", "cancel", made["operation_id"])
    assert len(admin.list_all(filter=f"trashed=true run={run}")) == 3
    undo = command.json("object", "operation", "undo", made["operation_id"])
    assert undo["matching_objects"] == 2
    assert undo["operation"]["restored_objects"] == 2
    assert len(admin.list_all(filter=f"run={run}")) == 2
    assert "--yes" in command.refused(USAGE, "trash", "restore", "--filter", f"run={run}")
    assert "OBJECT" in command.refused(USAGE, "trash", "restore")
    assert command.json("trash", "restore", "--filter", f"run={run}", "--dry-run")["matching_objects"] == 1
    command.json("trash", "restore", "--filter", f"run={run}", "--yes")
    assert len(admin.list_all(filter=f"run={run}")) == 3
    command.json("rm", one)
    assert "--yes" in command.refused(USAGE, "trash", "purge", "--filter", f"run={run}")
    command.json("trash", "purge", "--filter", f"run={run}", "--yes", "--reason", "acceptance test")
    eventually(lambda: admin.list_all(filter=f"trashed=true run={run}") == [])
    assert "--yes" in command.refused(USAGE, "trash", "empty")
    assert command.json("trash", "empty", "--dry-run")["matching_objects"] >= 0


def test_command_line_says_that_nothing_matches(binary, new_organization, gateway, login, tmp_path):
    name = new_organization().organization
    command = CommandLine(binary, gateway, tmp_path).login()
    word, everywhere = unique("nothing"), "finds it anywhere in a name"
    for arguments in (
        ("rm", "--filter", f"name:{word}", "--dry-run"),
        ("rm", "--filter", f"name:{word}", "--yes"),
        ("trash", "restore", "--filter", f"name:{word}", "--yes"),
        ("trash", "purge", "--filter", f"name:{word}", "--yes"),
        ("trash", "list", f"{word}*"),
        ("object", "du", f"name={word}"),
        ("ls", f"{word}*"),
    ):
        done = command.run(*arguments)
        assert done.returncode == OK and f"'name:*{word}*' {everywhere}\n" in done.stdout, (arguments, done)
    assert command.run("ls", f"path:{word}").stdout == f"no objects; 'path:{word}/*' finds the files of a folder\n"
    # The filters of the hints are valid, and have no further hint.
    for filter in (f"name:*{word}*", f"path:{word}/*", word):
        assert command.run("ls", filter).stdout == "no objects\n"
    for arguments in (("rm", "run=7"), ("trash", "restore", "run=7"), ("trash", "purge", "run=7")):
        assert command.refused(REFUSED, *arguments).endswith("; for a filter, use --filter 'run=7'\n")
    assert "--filter" not in command.refused(REFUSED, "rm", word)
    for arguments in (("rm", "--filter", word, "--dry-run"), ("trash", "purge", "--filter", word, "--yes")):
        text = command.refused(REFUSED, *arguments)
        assert f"expected begins:{word} (" in text and f"or name:*{word}* (" in text
    # There is no question about nothing.
    for arguments, output in (
        (("rm", "--filter", f"name:{word}"), f"no object matches the filter name:{word}; "),
        (("trash", "empty", "--organization", name), "the trash is empty"),
    ):
        terminal = Terminal.running([binary, *arguments], command.environment, tmp_path)
        assert terminal.process.wait(WAIT_SECONDS) == OK
        text = terminal.closed().text
        assert output in text and "?" not in text


def test_command_line_sets_retention_rules(binary, gateway, tmp_path, new_organization, admin):
    command = CommandLine(binary, gateway, tmp_path).login()
    name = new_organization().organization
    retention = lambda *words: command.json("object", "retention", *words, "--organization", name)
    words = ["--rule", "7:kind=test", "--rule", "0:name:run*"]
    assert retention("set", "30", *words, "--dry-run")["affected_objects"] == 0
    assert retention("show") == {"days": 0, "rules": []}
    rules = [{"filter": "kind=test", "days": 7}, {"filter": "name:run*", "days": 0}]
    assert retention("set", "30", *words)["rules"] == rules
    assert retention("set", "60")["rules"] == rules
    assert retention("set", "60", "--no-rules")["rules"] == []
    assert "DAYS:FILTER" in command.refused(USAGE, "object", "retention", "set", "3", "--rule", "kind=test")


@pytest.mark.parametrize("days", [-1, 36_501])
def test_days_of_a_rule_are_limited(admin, stubs, days):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        rules = [{"filter": "kind=test", "days": days}]
        admin.object_management("SetRetention", days=1, rules=rules, replace_rules=True, dry_run=True)
    assert "rules[0].days" in refusal.message
