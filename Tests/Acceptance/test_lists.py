"""The answers of lists are limited in bytes: each method is a list with pages, which are measured here, or docs/lists.md says
why its answer is small."""

import itertools
import re
import sqlite3
import time
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from support import stubs as protos
from support.database import changing
from support.parties import call
from support.services import LISTENERS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs/lists.md").read_text()
#: A page ends at a MiB by the gateway's estimate, which is not the exact size of a message.
MOST_BYTES = 1_400_000
ROWS = 600
TEXT = "x" * 4000
NOW = int(time.time() * 1_000_000)


@pytest.fixture(scope="module")
def methods(tmp_path_factory) -> dict[str, tuple[str, descriptor_pb2.MethodDescriptorProto, bool]]:
    """The methods with a repeated field or a stream in their responses, by name: service, descriptor, whether there are pages."""
    files = protos.descriptors(protos.PROTOS, tmp_path_factory.mktemp("descriptors")).file
    messages = {}
    for file in files:
        pending = [("." + file.package, message) for message in file.message_type]
        while pending:
            scope, message = pending.pop()
            messages[f"{scope}.{message.name}"] = message
            pending += [(f"{scope}.{message.name}", nested) for nested in message.nested_type]

    def repeats(name: str, seen: frozenset[str] = frozenset()) -> bool:
        if name in seen or name not in messages:
            return False
        return any(
            field.label == descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED or repeats(field.type_name, seen | {name})
            for field in messages[name].field
        )

    found = {}
    for service, package in [(service, file.package) for file in files for service in file.service]:
        for method in service.method:
            if method.server_streaming or repeats(method.output_type):
                response = messages.get(method.output_type)
                has_pages = response is not None and any(field.name == "next_page_token" for field in response.field)
                name = f"Health.{method.name}" if service.name == "Health" else method.name
                found[name] = (f"{package}.{service.name}", method, has_pages)
    return found


def section(title: str) -> str:
    return DOCUMENT.split(f"## {title}\n")[1].split("\n## ")[0]


def names(text: str) -> set[str]:
    return set(re.findall(r"`((?:Health\.)?[A-Z][A-Za-z]+)`", text))


def test_each_list_is_documented(methods):
    tables = section("Lists with pages"), section("Answers without pages")
    with_pages = names("\n".join(line.split("|")[1] for line in tables[0].splitlines() if line.startswith("| `")))
    assert with_pages == {name for name, (_, _, has_pages) in methods.items() if has_pages}
    others = names(tables[0] + tables[1]) - with_pages
    assert others - {"IsTruncated"} == {name for name, (_, _, has_pages) in methods.items() if not has_pages}


# Rows of lists, each with a long text


def ids(prefix: str):
    return (f"{prefix}-{number:08}" for number in itertools.count())


def insert(database: sqlite3.Connection, table: str, **columns) -> None:
    """Inserts rows; a value that is an iterator differs from row to row."""
    values = [value if hasattr(value, "__next__") else itertools.repeat(value) for value in columns.values()]
    marks = ", ".join("?" * len(columns))
    database.executemany(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
        itertools.islice(zip(*values, strict=False), ROWS),
    )


def fill(database: sqlite3.Connection) -> None:
    times = {"created_at": NOW, "updated_at": NOW}
    insert(database, "organizations", name=ids("o"), display_name=TEXT, kind=2, **times)
    insert(database, "sites", organization_id=1, name=ids(TEXT), status=1, **times)
    insert(database, "users", organization_id=1, name=ids(TEXT), role="viewer", password_hash="", **times)
    digests = (text.encode() for text in ids("digest"))
    invited = {"organization_id": 1, "inviter_id": 1, "role": "viewer", "created_at": NOW, "expires_at": 1 << 61}
    insert(database, "invitations", id=ids("i"), user_name=TEXT, digest=digests, **invited)
    # A key's name is in its entry twice.
    key = {"owner_kind": 1, "name": TEXT[:2000], "digest": TEXT[:2000].encode(), "status": 1}
    insert(database, "api_keys", id=ids("k"), organization_id=1, site_id=1, **key, **times)
    insert(database, "device_suites", organization_id=1, site_id=1, display_name="s", description=TEXT, **times)
    insert(
        database,
        "devices",
        id=ids("d"),
        organization_id=1,
        display_name="",
        description="",
        tags=f'{{"a":"{TEXT}"}}',
        **times,
    )
    insert(database, "logical_uploads", id=ids("l"), organization_id=1, site_id=1, created_at=NOW, file_name=TEXT)
    place = {"bucket": "data", "endpoint": "", "region": "", "backend": ""}
    upload = place | {"part_size": 65536, "created_at": NOW, "session_ends_at": 1 << 61}
    insert(database, "uploads", id=ids("u"), logical_id=ids("l"), state=1, is_restart=0, object_key=ids("u"), **upload)
    failure = {"organization_id": 1, "site_id": 1, "cause": 1, "ended_by": "", "stored_bytes": 0, "created_at": NOW}
    insert(
        database, "failed_uploads", id=ids("u"), logical_id=ids("l"), reason=TEXT, ended_at=NOW, **failure,
    )  # fmt: skip
    event = {
        "type": "object.verified",
        "subject": TEXT,
        "organization_id": 1,
        "organization": "system",
        "occurred_at": NOW,
    }
    insert(database, "events", position=itertools.count(1), id=ids("e"), payload="{}", **event)
    delivery = {"webhook": "hook", "subject": "s", "state": 3, "ended_at": NOW, "last_error": ""}
    insert(database, "event_deliveries", position=itertools.count(1), **delivery)
    job = {
        "request_digest": b"1",
        "endpoint": TEXT,
        "bucket": "",
        "region": "",
        "key_template": "",
        "state": 3,
        "items": 0,
    }
    job |= {"user_id": 1, "size": 0, "created_at": NOW, "finished_at": NOW, "claimed_at": 0, "reason": ""}
    insert(database, "copy_jobs", id=ids("j"), organization_id=1, **job)
    item = {
        "file_id": "",
        "upload_id": "",
        "object_key": ids(TEXT),
        "state": 3,
        "size": 0,
        "copied_bytes": 0,
        "attempts": 1,
    }
    item |= {"failures": 0, "due_at": 0, "error_code": "", "error_message": ""}
    insert(database, "copy_items", job_id="j-00000000", number=itertools.count(), **item)
    line = {"actor": "nobody", "organization": "system", "action": "Test", "target": TEXT, "peer": "", "result": "OK"}
    insert(database, "audit", at=NOW, organization_id=1, **line)
    operation = {
        "reason": "",
        "actor": "",
        "state": 2,
        "first_position": 0,
        "next_position": 0,
        "objects": 0,
        "bytes": 0,
    }
    operation |= {"created_at": NOW, "finished_at": NOW}
    insert(database, "object_operations", id=ids("o"), organization_id=1, filter=TEXT, **operation)
    described = {"organization_id": 1, "site_id": 1, "bucket": "data", "size": 0, "etag": '""', "created_at": NOW}
    described |= {"uploaded_at": NOW, "verified_at": NOW, "tag_bytes": len(TEXT) + 4, "name": "n", "content_type": ""}
    for prefix, bad_at in ("good", None), ("bad", NOW):
        insert(
            database, "objects", id=ids(prefix), file_id=ids(prefix), upload_id=ids(prefix), object_key=ids(prefix),
            bad_at=bad_at, **described,
        )  # fmt: skip
    database.execute("INSERT INTO object_tags SELECT position, 'text', ? FROM objects", [TEXT])


@pytest.fixture(scope="module")
def user(gateway_with, login, tmp_path_factory):
    secret = tmp_path_factory.mktemp("secrets") / "hook"
    secret.write_text("0123456789abcdef0123456789abcdef")
    hook = {"url": "http://127.0.0.1:9/", "secret_file": str(secret)}
    gateway = gateway_with({"webhooks": {"hook": hook}, "scrub": {"bytes_per_second": 0}})
    login(gateway)
    gateway.stop()
    with changing(gateway) as database:
        fill(database)
    return login(gateway.start())


REQUESTS = {"ListDeliveries": {"webhook": "hook"}, "ListCopyJobItems": {"copy_job_id": "j-00000000"}}


def test_pages_end_at_a_mebibyte(methods, user, stubs):
    for name, (service, method, has_pages) in methods.items():
        if has_pages:
            check(name, service, method, user, stubs)


def check(name, service, method, user, stubs):
    module = getattr(stubs, protos.PACKAGES[service.rpartition(".")[0]])
    request_type = getattr(module, method.input_type.rpartition(".")[2])
    response_type = getattr(module, method.output_type.rpartition(".")[2])
    (field,) = (field.name for field in response_type.DESCRIPTOR.fields if field.is_repeated)
    send = user.gateway.channel(LISTENERS[service]).unary_unary(
        f"/{service}/{name}", request_type.SerializeToString, response_type.FromString
    )
    seen, token, pages = [], "", 0
    while pages == 0 or token:
        request = request_type(page_size=1000, page_token=token, **REQUESTS.get(name, {}))
        response = call(send, request, user.token)
        assert response.ByteSize() <= MOST_BYTES, name
        entries = getattr(response, field)
        seen += [entry.SerializeToString() for entry in entries]
        # The audit log has a token at its end, too.
        token, pages = response.next_page_token if entries else "", pages + 1
    assert pages >= 3, name
    assert len(seen) >= ROWS and len(set(seen)) == len(seen), name
