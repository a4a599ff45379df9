"""The upgrade of a catalog of an earlier version: its search tables are filled while the gateway serves and is killed."""

import sqlite3

import pytest
from support.database import changing, reading
from support.gateway import eventually
from support.monitoring import samples
from support.parties import Fleet
from support.uploads import completed, content

pytestmark = pytest.mark.sqlite

#: The numbers of objects and kills, and those with --full.
SHORT, FULL = (4000, 3), (1_000_000, 20)
DAY = 86_400_000_000
#: The kinds of object_facets, with the tables and values that they count.
FACETS = {
    1: ("objects", "''", "''"),
    2: ("objects", "''", "device_id"),
    3: ("objects", "''", "CAST(site_id AS TEXT)"),
    5: ("object_tags", "key", "value"),
    6: ("object_tags", "''", "key"),
    7: ("objects", "''", "CAST((coalesce(recorded_from, created_at) + 181440000000000000) / 900000000 AS TEXT)"),
    8: ("objects", "''", "content_type"),
}


def fill(database: sqlite3.Connection, organization: int, count: int) -> None:
    """Inserts objects like a gateway of an earlier version: without names, and without rows in the search tables."""
    database.execute(
        f"""
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $count)
        INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, device_id, bucket, object_key, size, etag,
            created_at, uploaded_at, verified_at)
        SELECT printf('0197%08x-7000-8000-%012x', i, i), printf('0198%08x-7000-8000-%012x', i, i),
            printf('0199%08x-7000-8000-%012x', i, i), $organization, 1 + i % 3, printf('260101-%06d', i % 50), 'data',
            printf('k%d', i), i, '"A"', i * 1000000, i * 1000000, {DAY} + i * 1000000 FROM n
        """,
        {"count": count, "organization": organization},
    )
    database.execute(
        """
        INSERT INTO object_tags (position, key, value)
        SELECT position, 'run', 'run-' || (size % 12) FROM objects UNION ALL
        SELECT position, 'batch', 'batch-' || (size / 100) FROM objects WHERE size % 2 = 0
        """
    )
    database.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")


def counted(database: sqlite3.Connection, kind: int) -> tuple[dict, dict]:
    """Returns the objects and bytes of facets of a kind as they are kept, and as the objects and tags have them."""
    table, key, value = FACETS[kind]
    kept = database.execute(
        "SELECT key, value, objects, bytes FROM object_facets WHERE kind = ? AND objects > 0", (kind,)
    )
    source = "objects" if table == "objects" else f"{table} JOIN objects USING (position)"
    right = database.execute(
        f"SELECT {key}, {value}, count(*), sum(size) FROM {source} GROUP BY 1, 2 HAVING {value} IS NOT NULL"
    )
    return tuple({(each[0], each[1]): each[2:] for each in rows} for rows in (kept, right))


def test_killed_upgrades_of_search_tables_end_complete(gateway_with, login, is_full):
    count, kills = FULL if is_full else SHORT
    ours = gateway_with(
        {
            # The long form takes longer than a token's default lifetime.
            "auth": {"access_token_lifetime_seconds": 86_400},
            "scrub": {"bytes_per_second": 0},
            "uploads": {"calls_per_minute": 0},
        }
    )
    uploader = Fleet.create(login(ours)).uploader()
    ours.stop()
    with changing(ours) as database:
        system = database.execute("SELECT id FROM organizations WHERE name = 'system'").fetchone()[0]
        fill(database, system, count)

    def remaining() -> float:
        """Returns the number of objects without rows, which is unknown at first after a start."""
        found = [value for name, _, value in samples(ours) if name == "data_gateway_search_upgrade_objects"]
        return found[0] if found else count

    ours.start()
    for kill in range(kills):
        user = login(ours)
        # Objects of both kinds are found meanwhile, also by tags.
        found = user.objects("ListObjects", filter="run=run-7", page_size=20).objects
        assert [each.size_bytes for each in found] == list(range(count - (count - 7) % 12, 0, -12))[:20]
        completed(uploader, content(1000), {"kill": f"kill-{kill}"})
        most = count * (kills - kill) // (kills + 1)
        eventually(lambda most=most: remaining() <= most, 600)
        ours.kill()
        ours.start()
    eventually(lambda: remaining() == 0, 600)
    user = login(ours)
    for filter, expected in [
        # A word is the beginning of batch-170 and the like as well, which only the long form has.
        ("batch-17", [size for size in range(count, 0, -1) if size % 2 == 0 and str(size // 100).startswith("17")]),
        ("batch=batch-18 run=run-0", [size for size in range(1899, 1799, -1) if size % 12 == 0]),
        ("name:260101-000049_1970-01-01T00-0*", [size for size in range(599, 0, -1) if size % 50 == 49]),
    ]:
        found = user.list_all(filter=filter)
        assert [each.size_bytes for each in found if each.size_bytes <= count] == expected, filter
    assert len(user.objects("ListObjects", filter="kill-*", page_size=1000).objects) == kills
    assert ours.stop() == 0
    with reading(ours) as database:
        for kind in FACETS:
            kept, right = counted(database, kind)
            assert kept == right, kind
        for table in ("object_prefixes WHERE kind = 1", "object_prefixes WHERE kind = 2"):
            positions = database.execute(f"SELECT count(DISTINCT position) FROM {table}").fetchone()[0]
            assert positions == count + kills, table
        assert database.execute("SELECT count(*) FROM search_upgrade").fetchone()[0] == 0
        assert database.execute("SELECT count(*) FROM objects WHERE tag_texts IS NULL").fetchone()[0] == 0
