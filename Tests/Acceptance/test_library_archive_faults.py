"""The app for archives: imports and deletions of libraries under kills, other writers and a disk that fails."""

import errno
import http.client
import json
import threading
import time

import pytest
from support.commands import CommandLine
from support.faults import SYNC, WRITE, Faults
from support.gateway import Gateway, eventually
from support.library_archive import (
    DOCUMENTS,
    MEMBERS,
    OPEN_TO_ALL,
    TABLES,
    Phone,
    archive,
    book,
    count_rows,
    create_member,
    digest,
    identifier,
    left,
    library,
    member,
    rows,
    tag,
    unpacked,
)


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
            eventually(lambda: _quietly(phone.status) == "importing" or not thread.is_alive(), every=0.001)
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
        eventually(lambda: not left(gateway))
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


@pytest.mark.parametrize("fault", ["file", pytest.param("log", marks=pytest.mark.sqlite)])
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
            status, response = phone.take(changed)
            assert status == 500 and response["message"].startswith("导入失败"), response
            status, _, body = phone.raw("GET", "/export")
            assert (status, json.loads(body)) == (500, {"message": "创建导出文件失败"})
            faults.disarm()
            assert rows(gateway) == before and unpacked(phone.export()) == unpacked(exported)
        else:
            faults.arm(SYNC, 1, errno.EIO, lasting=True)
            status, response = phone.take(changed)
            assert status == 500 and response["message"].startswith("导入失败"), response
            gateway.kill()
            faults.disarm()
            gateway.start()
        assert phone.status() == "normal"
    finally:
        gateway.close()


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
            eventually(lambda: (count := count_rows(gateway)) < left_by_kills[-1] or count == others, every=0.001)
        assert Phone(gateway).sign_in("eve", "eve's password") == 401
        operator = CommandLine(binary, gateway, tmp_path)
        operator.login()
        create_member(operator, "eve")
        eve = member(gateway, "eve")
        assert unpacked(eve.export()) == {name: [] for name in DOCUMENTS}
        eventually(lambda: not left(gateway))
        assert count_rows(gateway) == others
        with capsys.disabled():
            print(f"\ndeletion of {left_by_kills[0] - others} rows: {took:.3f} s; rows at the kills: {left_by_kills}")
    finally:
        gateway.close()
