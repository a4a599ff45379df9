"""Bytes per second of a durable part PUT and of a GET on loopback, beside the MD5 of the same bytes on one core."""

import hashlib
import http.client
import os
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from measuring import cpu_seconds, figure, gateway, resident_mebibytes

from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, User
from support.raw import RawStore
from support.uploads import Upload

ROUNDS = 7
PART_SIZE = 64 * 1024 * 1024
MEGABYTE = 1_000_000


def rate(work) -> float:
    """MB/s of something done with one part's bytes."""
    start = time.perf_counter()
    work()
    return PART_SIZE / MEGABYTE / (time.perf_counter() - start)


def download(url: str, buffer: bytearray) -> None:
    """GET into a buffer that is there already."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", f"{parts.path}?{parts.query}")
    reply = connection.getresponse()
    view, filled = memoryview(buffer), 0
    while taken := reply.readinto(view[filled:]):
        filled += taken
    connection.close()
    assert reply.status == 200 and filled == PART_SIZE, (reply.status, filled)


def main(binary: str) -> None:
    stubs = stubs_module.load(Path(__file__).resolve().parents[1] / "protos", Path(tempfile.mkdtemp()))
    data = os.urandom(PART_SIZE)
    with gateway(binary) as ours:
        pid = ours.process.pid
        user = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
        upload = Upload.create(Fleet.create(user).uploader())
        multipart = upload.store.initiate()
        raw = RawStore(upload.credentials)
        puts, md5s, gets, loaded = [], [], [], []
        put_cpu = cpu_seconds(pid)
        for number in range(1, ROUNDS + 1):
            query = [("partNumber", str(number)), ("uploadId", multipart)]

            def put() -> None:
                answer = raw.request("PUT", query, data)
                assert answer.status == 200, answer.body

            puts.append(rate(put))
            md5s.append(rate(lambda: hashlib.md5(data).digest()))
            loaded.append(resident_mebibytes(pid))
        put_cpu = cpu_seconds(pid) - put_cpu
        single = Upload.create(upload.uploader).put(data)
        single.complete()
        newest = user.objects("ListObjects", page_size=1).objects[0]
        location = user.objects("RequestDownload", file_ids=[newest.file_id]).files[0].read
        buffer = bytearray(PART_SIZE)
        get_cpu = cpu_seconds(pid)
        for _ in range(ROUNDS):
            gets.append(rate(lambda: download(location.uri, buffer)))
        get_cpu = cpu_seconds(pid) - get_cpu
        assert bytes(buffer) == data
        gigabytes = ROUNDS * PART_SIZE / 1e9
        figure("object_store.put_part_64MiB", puts, "MB/s", "MD5 of the same bytes, one core", md5s)
        figure("object_store.put_part_64MiB.cpu", [put_cpu / gigabytes], "s/GB")
        figure("object_store.get_64MiB", gets, "MB/s", "MD5 of the same bytes, one core", md5s)
        figure("object_store.get_64MiB.cpu", [get_cpu / gigabytes], "s/GB")
        figure("object_store.resident.after_puts", loaded, "MiB")


main(sys.argv[1])
