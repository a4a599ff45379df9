"""Downloads objects as one zip archive: readable by independent programs, and visibly broken if an object cannot be read."""

import contextlib
import io
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from support.certificates import Authority
from support.counters import rest
from support.database import change
from support.gateway import eventually
from support.parties import Fleet, unique
from support.process_usage import memory, reset_peak
from support.raw import fetch
from support.uploads import FILE_NAME_TAG, completed, content

#: The numbers of objects and of bytes of the large archive, and those with --full.
SHORT, FULL = (40, 40_000_000), (2000, 5_000_000_000)
#: The largest growth of the gateway's resident memory by sending a large archive, in bytes.
GROWTH = 31 << 20


def zip_of(gateway, admin, **selection):
    """Requests an archive by REST."""
    fields = {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"}
    body = json.dumps(selection).encode()
    return fetch(gateway.listeners["web"], "POST", "/v1/objects:zip", body, fields)


def stored_file(gateway, found):
    return next((gateway.data / "store/data").glob(f"*/{found.file_id}"))


def truncate(gateway, found, size: int) -> None:
    """Cuts an object's file, as a faulty disk could."""
    path = stored_file(gateway, found)
    path.chmod(0o600)
    os.truncate(path, size)


def announced(response: bytes) -> tuple[int, bytes]:
    """Returns the announced length of a response with status 200, and the bytes of its body that were received."""
    head, _, body = response.partition(b"\r\n\r\n")
    assert b" 200 OK" in head.splitlines()[0]
    (length,) = [int(line.split()[1]) for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    return length, body


def forget_crc32(gateway) -> None:
    """Restarts a gateway without the CRC-32 of its objects, as if a version before had stored them."""
    gateway.stop()
    change(gateway, "UPDATE store_objects SET crc32 = NULL")
    gateway.start()


def corrupt(gateway, found, position: int) -> None:
    """Changes a byte of an object's file."""
    path = stored_file(gateway, found)
    stored = bytearray(path.read_bytes())
    stored[position] ^= 1
    path.chmod(0o600)
    path.write_bytes(stored)


def is_serving(process: int) -> bool:
    """Whether the process has a connection, or a data file, open."""
    links = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(link))
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # State 0A is LISTEN.
    connections = {f"socket:[{row[9]}]" for row in rows if row[3] != "0A"}
    return any(link in connections or "/store/data/" in link for link in links)


def begin(gateway, admin) -> socket.socket:
    """Requests an archive of all objects over a connection with a small buffer, and returns it after the first bytes."""
    host, port = gateway.listeners["web"].split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
    connection.settimeout(20)
    connection.connect((host, int(port)))
    connection.sendall(
        f"GET /v1/objects:zip?filter=size%3E0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {admin.token}\r\n\r\n".encode()
    )
    assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
    return connection


@pytest.fixture
def three(uploader, admin):
    """Three objects, two of which have the same name and time."""
    run = unique("run")
    data = {content(300_000, 1), content(10, 2), b""}
    for each in data:
        completed(uploader, each, {"run": run, FILE_NAME_TAG: "drive 7.mcap"})
    return run, data, admin.list_all(filter=f"raw_tags.run={run}")


def test_archive_holds_every_object_under_a_name_of_its_own(gateway, admin, uploader, three, tmp_path):
    run, data, objects = three
    response = zip_of(gateway, admin, fileIds=[found.file_id for found in objects])
    assert response.status == 200, response.body
    assert response.headers["Content-Type"] == "application/zip"
    assert response.headers["Content-Disposition"].startswith('attachment; filename="objects-')
    assert int(response.headers["Content-Length"]) == len(response.body)
    path = tmp_path / "objects.zip"
    path.write_bytes(response.body)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {archive.read(name) for name in names} == data
    assert len({name.lower() for name in names}) == 3
    assert all(name.startswith(f"{uploader.device_id}/20") and name.endswith(".mcap") for name in names), names
    for command in (["unzip", "-tq"], ["7z", "t"], ["7zz", "t"]):
        if shutil.which(command[0]):
            subprocess.run([*command, str(path)], check=True, capture_output=True)
    by_filter = zip_of(gateway, admin, filter=f"raw_tags.run={run}")
    with zipfile.ZipFile(io.BytesIO(by_filter.body)) as archive:
        assert sorted(archive.namelist()) == sorted(names)


def test_archive_can_be_unpacked_while_it_arrives(gateway, admin, uploader):
    """funzip reads its input once, so it needs the size before the bytes."""
    run, data = unique("run"), content(3_000_000, 4)
    completed(uploader, data, {"run": run})
    url = f"http://{gateway.listeners['web']}/v1/objects:zip"
    download = ["curl", "-sSf", "-G", url, "--data-urlencode", f"filter=raw_tags.run={run}"]
    with subprocess.Popen([*download, "-H", f"Authorization: Bearer {admin.token}"], stdout=subprocess.PIPE) as archive:
        unpacked = subprocess.run(["funzip"], stdin=archive.stdout, capture_output=True)
        assert archive.stdout.read() == b""
    assert archive.returncode == 0
    assert (unpacked.returncode, unpacked.stdout == data) == (0, True), unpacked.stderr


def test_archive_is_in_the_audit_log_with_its_objects(gateway, admin, three):
    run, _, objects = three
    assert zip_of(gateway, admin, filter=f"raw_tags.run={run}").status == 200
    fields = {"Authorization": f"Bearer {admin.token}"}
    response = fetch(gateway.listeners["web"], "GET", "/v1/auditLines?newest_first=true&page_size=20", headers=fields)
    ids = {found.file_id for found in objects}
    (line,) = [line for line in json.loads(response.body)["lines"] if set(line.get("ids", [])) == ids]
    assert (line["actor"], line["action"], line["result"]) == ("user:system/admin", "ZipObjects", "OK")


def test_corrupted_object_is_the_one_that_programs_report(gateway, admin, uploader, tmp_path):
    """The archive has the checksum of the bytes that arrived."""
    run = unique("run")
    for number in range(3):
        completed(uploader, content(2_000_000, number), {"run": run, FILE_NAME_TAG: f"{number}.mcap"})
    objects = admin.list_all(filter=f"raw_tags.run={run}")
    (found,) = [found for found in objects if found.name == "1.mcap"]
    corrupt(gateway, found, 1_000_000)
    response = zip_of(gateway, admin, filter=f"raw_tags.run={run}")
    path = tmp_path / "objects.zip"
    path.write_bytes(response.body)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip().endswith("-1.mcap")
    for command in (["unzip", "-tq"], ["7z", "t"]):
        tested = subprocess.run([*command, str(path)], capture_output=True, text=True)
        assert tested.returncode != 0 and "1.mcap" in tested.stdout + tested.stderr
    admin.object_management("DeleteObject", file_id=found.file_id, reason="corrupted by a test")


def test_archive_ends_early_at_a_corrupted_object_without_a_recorded_checksum(gateway_with, login):
    """Versions before recorded no CRC-32; the gateway compares the CRC-64 itself then."""
    gateway = gateway_with()
    admin = login(gateway)
    data = content(2_000_000)
    completed(Fleet.create(admin).uploader(), data)
    (found,) = admin.list_all()
    forget_crc32(gateway)
    body = zip_of(gateway, admin, fileIds=[found.file_id]).body
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert [archive.read(name) for name in archive.namelist()] == [data]
    corrupt(gateway, found, 1_000_000)
    expect_cut(gateway, admin, found)


def test_archive_ends_early_at_an_object_whose_file_was_truncated(gateway_with, login):
    gateway = gateway_with()
    admin = login(gateway)
    completed(Fleet.create(admin).uploader(), content(4_000_000))
    (found,) = admin.list_all()
    truncate(gateway, found, 3_000_000)
    expect_cut(gateway, admin, found)


def expect_cut(gateway, admin, found) -> None:
    """Requests an archive of one object, whose response is shorter than announced, so that no client takes it for complete."""
    host, port = gateway.listeners["web"].split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"GET /v1/objects:zip?file_ids={found.file_id} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {admin.token}\r\n\r\n".encode()
        )
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    length, body = announced(received)
    assert length > 2_000_000 and len(body) < length


def test_large_archive_opens_in_every_program_and_a_cut_one_in_none(gateway_with, login, tmp_path, is_full):
    count, size = FULL if is_full else SHORT
    gateway = gateway_with({"uploads": {"calls_per_minute": 0}, "quota": {"device_uploads": 0}})
    admin = login(gateway)
    uploader = Fleet.create(admin).uploader()
    data = content(size // count)
    for number in range(count):
        completed(uploader, data, {FILE_NAME_TAG: f"drive {number}.mcap"})
    # From here on, the peak is that of the archive.
    reset_peak(gateway.process.pid)
    before = memory(gateway.process.pid)
    path = tmp_path / "objects.zip"
    assert _curl(gateway, admin, path) == 0
    assert memory(gateway.process.pid, "VmHWM") - before < GROWTH
    gateway.stop()
    for command in (["unzip", "-tq"], ["7z", "t"]):
        subprocess.run([*command, str(path)], check=True, capture_output=True)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == count
        assert all(entry.file_size == len(data) for entry in archive.infolist())
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size * 2 // 3)
    for command in (["unzip", "-tq"], ["7z", "t"]):
        assert subprocess.run([*command, str(path)], capture_output=True).returncode != 0, command
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(path)


def test_client_whose_archive_ends_early_reports_it(gateway_with, login, tmp_path):
    """curl's exit code for a response shorter than its announced length is 18."""
    gateway = gateway_with()
    admin = login(gateway)
    completed(Fleet.create(admin).uploader(), content(4_000_000))
    (found,) = admin.list_all()
    truncate(gateway, found, 3_000_000)
    assert _curl(gateway, admin, tmp_path / "objects.zip") == 18


def _curl(gateway, admin, path) -> int:
    """Downloads an archive of all objects, and returns the exit code."""
    url = f"http://{gateway.listeners['web']}/v1/objects:zip?filter=size%3E0"
    command = ["curl", "-sS", "-f", "-H", f"Authorization: Bearer {admin.token}", "-o", str(path), url]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({}, "either file_ids or filter must be set"),
        ({"fileIds": ["a"], "filter": "b"}, "either file_ids or filter must be set"),
        ({"fileIds": ["a", "a"]}, "file_ids[1] repeats a"),
        ({"fileIds": ["no-such-file"]}, "file no-such-file does not exist"),
        ({"filter": "size>much"}, "filter: "),
        ({"filter": "name=no-such-name"}, "the filter matches no objects"),
    ],
)
def test_invalid_selection_is_refused_before_the_first_byte(gateway, admin, selection, message):
    response = zip_of(gateway, admin, **selection)
    assert response.status in (400, 404)
    assert message in json.loads(response.body)["error"]["message"]


def test_archive_needs_a_users_token(gateway):
    assert fetch(gateway.listeners["web"], "GET", "/v1/objects:zip?filter=size%3E0").status == 401


def test_downloads_that_clients_end_early_leave_nothing_open(gateway_with, login):
    gateway = gateway_with()
    admin = login(gateway)
    # More than the kernel buffers, so that the gateway waits for each client.
    completed(Fleet.create(admin).uploader(), content(16 << 20))
    whole = zip_of(gateway, admin, filter="size>0")
    gateway.forget_channels()

    def descriptors() -> int:
        return len(os.listdir(f"/proc/{gateway.process.pid}/fd"))

    # The server closes a connection and its files soon after the client has read everything.
    eventually(lambda: not is_serving(gateway.process.pid), every=0.01)
    rest(gateway.process.pid)
    idle = descriptors()
    # More than the archives that are sent at once.
    for number in range(12):
        connection = begin(gateway, admin)
        if number % 2:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        eventually(lambda: descriptors() == idle, every=0.01)
    assert zip_of(gateway, admin, filter="size>0").body == whole.body


def test_archive_over_tls_is_whole_or_visibly_broken(gateway_with, login, tmp_path):
    authority = Authority(tmp_path, "authority")
    gateway = gateway_with({"tls": authority.tls("web", addresses=("127.0.0.1",))})
    admin = login(gateway)
    uploader = Fleet.create(admin).uploader()
    data = [content(3_000_000, 1), content(100_000, 2)]
    for each in data:
        completed(uploader, each)

    def archive() -> tuple[int, bytes]:
        """Returns the announced length and the received bytes."""
        host, port = gateway.listeners["web"].split(":")
        context = ssl.create_default_context(cafile=authority.path)
        with context.wrap_socket(
            socket.create_connection((host, int(port)), timeout=20), server_hostname=host
        ) as secure:
            secure.sendall(
                "GET /v1/objects:zip?filter=size%3E0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                f"Authorization: Bearer {admin.token}\r\n\r\n".encode()
            )
            received = bytearray()
            try:
                while some := secure.recv(1 << 16):
                    received += some
            except ssl.SSLEOFError:
                pass
        return announced(bytes(received))

    length, body = archive()
    assert len(body) == length
    with zipfile.ZipFile(io.BytesIO(body)) as whole:
        assert whole.testzip() is None
        assert sorted(map(whole.read, whole.namelist())) == sorted(data)
    (large,) = [found for found in admin.list_all() if found.size_bytes == len(data[0])]
    corrupt(gateway, large, 2_999_999)
    length, body = archive()
    assert 0 < len(body) < length
