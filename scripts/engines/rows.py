"""Rows of a gateway with many objects, made in SQL, for the plans of statements."""

import re
import sqlite3

import psycopg

from . import postgres, schema

#: The tables that do not grow with devices, uploads, users or time, or of which a row stands for a setting or a process; all of
#: their rows may be read. The number of rows is that of a large gateway.
SMALL = {
    "migrations": 75, "organizations": 50, "retention": 50, "trash_settings": 50, "retention_rules": 100,
    "configured_organizations": 5, "app_organizations": 5, "audit_usage": 50, "address_announcements": 50,
    "store_buckets": 10, "store_directory": 1, "store_engine_copies": 2, "store_identity": 1, "store_owner_usage": 20,
    "scrub_state": 1, "search_upgrade": 1, "facet_bytes_upgrade": 1, "object_trigram_range": 1, "root_key": 1, "clock": 1, "identity_keys": 5, "manual_backups": 1, "libraries": 5, "collisions": 100,
    "backup_runs": 400, "store_pauses": 2, "silence_watch": 1, "storage_warnings": 100,
}  # fmt: skip
#: The rows of tables for each object; other tables have `_LEAST` rows.
_FOR_EACH_OBJECT = {
    "objects": 1, "object_tags": 3, "object_prefixes": 5, "object_trigrams": 0.5, "object_facets": 0.1, "object_times": 0.1, "object_topics": 1,
    "unread_recordings": 0.1, "deleted_objects": 0.5, "logical_uploads": 1, "uploads": 1.2, "superseded_uploads": 0.1, "failed_uploads": 0.2,
    "upload_idempotency": 0.2, "store_objects": 1, "store_multiparts": 0.2, "store_parts": 1, "store_usage": 1,
    "store_owners": 0.2, "store_discards": 0.05, "store_removals": 0.1, "store_releases": 0.05, "events": 0.5,
    "event_deliveries": 1, "audit": 1, "copy_jobs": 0.05, "copy_items": 0.5, "copy_claims": 0.3, "object_days": 0.1,
    "upload_usage": 0.1, "sessions": 0.1, "refresh_tokens": 0.2, "devices": 0.1, "api_keys": 0.1, "users": 0.05,
}  # fmt: skip
_LEAST = 5000
_TIME = re.compile(r"(_at|_until|_before|_from|_to|^at|^since)$")
_TYPES = {"INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}
#: The values of columns whose name says less than these; `i` counts the rows from 0.
_VALUES = {
    "organization_id": "1 + i % 50",
    "site_id": "1 + i % 500",
    "suite_id": "1 + i % 500",
    "device_id": "'devices-' || i % 2000",
    "user_id": "1 + i % 5000",
    "upload_id": "'uploads-' || i",
    "logical_id": "'logical-' || i",
    "file_id": "'files-' || i",
    "multipart_id": "'multipart-' || i / 4",
    "job_id": "'jobs-' || i / 10",
    "object_key": "'folder' || i % 100 || '/key' || i",
    "bucket": "'bucket' || i % 3",
    "relative_path": "'folder' || i % 100 || '/file' || i",
    "kind": "i % 6",
    "library": "1 + i % 5",
    "number": "i % 100",
    "webhook": "'webhook' || i % 3",
    "state": "CASE WHEN i % 50 = 0 THEN i / 50 % 5 ELSE 3 END",
    "completed": "CASE WHEN i % 10 = 0 THEN 0 ELSE 1 END",
    "bytes": "i % 1000 + 1",
    "position": "i + 1",
}
#: The same for single columns.
_VALUES_OF_TABLES = {
    "object_tags": {"position": "i / 3 + 1", "key": "'key' || i % 3", "value": "'value' || i % 1000"},
    "object_topics": {"position": "i + 1", "topic": "'/topic' || i % 100"},
    "object_prefixes": {"prefix": "'prefix' || i % 1000", "kind": "1 + i % 3", "position": "i / 5 + 1"},
    "object_trigrams": {"trigram": "'t' || i % 100", "segment": "i / 100"},
    "object_facets": {
        "kind": "CASE WHEN i < 50 THEN 1 ELSE 2 + i % 5 END",
        "key": "'key' || i % 3",
        "value": "'value' || i",
    },
    "object_times": {"span": "CASE i % 10 WHEN 0 THEN 86400000000 ELSE 600000000 END", "start": "i"},
    "object_days": {"day": "i / 50"},
    "store_parts": {"number": "i % 4"},
    "copy_items": {"number": "i % 10"},
    "store_owners": {"upload_id": "'direct-' || i", "owner": "'owner' || i % 20"},
    "api_keys": {"device_id": "'devices-' || i"},
    "store_owner_usage": {"owner": "'owner' || i"},
    "refresh_tokens": {"family": "'sessions-' || i / 2"},
    "event_deliveries": {"position": "i / 2 + 1"},
    "libraries": {"is_current": "1"},
}


def _value(table: str, column: schema.Column, keys: list[str]) -> str:
    """Returns the expression of a column's value, of which `i` is the number of the row."""
    value = _VALUES_OF_TABLES.get(table, {}).get(column.name)
    if value is None and keys == [column.name]:
        # A key of one column.
        value = {"INTEGER": "i + 1", "TEXT": f"'{table}-' || i"}.get(column.type)
        if column.name in ("upload_id", "file_id") and column.type == "TEXT":
            value = _VALUES[column.name]
    if value is None:
        value = _VALUES.get(column.name) or _of_type(column)
        if column.is_nullable and column.name not in ("device_id", "suite_id", "name", "relative_path"):
            value = f"CASE WHEN i % 10 = 0 THEN {value} END"
        elif keys and column.name == keys[-1] and column.type == "INTEGER" and column.name not in _VALUES:
            value = "i"
    return f"CAST({value} AS {_TYPES[column.type]})"


def _of_type(column: schema.Column) -> str:
    if column.type == "BLOB":
        return "decode(md5(i::text), 'hex')"
    if column.type == "TEXT":
        return f"'{column.name}' || i"
    if _TIME.search(column.name):
        return "1700000000000000 + i * 1000000"
    return (
        "CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END" if re.match(r"(is|has|had|needs)_|lost", column.name) else "i % 1000"
    )


def count(table: str, objects: int) -> int:
    """Returns the number of rows of a table of a gateway with that number of objects."""
    return SMALL.get(table) or max(_LEAST, int(objects * _FOR_EACH_OBJECT.get(table, 0)))


def make(connection: psycopg.Connection, database: sqlite3.Connection, objects: int) -> None:
    """Makes the schema of a SQLite database, with rows and with statistics."""
    found = schema.objects(database)
    columns = schema.columns(database)
    postgres.create(connection, [object for object in found if object.kind == "table"])
    # Neither triggers nor foreign keys: rows refer to others whose number may be lower.
    connection.execute("SET session_replication_role = replica")
    for object in found:
        if object.kind != "table":
            continue
        keys = [
            name
            for _, name, *_, key in sorted(
                database.execute(f"PRAGMA table_info({object.name})"), key=lambda row: row[-1]
            )
            if key
        ]
        names = columns[object.name]
        values = ", ".join(_value(object.name, column, keys) for column in names.values())
        connection.execute(
            f"INSERT INTO {object.name} ({', '.join(names)}) SELECT {values} "
            f"FROM generate_series(CAST(0 AS bigint), {count(object.name, objects) - 1}) AS i ON CONFLICT DO NOTHING"
        )
    connection.execute("SET session_replication_role = DEFAULT")
    postgres.create(connection, [object for object in found if object.kind != "table"])
    postgres.complete(connection)
    connection.execute("ANALYZE")
