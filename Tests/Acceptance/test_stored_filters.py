"""Filters that an older gateway stored, in which a word stood for the beginning of a name, a device or a tag's value."""

import time

import pytest
from support import older as older_gateway
from support.database import changing, rows
from support.gateway import Gateway, eventually
from support.parties import User, call
from support.refusal import refused

pytestmark = pytest.mark.sqlite

DAY = 86_400_000_000
#: The objects by name: their tags, and whether the word "test" stood for them.
OBJECTS = {
    "test-drive.mcap": ({}, True),
    "TESTBED.csv": ({}, True),
    "run.mcap": ({"kind": "Testing"}, True),
    "latest.mcap": ({}, False),
    "a test.mcap": ({"kind": "a test", "test": "1"}, False),
}


def add(database, name: str, tags: dict[str, str], age_days: int) -> None:
    """Inserts a copy of the only object, as that version stored objects, with another name and age."""
    columns = [column for _, column, *_ in database.execute("PRAGMA table_info(objects)")]
    values = ", ".join(
        {
            "position": "NULL",
            "id": "$name",
            "file_id": "$name",
            "upload_id": "$name",
            "logical_upload_id": "NULL",
            "name": "$name",
            "verified_at": "$verified_at",
            "tag_texts": "NULL",
        }.get(column, column)
        for column in columns
    )
    position = database.execute(
        f"INSERT INTO objects ({', '.join(columns)}) SELECT {values} FROM objects WHERE position = 1",
        {"name": name, "verified_at": time.time_ns() // 1000 - age_days * DAY},
    ).lastrowid
    database.executemany("INSERT INTO object_tags VALUES (?, ?, ?)", [(position, *tag) for tag in tags.items()])


@pytest.fixture
def upgraded(binary, tmp_path, stubs):
    """A function that starts a gateway on the data of an older one, with objects of an age, and what `store` inserts."""

    gateway = Gateway(binary, tmp_path)

    def start(age_days: int, store) -> tuple[Gateway, User]:
        older_gateway.unpack("0.2.0", gateway.data)
        with changing(gateway) as database:
            for name, (tags, _) in OBJECTS.items():
                add(database, name, tags, age_days)
            database.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")
            store(database)
        user = User.login(gateway.start(), stubs, "system", "admin", older_gateway.PASSWORD)
        # The data are more than a day old, which looks like a step of the clock.
        clock = stubs.gateway.ClockServiceStub(gateway.channel("admin"))
        step = call(clock.GetClock, stubs.gateway.GetClockRequest(), user.token).step_seconds
        call(clock.ConfirmClock, stubs.gateway.ConfirmClockRequest(step_seconds=step), user.token)
        # Rules are applied at the start, which may have been before the confirmation, and then once a minute.
        gateway.stop()
        return gateway, User.login(gateway.start(), stubs, "system", "admin", older_gateway.PASSWORD)

    yield start
    gateway.close()


def names(user: User, filter: str) -> set[str]:
    return {found.name for found in user.list_all(filter=filter)}


def hit() -> set[str]:
    return {name for name, (_, is_hit) in OBJECTS.items() if is_hit}


def test_rule_of_an_older_gateway_hits_the_same_objects(upgraded, stubs):
    # Much older than the rule requires: the time since the data were made counts as an error of their times, which makes them younger.
    gateway, user = upgraded(
        4000, lambda database: database.execute("INSERT INTO retention_rules VALUES (1, 0, 'test', 7)")
    )
    retention = user.object_management("GetRetention")
    assert [(rule.filter, rule.days) for rule in retention.rules] == [("begins:test", 7)]
    eventually(lambda: names(user, "trashed=true") == hit())
    assert names(user, "") == {"drive 7.mcap", *OBJECTS} - hit()
    # What GetRetention returns can be set again; the word cannot.
    rules = [{"filter": rule.filter, "days": rule.days} for rule in retention.rules]
    assert user.object_management("SetRetention", rules=rules, replace_rules=True).rules == retention.rules
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        user.object_management("SetRetention", rules=[{"filter": "test", "days": 7}], replace_rules=True)
    assert "expected begins:test (" in refusal.message and "or name:*test* (" in refusal.message
    assert rows(gateway, "SELECT count(*) FROM objects WHERE trashed_at IS NOT NULL") == [(len(hit()),)]


def test_deletion_in_progress_on_an_older_gateway_hits_the_same_objects(upgraded):
    def store(database) -> None:
        database.execute(
            """
            INSERT INTO object_operations (id, organization_id, filter, reason, actor, state, first_position, next_position,
                objects, bytes, created_at)
            SELECT 'x', 1, 'test', '', 'user:system/admin', 1, max(position) + 1, max(position) + 1, 0, 0, $now FROM objects
            """,
            {"now": time.time_ns() // 1000},
        )

    _, user = upgraded(1, store)
    eventually(lambda: names(user, "trashed=true") == hit())
    operation = user.object_management("GetObjectOperation", operation_id="x").operation
    assert (operation.filter, operation.deleted_objects) == ("begins:test", len(hit()))
