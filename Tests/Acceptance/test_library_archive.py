"""The app for archives: export and import of a library by programs, and the archives of other programs."""

import io
import json
import shutil
import subprocess
import zipfile

import pytest
from support import database
from support.apps import App
from support.library_archive import (
    DOCUMENTS,
    OPEN_TO_ALL,
    Phone,
    archive,
    book,
    digest,
    identifier,
    library,
    sorted_lists,
    tag,
    unpacked,
)


@pytest.fixture
def empty(gateway_with) -> Phone:
    """A phone with a library of its own."""
    return Phone(gateway_with(OPEN_TO_ALL))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_library_is_the_same_after_import_and_export(empty, method):
    assert empty.take(archive(library(), method)) == (200, {"ok": True})
    first = empty.export()
    assert unpacked(first) == sorted_lists(library())
    # Again, with the gateway's own archive.
    assert empty.take(first) == (200, {"ok": True})
    assert unpacked(empty.export()) == sorted_lists(library())


def test_folder_that_a_mac_has_packed_is_imported(empty):
    """Safari unpacks a download, so people pack the folder again, with the Finder's Compress."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("backup/", b"")
        file.writestr("__MACOSX/._backup", b"\0\5\x16\7")
        for name in DOCUMENTS:
            file.writestr(f"backup/{name}.json", json.dumps({name: library()[name]}))
            file.writestr(f"__MACOSX/backup/._{name}.json", b"\0\5\x16\7")
        file.writestr("backup/.DS_Store", b"\0\0\0\1Bud1")
    assert empty.take(data.getvalue()) == (200, {"ok": True})
    assert unpacked(empty.export()) == sorted_lists(library())
    # Two folders with documents leave open which is meant.
    with zipfile.ZipFile(data, "a") as file:
        file.writestr("other/books.json", b"{}")
    status, response = empty.take(data.getvalue())
    assert (status, response) == (500, {"message": "导入失败: 备份中没有文件 books.json"})


def test_unknown_path_and_method_have_the_form_of_the_app(empty):
    status, _, body = empty.raw("GET", "/nothing")
    assert (status, json.loads(body)) == (404, {"message": "this listener has no such path"})
    status, fields, body = empty.raw("GET", "/import")
    assert list(json.loads(body)) == ["message"] and "POST" in fields["allow"], status


def test_library_that_compresses_well_is_imported_from_its_own_export(empty):
    """Sixteen digests of one repeated character are 1/500 of their size."""
    digests = [digest(100 + number, "哈" * 80_000) for number in range(16)]
    assert empty.take(archive(library() | {"digests": digests}, zipfile.ZIP_STORED)) == (200, {"ok": True})
    exported = empty.export()
    with zipfile.ZipFile(io.BytesIO(exported)) as file:
        info = file.getinfo("digests.json")
        assert info.file_size > 300 * info.compress_size
    assert empty.take(exported) == (200, {"ok": True})
    assert unpacked(empty.export()) == unpacked(exported)


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


@pytest.mark.sqlite
def test_app_is_absent_unless_enabled(gateway):
    names = {name for (name,) in database.rows(gateway, "SELECT name FROM sqlite_master")}
    assert not [name for name in names if name.startswith("library_")]
    web = App(gateway, "web")
    for path in ("/export", "/import", "/status", "/search", "/session"):
        assert web.get(path).status == 404
