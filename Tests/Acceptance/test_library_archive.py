"""The app for archives: export, import and search of a library by its page, by programs, and by hostile archives."""

import errno
import http.client
import http.server
import io
import json
import random
import shutil
import sqlite3
import struct
import subprocess
import threading
import time
import uuid
import zipfile
import zlib
from pathlib import Path

import pytest
from support import described_calls
from support.app_calls import App
from support.browser import Browser
from support.commands import CommandLine
from support.faults import SYNC, WRITE, Faults
from support.gateway import Gateway, eventually
from support.process_usage import memory

OPEN_TO_ALL = {
    "listeners": {"apps": "127.0.0.1:0"},
    "apps": {"archive": {"enabled": True, "access": "anyone"}},
}
MEMBERS = {"listeners": {"apps": "127.0.0.1:0"}, "apps": {"archive": {"enabled": True, "organization": "kvasir"}}}
DOCUMENTS = ("books", "creators", "tags", "digests")
TABLES = (
    "library_books",
    "library_creators",
    "library_tags",
    "library_digests",
    "library_authorship",
    "library_tagging",
)
TIME = "2019-06-09T14:51:29.574Z"


def identifier(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))).upper()


def common(number: int, updated: str = TIME) -> dict:
    return {"id": identifier(number), "serverId": "", "createdAt": TIME, "updatedAt": updated}


def book(number: int, name: str, digests=(), authors=(), translators=()) -> dict:
    return common(number) | {
        "isbn13": "9787020002207",
        "isbn10": "7020002200",
        "name": name,
        "localeName": "",
        "summary": "开卷有益",
        "publisher": "人民文学出版社",
        "imageLarge": "https://img.example/l.jpg",
        "imageMedium": "https://img.example/m.jpg",
        "authors": list(authors),
        "translators": list(translators),
        "digestIds": list(digests),
    }


def tiny(one: dict) -> dict:
    return {"id": one["id"], "isbn13": one["isbn13"], "isbn10": one["isbn10"], "bookName": one["name"]}


def creator(number: int, name: str, written=(), translated=()) -> dict:
    return common(number) | {
        "name": name,
        "localeName": "",
        "writtenBooks": [tiny(one) for one in written],
        "translatedBooks": [tiny(one) for one in translated],
    }


def tag(number: int, name: str, digests=()) -> dict:
    return common(number) | {"name": name, "color": "#3b6ea5", "digestIds": list(digests)}


def digest(number: int, content: str, category: int = 0, of=None, tags=(), updated: str = TIME) -> dict:
    return (
        common(number, updated)
        | {"content": content, "pageIndex": number % 500, "category": category}
        | ({"book": tiny(of)} if of else {})
        | {"tags": [{"id": one["id"], "name": one["name"], "color": one["color"]} for one in tags]}
    )


def library() -> dict[str, list[dict]]:
    """Returns a library by the rules of the app, in which each relation is in the documents of both sides."""
    sentences = [identifier(number) for number in (100, 101)]
    dream = book(1, "红楼梦", sentences, ["曹雪芹", "高鹗"])
    ulysses = book(2, "Ulysses", [identifier(102)], ["James Joyce"], ["萧乾"])
    alone = book(3, '"quoted" \\ 😀\n')
    creators = [
        creator(10, "曹雪芹", [dream]),
        creator(11, "高鹗", [dream]),
        creator(12, "James Joyce", [ulysses]),
        creator(13, "萧乾", translated=[ulysses]),
        creator(14, "nobody"),
    ]
    red, blue = tag(20, "红", sentences), tag(21, "蓝", [identifier(102), sentences[0]])
    digests = [
        digest(100, "满纸荒唐言，一把辛酸泪", 0, dream, [red, blue]),
        digest(101, "都云作者痴，谁解其中味", 0, dream, [red]),
        digest(102, "Stately, plump Buck Mulligan", 1, ulysses, [blue]),
        digest(103, "of no book"),
    ]
    return {
        "books": [dream, ulysses, alone],
        "creators": creators,
        "tags": [red, blue, tag(22, "空")],
        "digests": digests,
    }


def archive(documents: dict, method: int = zipfile.ZIP_DEFLATED, **options) -> bytes:
    """Returns a zip archive of documents; a document that is a text or bytes is written as it is."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method, **options) as made:
        for name, content in documents.items():
            text = content if isinstance(content, str | bytes) else json.dumps({name: content}, ensure_ascii=False)
            made.writestr(f"{name}.json", text)
    return output.getvalue()


def unpacked(data: bytes) -> dict[str, list[dict]]:
    """Returns the documents of an archive; lists without a meaning of their order are sorted."""
    documents = {}
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        assert made.testzip() is None
        assert sorted(made.namelist()) == sorted(f"{name}.json" for name in DOCUMENTS)
        for name in DOCUMENTS:
            content = json.loads(made.read(f"{name}.json"))
            assert list(content) == [name]
            documents[name] = content[name]
    return sorted_lists(documents)


def sorted_lists(documents: dict) -> dict:
    def each(value):
        if isinstance(value, dict):
            return {name: each(member) for name, member in value.items()}
        if isinstance(value, list):
            return sorted((each(element) for element in value), key=lambda one: json.dumps(one, sort_keys=True))
        return value

    return {name: each(records) for name, records in documents.items()}


class Phone(App):
    """A program that keeps the cookie of its member."""

    cookie: str | None = None

    def raw(self, method: str, path: str, body: bytes | None = None, **fields: str):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.cookie:
            headers["cookie"] = self.cookie
        connection = http.client.HTTPConnection(self.gateway.listeners[self.listener], timeout=120)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, content
        finally:
            connection.close()

    def take(self, data: bytes) -> tuple[int, dict]:
        """Imports an archive, and returns the status and the JSON."""
        status, _, body = self.raw("POST", "/import", data, content_type="application/octet-stream")
        return status, json.loads(body)

    def export(self) -> bytes:
        status, fields, body = self.raw("GET", "/export")
        assert status == 200, body
        assert fields["content-type"] == "application/zip"
        return body

    def sign_in(self, name: str, password: str) -> int:
        body = json.dumps({"name": name, "password": password}).encode()
        status, fields, _ = self.raw("POST", "/session", body, content_type="application/json")
        if status == 204:
            self.cookie = fields["set-cookie"].split(";")[0]
        return status

    def status(self) -> str:
        return json.loads(self.raw("GET", "/status")[2])["status"]


def rows(gateway: Gateway) -> list:
    """Returns everything that the tables have of the libraries that somebody reads."""
    database = sqlite3.connect(f"file:{gateway.data}/gateway.db?mode=ro", uri=True)
    try:
        found = []
        for table in TABLES:
            columns = [row[1] for row in database.execute(f"SELECT * FROM pragma_table_info('{table}')")]
            names = ", ".join(f"t.{name}" for name in columns if name != "library")
            query = (
                f"SELECT l.owner, {names} FROM {table} t JOIN libraries l ON l.id = t.library "
                "WHERE l.is_current = 1 AND l.owner IS NOT NULL"
            )
            found.append(sorted(database.execute(query).fetchall(), key=repr))
        return found
    finally:
        database.close()


def left(gateway: Gateway) -> list:
    """Returns the libraries that nobody reads: those that are not current, and those of deleted accounts."""
    database = sqlite3.connect(f"file:{gateway.data}/gateway.db?mode=ro", uri=True)
    try:
        return database.execute("SELECT id FROM libraries WHERE is_current = 0 OR owner IS NULL").fetchall()
    finally:
        database.close()


def count_rows(gateway: Gateway) -> int:
    """Returns the number of rows of all libraries."""
    database = sqlite3.connect(f"file:{gateway.data}/gateway.db?mode=ro", uri=True)
    try:
        return sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("libraries", *TABLES))
    finally:
        database.close()


def open_deleted_files(gateway: Gateway) -> list[str]:
    """Returns the files of the process without a name in the data directory."""
    names = []
    for link in Path(f"/proc/{gateway.process.pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if target.startswith(str(gateway.data)) and target.endswith("(deleted)"):
            names.append(target)
    return names


@pytest.fixture(scope="module")
def shared(gateway_with) -> Gateway:
    """A gateway with one library, which everybody on this machine uses."""
    return gateway_with(OPEN_TO_ALL)


@pytest.fixture
def phone(shared) -> Phone:
    return Phone(shared)


@pytest.fixture
def empty(gateway_with) -> Phone:
    """A phone with a library of its own."""
    return Phone(gateway_with(OPEN_TO_ALL))


@pytest.fixture(scope="module")
def members(binary, gateway_with, tmp_path_factory):
    """A gateway with the members ada and bob."""
    gateway = gateway_with(MEMBERS)
    operator = CommandLine(binary, gateway, tmp_path_factory.mktemp("operator"))
    operator.login()
    for name in ("ada", "bob"):
        create_member(operator, name)
    return gateway


def create_member(operator: CommandLine, name: str) -> None:
    created = ("user", "create", name, "--role", "member", "--organization", "kvasir", "--password-stdin")
    operator.json(*created, input=f"{name}'s password\n")


def member(gateway: Gateway, name: str) -> Phone:
    phone = Phone(gateway)
    assert phone.sign_in(name, f"{name}'s password") == 204
    return phone


# Round trips


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_library_is_the_same_after_import_and_export(empty, method):
    assert empty.take(archive(library(), method)) == (200, {"ok": True})
    first = empty.export()
    assert unpacked(first) == sorted_lists(library())
    # Again, with the gateway's own archive.
    assert empty.take(first) == (200, {"ok": True})
    assert unpacked(empty.export()) == sorted_lists(library())


def test_export_of_an_empty_library_has_four_empty_documents(empty):
    status, fields, body = empty.raw("GET", "/export")
    assert (status, unpacked(body)) == (200, {name: [] for name in DOCUMENTS})
    name = fields["content-disposition"].split('"')[1]
    assert fields["content-disposition"] == f'attachment; filename="{name}"'
    assert name.startswith("backup_20") and name.endswith(".zip") and len(name) == len("backup_2026-11-22_14:45:00.zip")
    assert empty.status() == "normal"


def test_import_replaces_what_the_archive_has_and_keeps_the_rest(empty):
    assert empty.take(archive(library()))[0] == 200
    changed = library()
    changed["books"] = [book(1, "石头记", [identifier(101), identifier(999)])]
    changed["creators"] = []
    changed["tags"] = [tag(20, "朱", [identifier(100)])]
    changed["digests"] = [digest(100, "字字看来皆是血", 1)]
    assert empty.take(archive(changed)) == (200, {"ok": True})
    found = unpacked(empty.export())
    names = {one["name"]: one for one in found["books"]}
    assert set(names) == {"石头记", "Ulysses", '"quoted" \\ 😀\n'}
    assert names["石头记"]["digestIds"] == [identifier(101)]
    assert names["石头记"]["authors"] == sorted(["曹雪芹", "高鹗"], key=json.dumps)
    digests = {one["id"]: one for one in found["digests"]}
    assert len(digests) == 4 and digests[identifier(100)]["content"] == "字字看来皆是血"
    assert "book" not in digests[identifier(100)]
    assert digests[identifier(101)]["book"]["bookName"] == "石头记"
    assert sorted(one["name"] for one in digests[identifier(100)]["tags"]) == ["朱", "蓝"]
    assert digests[identifier(101)]["tags"] == []


@pytest.mark.parametrize("program", ["unzip", "7z", "minizip"])
def test_other_programs_read_and_write_archives(empty, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    source = tmp_path / "source"
    source.mkdir()
    for name, records in library().items():
        (source / f"{name}.json").write_text(json.dumps({name: records}, ensure_ascii=False))
    files = [f"{name}.json" for name in DOCUMENTS]
    theirs = tmp_path / "theirs.zip"
    if program == "minizip":
        subprocess.run(["minizip", "-o", "-9", theirs, *files], cwd=source, check=True, capture_output=True)
    elif program == "7z":
        subprocess.run(["7z", "a", "-tzip", theirs, *files], cwd=source, check=True, capture_output=True)
    else:
        theirs.write_bytes(archive(library()))
    assert empty.take(theirs.read_bytes()) == (200, {"ok": True})
    ours = tmp_path / "ours.zip"
    ours.write_bytes(empty.export())
    target = tmp_path / "target"
    target.mkdir()
    command = {
        "unzip": ["unzip", "-q", ours, "-d", target],
        "7z": ["7z", "x", f"-o{target}", ours],
        "minizip": ["miniunzip", "-x", "-o", ours, "-d", target],
    }[program]
    if program == "minizip" and not shutil.which("miniunzip"):
        command = ["miniunz", *command[1:]]
    subprocess.run(command, cwd=target, check=True, capture_output=True)
    for test in (["unzip", "-tq", ours], ["7z", "t", ours]):
        if shutil.which(test[0]):
            subprocess.run(test, check=True, capture_output=True)
    found = {name: json.loads((target / f"{name}.json").read_text())[name] for name in DOCUMENTS}
    assert sorted_lists(found) == sorted_lists(library())


def test_archives_with_descriptors_and_zip64_are_read(empty):
    class Unseekable(io.RawIOBase):
        """A stream, so that sizes follow the entries."""

        def __init__(self):
            self.data = bytearray()

        def writable(self):
            return True

        def write(self, data):
            self.data += data
            return len(data)

    for zip64 in (False, True):
        output = Unseekable()
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as made:
            for name, records in library().items():
                with made.open(f"{name}.json", "w", force_zip64=zip64) as entry:
                    entry.write(json.dumps({name: records}).encode())
        assert empty.take(bytes(output.data)) == (200, {"ok": True}), zip64
    assert unpacked(empty.export()) == sorted_lists(library())


# Hostile archives


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


def bomb(megabytes: int) -> bytes:
    """Returns a document that is compressed about 1:1000."""
    return archive(library() | {"digests": b'{"digests":[' + b" " * (megabytes << 20) + b"]}"})


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
    "bomb": lambda: bomb(50),
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


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_archive_changes_nothing(attacked, kind):
    phone, before = Phone(attacked), rows(attacked)
    status, answer = phone.take(HOSTILE[kind]())
    assert status == 500 and list(answer) == ["message"] and answer["message"].startswith("导入失败"), answer
    assert rows(attacked) == before and phone.status() == "normal"
    eventually(lambda: not open_deleted_files(attacked))
    assert not list(attacked.data.glob(".request-*"))


def test_archive_cut_anywhere_in_its_directory_changes_nothing(attacked):
    phone, before = Phone(attacked), rows(attacked)
    whole = assembled(*GOOD)
    start = whole.index(struct.pack("<I", 0x02014B50))
    for end in range(start, len(whole)):
        status, answer = phone.take(whole[:end])
        assert status == 500 and answer["message"].startswith("导入失败"), end
    assert rows(attacked) == before


def test_memory_stays_bounded_under_hostile_archives(attacked):
    phone = Phone(attacked)
    # Documents that are read as a whole, the last with as many objects in one record as fit.
    elements = b'{"digests":[' + b"{}," * (20 << 20)
    tags = json.dumps({"digests": [{"id": identifier(1), "tags": [{}] * 1_300_000}]}, separators=(",", ":"))
    stored = [archive(library() | {"digests": each}, zipfile.ZIP_STORED) for each in (elements, tags)]
    attacks = [bomb(60), HOSTILE["bomb of all documents"](), *stored]
    for attack in attacks:
        assert phone.take(attack)[0] == 500
    assert memory(attacked.process.pid, "VmHWM") < 700 << 20
    eventually(lambda: not open_deleted_files(attacked))


def test_archive_above_the_limit_is_refused_after_its_end(attacked):
    before = rows(attacked)
    status, answer = Phone(attacked).take(b"\0" * ((64 << 20) + 1))
    assert (status, answer) == (500, {"message": "导入失败: the archive exceeds the limit of 67108864 bytes"})
    assert rows(attacked) == before
    eventually(lambda: not open_deleted_files(attacked))


# All or nothing


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
    status, answer = Phone(attacked).take(archive(documents))
    assert status == 500, answer
    assert answer["message"].startswith(f"数据转换失败: {document}.json: ") and problem in answer["message"], answer
    assert rows(attacked) == before
    assert Phone(attacked).status() == "normal"


def test_errors_of_digests_name_the_record_and_the_rule(attacked):
    documents = library()
    documents["digests"][2] |= {"category": 2}
    assert Phone(attacked).take(archive(documents)) == (
        500,
        {"message": "数据转换失败: digests.json: digests[2]: category must be 0 (a sentence) or 1 (a paragraph)"},
    )


def test_client_that_goes_away_leaves_the_library_free(attacked):
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


@pytest.mark.parametrize("moment", ["receiving", "unpacking", "documents", "storing", "stored"])
def test_kill_leaves_the_library_as_it_was_or_complete(binary, tmp_path, moment):
    """A kill at each step: the part of the time that the import takes says where, and no state in between may be seen."""
    gateway = Gateway(binary, tmp_path, OPEN_TO_ALL).start()
    try:
        phone = Phone(gateway)
        assert phone.take(archive(library()))[0] == 200
        before = rows(gateway)
        many = library()
        many["digests"] = [digest(1000 + number, f"第{number}句" * 20) for number in range(3000)]
        data = archive(many)
        if moment == "receiving":
            connection = http.client.HTTPConnection(gateway.listeners["apps"])
            connection.putrequest("POST", "/import")
            connection.putheader("content-type", "application/octet-stream")
            connection.putheader("content-length", str(len(data)))
            connection.endheaders()
            connection.send(data[:-1])
            eventually(lambda: phone.status() == "importing")
            gateway.kill()
            connection.close()
        elif moment == "stored":
            assert phone.take(data) == (200, {"ok": True})
            gateway.kill()
        else:
            thread = threading.Thread(target=lambda: _quietly(lambda: phone.take(data)))
            thread.start()
            eventually(lambda: _quietly(lambda: phone.status()) == "importing", every=0.001)
            for _ in range({"unpacking": 0, "documents": 20, "storing": 60}[moment]):
                _quietly(lambda: phone.status())
            gateway.kill()
            thread.join()
        gateway.start()
        after = rows(gateway)
        count = len(after[TABLES.index("library_digests")])
        assert after == before if count == 4 else count == 3004
        if moment in ("receiving", "stored"):
            assert count == (4 if moment == "receiving" else 3004)
        assert phone.status() == "normal"
        assert not list(gateway.data.glob(".request-*"))
        assert phone.take(data) == (200, {"ok": True})
        # The housekeeping of each minute removes what the kill left.
        eventually(lambda: not left(gateway), seconds=100)
    finally:
        gateway.close()


def _quietly(body):
    try:
        return body()
    except (OSError, http.client.HTTPException, ValueError):
        return None


def test_other_writers_write_during_a_large_import(gateway_with, stubs, login, is_full, capsys):
    """The import of many digests is many transactions: another writer's come between them. Prints the longest wait of one."""
    gateway = gateway_with(OPEN_TO_ALL)
    phone, admin = Phone(gateway), login(gateway)
    count = 90_000 if is_full else 12_000
    data = archive(
        {
            "books": [book(1, "书", [identifier(1000 + number) for number in range(count)])],
            "creators": [],
            "tags": [tag(2, "词", [identifier(1000 + number) for number in range(count)])],
            "digests": [digest(1000 + number, f"第{number}句的内容") for number in range(count)],
        }
    )
    for attempt in ("first", "repeated"):
        waits, staged, ended = [], [], threading.Event()

        def write(waits=waits, staged=staged, ended=ended, attempt=attempt):
            while not ended.is_set():
                begun = time.perf_counter()
                admin.users("CreateUser", user_name=f"{attempt}-{len(waits)}", password="long enough", role="viewer")
                waits.append(time.perf_counter() - begun)
                staged.append(bool(left(gateway)))

        thread = threading.Thread(target=write)
        thread.start()
        begun = time.perf_counter()
        assert phone.take(data) == (200, {"ok": True})
        took = time.perf_counter() - begun
        ended.set()
        thread.join()
        assert sum(staged) >= 3, "no writer got its turn while the import wrote"
        with capsys.disabled():
            print(
                f"\n{attempt} import of {count} digests: {took:.1f} s, longest of {len(waits)} writes {max(waits):.3f} s"
            )
    exported = unpacked(phone.export())
    assert len(exported["digests"]) == count and len(exported["tags"][0]["digestIds"]) == count
    assert len(exported["books"][0]["digestIds"]) == count and left(gateway) == []


@pytest.mark.parametrize("fault", ["file", "log"])
def test_disk_that_fails_leaves_the_library_as_it_was(binary, tmp_path, fault):
    gateway = Gateway(binary, tmp_path, OPEN_TO_ALL)
    faults = Faults(tmp_path, gateway.data)
    gateway.environment |= faults.environment
    gateway.start()
    try:
        phone = Phone(gateway)
        assert phone.take(archive(library()))[0] == 200
        before, exported = rows(gateway), phone.export()
        changed = archive(library() | {"tags": [tag(30, "lost")]})
        if fault == "file":
            faults.arm(WRITE, 1, errno.EIO, lasting=True)
            status, answer = phone.take(changed)
            assert status == 500 and answer["message"].startswith("导入失败"), answer
            status, _, body = phone.raw("GET", "/export")
            assert (status, json.loads(body)) == (500, {"message": "创建导出文件失败"})
            faults.disarm()
            assert rows(gateway) == before and unpacked(phone.export()) == unpacked(exported)
        else:
            faults.arm(SYNC, 1, errno.EIO, lasting=True)
            status, answer = phone.take(changed)
            assert status == 500 and answer["message"].startswith("导入失败"), answer
            gateway.kill()
            faults.disarm()
            gateway.start()
        assert phone.status() == "normal"
    finally:
        gateway.close()


# Search


@pytest.fixture(scope="module")
def searched(gateway_with) -> Phone:
    """A library of 10,000 digests, the last of which was changed last."""
    phone = Phone(gateway_with(OPEN_TO_ALL))
    lots = random.Random(7)
    names = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏"
    digests = []
    for number in range(10_000):
        content = "".join(lots.choices(names, k=40))
        if number % 1000 == 500:
            content = f"{content[:20]}甲{content[20:]}"
        updated = f"2020-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        digests.append(digest(number, content, number % 2, updated=updated))
    special = {
        20_000: "0123456789ABCDEFGHIJ Straße needle KLMNOPQRST9876543210",
        20_001: "NEEDLE at the beginning",
        20_002: "at the end needle",
        20_003: "😀😀 NeeDLe 👩‍👩‍👧‍👦👩‍👩‍👧‍👦 needle 😀 tail of more than ten characters",
        20_004: "İstanbul Ǆ ǆ ΣΑΣ",
        20_005: "😀 𐐔𐐇𐐝𐐀𐐡𐐇𐐓 İzmir",
    }
    digests += [
        digest(number, text, updated=f"2021-01-01T00:00:{number - 20_000:02}.000Z", of=book(1, "书"))
        for number, text in special.items()
    ]
    books = [book(1, "书", [identifier(number) for number in special])]
    assert phone.take(archive({"books": books, "creators": [], "tags": [], "digests": digests})) == (200, {"ok": True})
    return phone


def search(phone: Phone, keyword: str, kind: str = "sentence", page: int = 0) -> dict:
    from urllib.parse import urlencode

    status, _, body = phone.raw("GET", "/search?" + urlencode({"keyword": keyword, "type": kind, "page": page}))
    assert status == 200, body
    return json.loads(body)


def hits(result: dict) -> list[str]:
    """Returns the marked parts, by UTF-16 units."""
    units = result["content"].encode("utf-16-le")
    return [
        units[2 * one["start"] : 2 * (one["start"] + one["length"])].decode("utf-16-le") for one in result["ranges"]
    ]


def test_search_finds_a_character_in_ten_thousand_digests_page_by_page(searched):
    first, second = search(searched, "甲"), search(searched, "甲", page=1)
    assert first["hasMore"] is True and second["hasMore"] is False
    found = [one["id"] for one in first["results"] + second["results"]]
    assert found == [identifier(number) for number in range(9500, 0, -1000)] and len(first["results"]) == 5
    for one in first["results"]:
        assert len(one["content"]) == 21 and one["content"][10] == "甲" and hits(one) == ["甲"]
        assert (one["ranges"], one["bookName"]) == ([{"start": 10, "length": 1}], "")
    assert search(searched, "甲", "paragraph") == {"results": [], "hasMore": False}
    assert search(searched, "甲", page=2) == {"results": [], "hasMore": False}


def test_search_ignores_case_and_counts_utf16(searched):
    results = search(searched, "nEEdle")["results"]
    assert [one["id"] for one in results] == [identifier(number) for number in (20_003, 20_002, 20_001, 20_000)]
    emoji, end, beginning, middle = results
    assert hits(emoji) == ["NeeDLe", "needle"] and emoji["content"].startswith("😀😀 NeeDLe")
    assert emoji["content"].endswith(" 😀 tail of") and emoji["ranges"][0]["start"] == 5
    assert (end["content"], hits(end)) == ("t the end needle", ["needle"])
    assert (beginning["content"], hits(beginning)) == ("NEEDLE at the be", ["NEEDLE"])
    assert (middle["content"], hits(middle)) == ("IJ Straße needle KLMNOPQRS", ["needle"])
    assert middle["bookName"] == "书"
    assert hits(search(searched, "σας")["results"][0]) == ["ΣΑΣ"]
    assert hits(search(searched, "ǆ")["results"][0]) == ["Ǆ", "ǆ"]
    assert hits(search(searched, "😀")["results"][1]) == ["😀", "😀", "😀"]
    # Letters outside of the Basic Multilingual Plane are two units each; the capital I with a dot has no simple lower case.
    assert hits(search(searched, "𐐼𐐯𐑅𐐨𐑉𐐯𐐻")["results"][0]) == ["𐐔𐐇𐐝𐐀𐐡𐐇𐐓"]
    dotted = search(searched, "İZMIR")["results"][0]
    assert hits(dotted) == ["İzmir"] and search(searched, "izmir")["results"] == []


def test_search_without_a_keyword_finds_nothing_and_refuses_what_is_not_valid(searched):
    assert search(searched, "") == {"results": [], "hasMore": False}
    assert search(searched, "100% _ nothing like this'") == {"results": [], "hasMore": False}
    for query, message in {
        "keyword=a&type=word": "type must be sentence or paragraph",
        "keyword=a&type=sentence&page=-1": "page must be 0 to 20000",
        f"keyword={'a' * 101}&type=sentence": "keyword must be at most 100 characters",
    }.items():
        status, _, body = searched.raw("GET", f"/search?{query}")
        assert (status, json.loads(body)) == (500, {"message": message})


# Members


def test_members_have_libraries_of_their_own(members):
    stranger = Phone(members)
    for method, path in [("GET", "/export"), ("GET", "/status"), ("GET", "/search?keyword=a"), ("DELETE", "/account")]:
        status, _, body = stranger.raw(method, path)
        assert (status, json.loads(body)) == (401, {"message": "请先登录"}), path
    assert stranger.take(archive(library())) == (401, {"message": "请先登录"})
    assert stranger.sign_in("ada", "another password") == 401 and stranger.sign_in("nobody", "ada's password") == 401
    ada, bob = member(members, "ada"), member(members, "bob")
    assert ada.take(archive(library())) == (200, {"ok": True})
    assert unpacked(ada.export()) == sorted_lists(library())
    assert unpacked(bob.export()) == {name: [] for name in DOCUMENTS}
    assert search(bob, "满") == {"results": [], "hasMore": False} != search(ada, "满")
    # The cookie of another site's page does not count.
    for fields in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert ada.raw("GET", "/export", **fields)[0] == 401
    assert ada.raw("GET", "/status", sec_fetch_site="same-origin")[0] == 200
    status, fields, body = ada.raw("DELETE", "/session")
    assert (status, body) == (204, b"") and fields["set-cookie"].startswith("member_archive=; Max-Age=0")
    assert ada.raw("GET", "/status")[0] == 401


def test_deleting_an_account_deletes_its_library(binary, members, tmp_path):
    operator = CommandLine(binary, members, tmp_path)
    operator.login()
    for name in ("eve", "mallory"):
        create_member(operator, name)
        assert member(members, name).take(archive(library())) == (200, {"ok": True})
    eve = member(members, "eve")
    before = rows(members)
    status, fields, body = eve.raw("DELETE", "/account")
    assert (status, body) == (204, b"") and fields["set-cookie"].startswith("member_archive=; Max-Age=0")
    assert eve.raw("GET", "/status")[0] == 401 and eve.sign_in("eve", "eve's password") == 401
    assert [len(table) for table in rows(members)] < [len(table) for table in before]
    operator.json("user", "delete", "mallory", "--organization", "kvasir")
    owners = {row[0] for table in rows(members) for row in table}
    assert len(owners) <= 1
    done = operator.run("audit", "--organization", "kvasir", "--json")
    actions = {json.loads(line)["action"] for line in done.stdout.splitlines()}
    assert {"DeleteUser", "OpenArchiveSession"} <= actions


def test_large_library_of_a_deleted_account_is_removed_in_spite_of_kills(binary, tmp_path, is_full, capsys):
    """The account is gone with one short transaction; the rows follow, and each start continues where a kill has stopped it."""
    count = 90_000 if is_full else 12_000
    gateway = Gateway(binary, tmp_path, MEMBERS).start()
    try:
        operator = CommandLine(binary, gateway, tmp_path)
        operator.login()
        for name in ("bob", "eve"):
            create_member(operator, name)
        many = library()
        many["digests"] += [digest(1000 + number, f"第{number}句") for number in range(count)]
        many["tags"].append(tag(23, "词", [identifier(1000 + number) for number in range(count)]))
        assert member(gateway, "bob").take(archive(library()))[0] == 200
        others = count_rows(gateway)
        eve = member(gateway, "eve")
        assert eve.take(archive(many)) == (200, {"ok": True})
        begun = time.perf_counter()
        assert eve.raw("DELETE", "/account")[0] == 204
        took = time.perf_counter() - begun
        left_by_kills = []
        for _ in range(3):
            left_by_kills.append(count_rows(gateway))
            gateway.kill()
            gateway.start()
            eventually(lambda: count_rows(gateway) < left_by_kills[-1], every=0.001)
        assert Phone(gateway).sign_in("eve", "eve's password") == 401
        operator = CommandLine(binary, gateway, tmp_path)
        operator.login()
        create_member(operator, "eve")
        eve = member(gateway, "eve")
        assert unpacked(eve.export()) == {name: [] for name in DOCUMENTS}
        eventually(lambda: not left(gateway), seconds=100)
        assert count_rows(gateway) == others
        with capsys.disabled():
            print(f"\ndeletion of {left_by_kills[0] - others} rows: {took:.3f} s; rows at the kills: {left_by_kills}")
    finally:
        gateway.close()


def test_user_of_the_gateway_is_nobody_here(members):
    from support.gateway import ADMIN_PASSWORD

    assert Phone(members).sign_in("admin", ADMIN_PASSWORD) == 401


def test_shared_library_is_for_this_machine_only(binary, phone, tmp_path):
    assert phone.raw("GET", "/status", x_forwarded_for="203.0.113.7")[0] == 401
    assert phone.raw("DELETE", "/account")[0] == 401
    configuration = tmp_path / "config"
    configuration.write_text(json.dumps(OPEN_TO_ALL | {"listeners": {"apps": "0.0.0.0:0"}}))
    done = subprocess.run([binary, "config", "check", "--config", configuration], capture_output=True, text=True)
    assert done.returncode != 0
    assert "apps.archive.access" in done.stderr and "can be anyone only if listeners.apps is a loopback" in done.stderr


def test_shared_library_is_used_by_names_of_this_machine_only(phone, gateway_with):
    """A page whose name was led to this machine after it was loaded sends its own name."""
    port = phone.gateway.listeners["apps"].rsplit(":", 1)[1]
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "books.localhost"):
        assert phone.raw("GET", "/status", host=host)[0] == 200, host
    for host in (f"evil.example:{port}", "192.0.2.1", f"localhost.evil.example:{port}"):
        for method, path in (("GET", "/export"), ("POST", "/import"), ("GET", "/status"), ("GET", "/search?keyword=a")):
            status, _, body = phone.raw(method, path, host=host)
            assert status == 500 and "the host name" in json.loads(body)["message"], (host, path, body)
    assert "apps.archive.host_names" in json.loads(body)["message"]
    changed = json.loads(json.dumps(OPEN_TO_ALL))
    changed["apps"]["archive"]["host_names"] = "evil.example, books.test"
    assert Phone(gateway_with(changed)).raw("GET", "/status", host="Books.test:80")[0] == 200


def test_cookie_of_another_app_signs_in_nobody(members):
    ada = member(members, "ada")
    name, value = ada.cookie.split("=", 1)
    assert name == "member_archive"
    ada.cookie = f"member_companions={value}"
    assert ada.raw("GET", "/status")[0] == 401
    ada.cookie = f"member_companions=other; {name}={value}; member=another"
    assert ada.raw("GET", "/status")[0] == 200


# The page and its requests


def test_page_has_its_policy_and_ranges(phone):
    status, fields, body = phone.raw("GET", "/")
    assert status == 200 and fields["content-type"] == "text/html; charset=utf-8"
    assert fields["cache-control"] == "max-age=3600" and fields["accept-ranges"] == "bytes"
    assert fields["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in fields["content-security-policy"]
    text = body.decode()
    assert "<title>语斋 - 数据处理</title>" in text and ">导出<" in text and ">导入<" in text
    assert phone.raw("GET", "/index.html")[2] == body
    head = phone.raw("HEAD", "/")
    assert (head[0], head[1]["content-length"], head[2]) == (200, str(len(body)), b"")
    for name in ("archive.js", "archive.css", "icon.svg"):
        assert phone.raw("GET", f"/assets/{name}")[0] == 200
        assert f"/assets/{name}" in text
    for wanted, expected in {"bytes=0-9": body[:10], "bytes=10-": body[10:], "bytes=-5": body[-5:]}.items():
        status, fields, part = phone.raw("GET", "/index.html", range=wanted)
        assert (status, part) == (206, expected)
        assert fields["content-range"].endswith(f"/{len(body)}")
    status, fields, part = phone.raw("GET", "/", range=f"bytes={len(body)}-")
    assert (status, fields["content-range"], part) == (416, f"bytes */{len(body)}", b"")
    for ignored in ("bytes=0-1,3-4", "lines=1-2", "bytes=5-1"):
        assert phone.raw("GET", "/", range=ignored)[0] == 200
    assert phone.raw("GET", "/", range="bytes=0-9", if_range='"x"')[0] == 200
    status, _, body = phone.raw("GET", "/assets/other.js")
    assert (status, json.loads(body)) == (404, {"message": "the page has no file other.js"})


def test_options_is_200_with_the_permissions_of_allowed_origins(gateway_with):
    app = dict(OPEN_TO_ALL["apps"], cors_origins=["http://page.example"])
    phone = Phone(gateway_with(OPEN_TO_ALL | {"apps": app}))
    status, fields, body = phone.raw("OPTIONS", "/import")
    assert (status, body, fields["allow"]) == (200, b"", "POST, OPTIONS")
    preflight = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
    status, fields, body = phone.raw("OPTIONS", "/import", origin="http://page.example", **preflight)
    assert (status, body) == (200, b"")
    assert fields["access-control-allow-origin"] == "http://page.example"
    assert "content-type" in fields["access-control-allow-headers"]
    assert "POST" in fields["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in fields
    status, fields, _ = phone.raw("OPTIONS", "/import", origin="http://other.example", **preflight)
    assert status == 200 and "access-control-allow-origin" not in fields
    # A page that asks for no permission gets none: the browser sends no preflight request for these.
    for kind in ("text/plain", "multipart/form-data; boundary=x"):
        status, _, body = phone.raw(
            "POST", "/import", archive(library()), content_type=kind, origin="http://other.example"
        )
        assert status == 500 and "application/json" in json.loads(body)["message"]
    assert unpacked(phone.export()) == {name: [] for name in DOCUMENTS}


def test_description_of_the_requests_is_true(phone, gateway_with, tmp_path, is_full):
    """The OpenAPI document has the media types, the responses without content, and the failures; schemathesis agrees."""
    document = phone.get("/openapi.json").json["paths"]
    responses = {
        (path, method): {
            status: list(response.get("content", {})) for status, response in operation["responses"].items()
        }
        for path, item in document.items()
        for method, operation in item.items()
    }
    for path in ("/", "/index.html"):
        assert responses[path, "get"]["200"] == responses[path, "get"]["206"] == ["text/html"]
        assert responses[path, "get"]["416"] == []
    assert responses["/assets/{name}", "get"]["200"] == ["text/css", "text/javascript", "image/svg+xml"]
    empty_failures = {"401": [], "500": []}  # References, whose shape the validator of the document knows.
    assert responses["/export", "get"] == {"200": ["application/zip"]} | empty_failures
    assert responses["/import", "post"] == {"200": ["application/json"]} | empty_failures
    for call in (("/session", "post"), ("/session", "delete"), ("/account", "delete")):
        assert responses[call] == {"204": []} | empty_failures
    for path, media in {
        "/": "text/html",
        "/assets/archive.css": "text/css",
        "/assets/archive.js": "text/javascript",
        "/assets/icon.svg": "image/svg+xml",
        "/export": "application/zip",
    }.items():
        status, fields, _ = phone.raw("GET", path)
        assert status == 200 and fields["content-type"].split(";")[0] == media
    status, fields, body = phone.raw("DELETE", "/session")
    assert (status, body) == (204, b"") and "content-type" not in fields
    gateway = gateway_with(OPEN_TO_ALL)
    described_calls.check(
        f"http://{gateway.listeners['apps']}", tmp_path, is_full, is_failure_described=True, but=("/account",)
    )
    assert unpacked(Phone(gateway).export())["books"] == []


def test_every_failure_but_401_is_500_with_a_message(phone):
    for method, path, body in [
        ("GET", "/import", None),
        ("POST", "/export", b"{}"),
        ("POST", "/session", b"{"),
        ("POST", "/session", b"[]"),
        ("POST", "/import", b"x"),
    ]:
        status, _, content = phone.raw(method, path, body, content_type="application/json")
        assert status == 500 and list(json.loads(content)) == ["message"], (method, path, content)
    status, _, content = phone.raw("POST", "/session", b'{"name":"x","password":"y"}', content_type="application/json")
    assert (status, json.loads(content)) == (401, {"message": "用户名或密码错误"})


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.close()


def choose(browser: Browser, path: Path) -> None:
    browser.driver.find_element("id", "file").send_keys(str(path))


def alert(browser: Browser) -> str:
    """Returns the text of the alert, and closes it."""
    from selenium.webdriver.support import expected_conditions
    from selenium.webdriver.support.ui import WebDriverWait

    shown = WebDriverWait(browser.driver, 30).until(expected_conditions.alert_is_present())
    text = shown.text
    shown.accept()
    return text


def test_page_imports_exports_and_searches(browser, members, tmp_path):
    browser.open(f"http://{members.listeners['apps']}/")
    assert browser.driver.title == "语斋 - 数据处理"
    browser.fill("用户名", "bob")
    browser.fill("密码", "wrong")
    browser.press("登录")
    assert alert(browser) == "用户名或密码错误"
    browser.fill("密码", "bob's password")
    browser.press("登录")
    browser.find("//button[text()='导出']")

    (tmp_path / "good.zip").write_bytes(archive(library()))
    choose(browser, tmp_path / "good.zip")
    browser.find("//*[@id='notice'][text()='导入完成']")
    browser.press("导出")
    assert unpacked(browser.downloaded("backup.zip")) == sorted_lists(library())
    browser.find("//*[@id='notice'][text()='导出完成']")
    (tmp_path / "broken.zip").write_bytes(archive(library())[:-30])
    choose(browser, tmp_path / "broken.zip")
    assert alert(browser).startswith("导入失败: the archive has no end record")

    browser.fill("关键字", "作者")
    browser.press("搜索")
    browser.find("//li[mark='作者'][contains(., '都云作者痴')]/cite[text()='红楼梦']")
    assert not browser.violations()
    browser.press("退出")
    browser.find("//label[text()='用户名']")
    assert [line for line in browser.logged_errors if "Content Security Policy" in line] == []


#: The requests of the page that the app's published server has, as functions of a page of another origin.
OTHER_PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><script>
const host = new URLSearchParams(location.search).get('host')
async function exported() {
  const response = await fetch(`${host}export`, { method: 'get' })
  const bytes = new Uint8Array(await (await response.blob()).arrayBuffer())
  return { status: response.status, bytes: btoa(String.fromCharCode(...bytes)) }
}
async function imported(text) {
  const data = new Blob([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))])
  const options = { method: 'post', body: data, mode: 'cors', headers: { 'Content-Type': 'application/octet-stream' } }
  const response = await fetch(`${host}import`, options)
  return { status: response.status, json: await response.json() }
}
</script>"""


def test_page_of_another_port_imports_and_exports_if_allowed(browser, gateway_with):
    import base64

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = OTHER_PAGE.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    try:
        app = dict(OPEN_TO_ALL["apps"], cors_origins=[origin])
        allowed, other = gateway_with(OPEN_TO_ALL | {"apps": app}), gateway_with(OPEN_TO_ALL)
        text = base64.b64encode(archive(library())).decode()
        for gateway in (allowed, other):
            browser.open(f"{origin}/?host=http://{gateway.listeners['apps']}/")
            taken = browser.script("return await imported(arguments[0])", text)
            sent = browser.script("return await exported()")
            if gateway is other:
                assert "TypeError" in taken["error"] and "TypeError" in sent["error"]
                assert unpacked(Phone(other).export()) == {name: [] for name in DOCUMENTS}
                continue
            assert taken == {"status": 200, "json": {"ok": True}}
            assert sent["status"] == 200
            assert unpacked(base64.b64decode(sent["bytes"])) == sorted_lists(library())
            broken = browser.script("return await imported(arguments[0])", base64.b64encode(b"no zip").decode())
            assert broken["status"] == 500 and broken["json"]["message"].startswith("导入失败")
    finally:
        server.shutdown()


def test_app_is_absent_unless_enabled(gateway):
    database = sqlite3.connect(f"file:{gateway.data}/gateway.db?mode=ro", uri=True)
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    database.close()
    assert not [name for name in names if name.startswith("library_")]
    web = App(gateway, "web")
    for path in ("/export", "/import", "/status", "/search", "/session"):
        assert web.get(path).status == 404
