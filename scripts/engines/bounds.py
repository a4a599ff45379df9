"""The longest values of the columns in indexes: an entry of an index of PostgreSQL has at most 2,704 bytes.

Sources limit each of them; the test of the limits is Tests/Acceptance/test_text_bounds.py.
"""

import re
import sqlite3

#: The size of an entry, with 16 bytes for its head.
LIMIT = 2704 - 16
_INTEGER = 8
#: The longest values of columns by name, in bytes of UTF-8: those that the gateway makes, digests, and names of settings.
_MADE = {
    "id": 64, "file_id": 64, "upload_id": 64, "logical_id": 64, "logical_upload_id": 64, "multipart_id": 64,
    "job_id": 64, "trash_operation_id": 64, "session_id": 64, "key_id": 64, "token_id": 64, "public_id": 64,
    "family": 64, "device_id": 64, "digest": 64, "origin": 64, "address": 64, "webhook": 32, "schedule": 32,
    "provider": 32, "setting": 64, "book": 64, "creator": 64, "tag": 64,
}  # fmt: skip
#: The longest values that clients and settings choose, in bytes of UTF-8; the columns of any table without one are those of
#: several tables.
CHOSEN = {
    "api_tokens.name": 128,  # FieldRules.title
    "console_tickets.session": 64,
    "companions_pictures.name": 128,  # made from a digest
    "configured_organizations.name": 64,  # FieldRules.accountName
    "copy_claims.path": 1024 + 1 + 63 + 1 + 1023,  # CopyPlace.longestEndpoint, ObjectName
    "copy_jobs.idempotency_key": 128,  # FieldRules.title
    "device_refusals.reason": 64,  # a detail code
    "devices.display_name": 128,  # FieldRules.optionalTitle
    "event_deliveries.subject": 160,  # a kind of resource, and its id
    "kept_responses.call_id": 64,  # TrustedProxies
    "kept_responses.method": 128,  # the path of one of our methods
    "migrations.name": 64,
    "object_facets.key": 64,  # TagRules.keyLength
    "object_facets.value": 2048,  # TagRules.valueLength
    "object_prefixes.prefix": 256,  # 64 characters (SearchEntry)
    "object_tags.key": 64,  # TagRules.keyLength
    "object_tags.value": 2048,  # TagRules.valueLength
    "object_topics.topic": 256,  # MCAPLimits.topicBytes
    "object_trigrams.trigram": 12,  # three characters (NameKey)
    "objects.name": 200,  # FileName.longest
    "objects.relative_path": 1024,  # RelativePath.longest
    "organizations.name": 64,  # FieldRules.accountName
    "saved_searches.name": 128,  # FieldRules.title
    "share_codes.code": 8,  # ShareCodeRegistry
    "sites.name": 128,  # FieldRules.title
    "store_buckets.name": 63,  # ObjectName.isBucket
    "store_engine_copies.target": 16,
    "store_files.layout_id": 32,
    "store_multiparts.bucket": 63,  # ObjectName.isBucket
    "store_multiparts.object_key": 1023 + 1024,  # a bucket's prefix, and a key in it
    "store_objects.bucket": 63,
    "store_objects.object_key": 1023 + 1024,
    "store_owner_usage.owner": 128,  # the id of a static key
    "store_owners.owner": 128,
    "store_quarantine.segment_id": 32,
    "store_segments.layout_id": 32,
    "store_segments.segment_id": 32,
    "share_codes.umid": 128,  # ShareCodeFields
    "sign_in_failures.subject": 32,  # a digest
    "status_requests.from_umid": 128,
    "status_requests.to_umid": 128,
    "umids.umid": 128,
    "upload_idempotency.key": 128,  # FieldRules.title
    "upload_usage.owner": 64,  # a device or a site
    "storage_warnings.subject": 64,  # the same, or the store
    "user_identities.email": 320,  # IdentityTokenRules
    "user_identities.issuer": 1024,  # IdentityProvider
    "user_identities.subject": 255,  # IdentityTokenRules
    "users.name": 64,  # FieldRules.accountName
}


def judge(database: sqlite3.Connection) -> list[str]:
    """Returns what is wrong: a column without a limit, an entry that may be too long, and a limit of no column."""
    failures, used = [], set()
    for name, table, columns in indexes(database):
        types = {column: kind for _, column, kind, *_ in database.execute(f"PRAGMA table_info({table})")}
        size = 0
        for column in columns:
            if types[column] == "INTEGER":
                size += _INTEGER
                continue
            key = f"{table}.{column}"
            used.add(key)
            if key not in CHOSEN and column not in _MADE:
                failures.append(f"{name}: the longest value of {key} is not in scripts/engines/bounds.py")
            size += CHOSEN.get(key) or _MADE.get(column, 0)
        if size > LIMIT:
            failures.append(f"{name}: an entry may have {size} bytes, and PostgreSQL permits {LIMIT}")
    failures += [f"no index has {key}, which is in scripts/engines/bounds.py" for key in CHOSEN if key not in used]
    return failures


def indexes(database: sqlite3.Connection) -> list[tuple[str, str, list[str]]]:
    """Returns each index and primary key: its name, its table and its columns, also those in expressions."""
    found = []
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = database.execute(f"PRAGMA table_info({table})").fetchall()
        key = [name for _, name, *_, place in columns if place]
        if key:
            found.append((f"the primary key of {table}", table, key))
        for _, index, *_ in database.execute(f"PRAGMA index_list({table})").fetchall():
            names = [name for _, _, name in database.execute(f"PRAGMA index_info({index})")]
            if None in names:
                (text,) = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index,)).fetchone()
                expressions = text.partition(" ON ")[2].partition("(")[2].partition(" WHERE ")[0]
                words = set(re.findall(r"\w+", expressions))
                names = [name for _, name, *_ in columns if name in words]
            found.append((index, table, names))
    return found
