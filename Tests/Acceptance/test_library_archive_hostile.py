"""The app for archives: hostile archives, and archives with an error or cut off, change nothing."""

import http.client
import json
import struct
import zipfile
import zlib

import pytest
from support.gateway import Gateway, eventually
from support.library_archive import (
    DOCUMENTS,
    OPEN_TO_ALL,
    Phone,
    archive,
    identifier,
    library,
    open_deleted_files,
    rows,
    tag,
)
from support.process_usage import memory


def entry(name: bytes, data: bytes, **changes) -> tuple[bytes, bytes]:
    """Returns the local part and the directory record of an entry, as a hostile program writes them."""
    method = changes.get("method", 0)
    packed = changes.get("packed", zlib.compress(data, 9)[2:-4] if method == 8 else data)
    size = changes.get("size", len(data))
    flags, checksum = changes.get("flags", 0), changes.get("crc", zlib.crc32(data))
    inner = changes.get("inner", name)
    fields = (20, flags, method, 0, 0x21, checksum, changes.get("packed_size", len(packed)), size)
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, *fields, len(inner), 0) + inner + packed
    record = struct.pack(
        "<IHHHHHHIIIHHHHHII",
        0x02014B50,
        20,
        *fields,
        len(name),
        0,
        0,
        changes.get("disk", 0),
        0,
        0,
        changes.get("offset", 0),
    )
    return local, record + name


def assembled(*entries: tuple[str, bytes, dict], count: int | None = None, comment: bytes = b"") -> bytes:
    body, directory = bytearray(), bytearray()
    for name, data, changes in entries:
        offset = changes.get("at", len(body))
        local, record = entry(name.encode(), data, **({"offset": offset} | changes))
        if "at" not in changes:
            body += local
        directory += record
    number = len(entries) if count is None else count
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, number, number, len(directory), len(body), len(comment))
    return bytes(body + directory + end + comment)


def plain(name: str) -> bytes:
    return json.dumps({name: library()[name]}).encode()


GOOD = [(f"{name}.json", plain(name), {}) for name in DOCUMENTS]


def with_change(document: str = "digests", **changes) -> bytes:
    return assembled(*[(n, d, changes if n == f"{document}.json" else c) for n, d, c in GOOD])


def bomb(megabytes: int, end: bytes = b"]}") -> bytes:
    """Returns a document that is compressed about 1:1000."""
    return archive(library() | {"digests": b'{"digests":[' + b" " * (megabytes << 20) + end})


def quine() -> bytes:
    """Returns an archive whose entries are all the same bytes of the archive."""
    return assembled(*GOOD[:3], ("digests.json", plain("books"), {"at": 0, "inner": b"books.json"}))


HOSTILE = {
    "empty": lambda: b"",
    "text": lambda: b"no archive",
    "end record only": lambda: struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0, 0, 0, 0, 0),
    "bytes before": lambda: b"#!/bin/sh\n" + assembled(*GOOD),
    "bytes after": lambda: assembled(*GOOD) + b"x",
    "two end records": lambda: assembled(*GOOD, comment=assembled()[-22:]),
    "parent": lambda: assembled(*GOOD, ("../evil.json", b"", {})),
    "absolute": lambda: assembled(*GOOD, ("/etc/passwd", b"", {})),
    "drive": lambda: assembled(*GOOD, ("C:evil", b"", {})),
    "backslash": lambda: assembled(*GOOD, ("..\\evil", b"", {})),
    "control character": lambda: assembled(*GOOD, ("a\x07b", b"", {})),
    "long name": lambda: assembled(*GOOD, ("a" * 256, b"", {})),
    "duplicate": lambda: assembled(*GOOD, GOOD[0]),
    "two names": lambda: with_change(inner=b"creators.json"),
    "overlap": quine,
    "into the directory": lambda: with_change(packed_size=1 << 20, size=1 << 20),
    "encrypted": lambda: with_change(flags=1),
    "strongly encrypted": lambda: with_change(flags=0x41),
    "split": lambda: with_change(disk=3),
    "bzip2": lambda: with_change(method=12),
    "checksum": lambda: with_change(crc=1),
    "too small a size": lambda: with_change(method=8, size=10),
    "too large a size": lambda: with_change(method=8, size=1 << 16),
    "no deflate stream": lambda: with_change(method=8, packed=b"\xff" * 100),
    "unfinished deflate stream": lambda: with_change(method=8, packed=zlib.compress(plain("digests"))[2:-10]),
    "bytes behind the stream": lambda: with_change(method=8, packed=zlib.compress(plain("digests"))[2:-4] + b"xx"),
    "bomb": lambda: bomb(65),
    "bomb of all documents": lambda: archive(dict.fromkeys(DOCUMENTS, b" " * (40 << 20))),
    "announced bomb": lambda: with_change(method=8, size=0xFFFFFFF0),
    "100001 entries": lambda: assembled(*GOOD, *[(f"{number}", b"", {}) for number in range(99_997)], count=34_465),
    "1001 entries": lambda: assembled(*GOOD, *[(f"{number}", b"", {}) for number in range(997)]),
    "too few in the end record": lambda: assembled(*GOOD, count=3),
    "too many in the end record": lambda: assembled(*GOOD, count=5),
    "a file is missing": lambda: assembled(*GOOD[:3]),
    "a file in a folder": lambda: assembled(*GOOD[:3], ("x/digests.json", plain("digests"), {})),
}


@pytest.fixture(scope="module")
def attacked(gateway_with) -> Gateway:
    gateway = gateway_with(OPEN_TO_ALL)
    assert Phone(gateway).take(archive(library())) == (200, {"ok": True})
    return gateway


# Hostile archives


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_archive_changes_nothing(attacked, kind):
    phone, before = Phone(attacked), rows(attacked)
    status, response = phone.take(HOSTILE[kind]())
    assert status == 500 and list(response) == ["message"] and response["message"].startswith("导入失败"), response
    assert rows(attacked) == before and phone.status() == "normal"
    eventually(lambda: not open_deleted_files(attacked))
    assert not list(attacked.data.glob(".request-*"))


def test_archive_cut_anywhere_in_its_directory_changes_nothing(attacked):
    phone, before = Phone(attacked), rows(attacked)
    whole = assembled(*GOOD)
    start = whole.index(struct.pack("<I", 0x02014B50))
    for end in range(start, len(whole)):
        status, response = phone.take(whole[:end])
        assert status == 500 and response["message"].startswith("导入失败"), end
    assert rows(attacked) == before


def test_memory_stays_bounded_under_hostile_archives(attacked):
    phone = Phone(attacked)
    # Documents that are read as a whole, the last with as many objects in one record as fit.
    elements = b'{"digests":[' + b"{}," * (20 << 20)
    tags = json.dumps({"digests": [{"id": identifier(1), "tags": [{}] * 1_300_000}]}, separators=(",", ":"))
    stored = [archive(library() | {"digests": each}, zipfile.ZIP_STORED) for each in (elements, tags)]
    attacks = [bomb(60, end=b""), HOSTILE["bomb of all documents"](), *stored]
    for attack in attacks:
        assert phone.take(attack)[0] == 500
    assert memory(attacked.process.pid, "VmHWM") < 700 << 20
    eventually(lambda: not open_deleted_files(attacked))


def test_archive_above_the_limit_is_refused_after_its_end(attacked):
    before = rows(attacked)
    status, response = Phone(attacked).take(b"\0" * ((64 << 20) + 1))
    assert (status, response) == (500, {"message": "导入失败: 备份最大为 64 MiB"})
    assert rows(attacked) == before
    eventually(lambda: not open_deleted_files(attacked))


# Archives with an error, and clients that go away


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("not JSON", "the text is not valid JSON"),
        ('{"other":[]}', "is missing"),
        ("half", "the text is not valid JSON"),
        ("no id", "[0]: id must be a UUID"),
        ("time", "[0]: updatedAt must be a time of RFC 3339"),
        ("type", "[0]: "),
        ("long", "must be at most"),
    ],
)
def test_error_in_one_document_changes_nothing(attacked, document, damage, problem):
    before = rows(attacked)
    documents = {name: [dict(one) for one in records] for name, records in library().items()}
    # So that every document would change something.
    for records in documents.values():
        records[0] |= {"serverId": "changed"}
    text = json.dumps({document: documents[document]})
    first = documents[document][0]
    if damage == "half":
        documents[document] = text[: len(text) // 2]
    elif damage == "no id":
        first |= {"id": "1"}
    elif damage == "time":
        first |= {"updatedAt": "yesterday"}
    elif damage == "type":
        first |= {"createdAt": 5}
    elif damage == "long":
        first |= {"serverId": "x" * 5000}
    else:
        documents[document] = damage
    status, response = Phone(attacked).take(archive(documents))
    assert status == 500, response
    assert response["message"].startswith(f"数据转换失败: {document}.json: ") and problem in response["message"], (
        response
    )
    assert rows(attacked) == before
    assert Phone(attacked).status() == "normal"


def test_errors_of_digests_name_the_record_and_the_rule(attacked):
    documents = library()
    documents["digests"][2] |= {"category": 2}
    assert Phone(attacked).take(archive(documents)) == (
        500,
        {"message": "数据转换失败: digests.json: digests[2]: category must be 0 (a sentence) or 1 (a paragraph)"},
    )


def test_disconnected_client_leaves_the_library_free(attacked):
    before, phone = rows(attacked), Phone(attacked)
    data = archive(library() | {"tags": [tag(30, "lost")]})
    host, port = attacked.listeners["apps"].split(":")
    connection = http.client.HTTPConnection(host, int(port))
    connection.putrequest("POST", "/import")
    connection.putheader("content-type", "application/octet-stream")
    connection.putheader("content-length", str(len(data)))
    connection.endheaders()
    connection.send(data[: len(data) // 2])
    eventually(lambda: phone.status() == "importing")
    # One at a time.
    assert phone.take(data) == (500, {"message": "暂时无法处理导入工作"})
    status, fields, body = phone.raw("GET", "/export")
    assert (status, json.loads(body)) == (500, {"message": "暂时不能处理导出工作"}) and fields["retry-after"] == "1"
    connection.sock.close()
    connection.close()
    eventually(lambda: phone.status() == "normal")
    assert rows(attacked) == before
    eventually(lambda: not open_deleted_files(attacked))
