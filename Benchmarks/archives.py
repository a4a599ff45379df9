"""The throughput of a zip archive of many objects, beside a plain GET of as many bytes.

The objects are smaller than by default if `ARCHIVE_OBJECTS` or `ARCHIVE_BYTES` is set: 2,000 objects with 5 GB.
"""

import http.client
import os
import sys
import tempfile
import time
from pathlib import Path

from measuring import CLIENT_CORE, ROOT, cpu_seconds, figure, gateway, on_cores, resident_mebibytes
from store_clients import Reader
from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, User
from support.uploads import Upload

ROUNDS = 5
OBJECTS = int(os.environ.get("ARCHIVE_OBJECTS", 2000))
BYTES = int(os.environ.get("ARCHIVE_BYTES", 5_000_000_000))
PART_SIZE = 64 << 20
MEGABYTE = 1_000_000


def fill(uploader, data: bytes, tag: str) -> None:
    upload = Upload.create(uploader)
    upload.put(data)
    upload.complete({"kind": tag})


def large(uploader, size: int) -> None:
    """Stores one object of that size in parts."""
    upload = Upload.create(uploader)
    upload.multipart(os.urandom(PART_SIZE) * max(1, size // PART_SIZE))
    upload.complete({"kind": "large"})


def archive(running, token: str) -> int:
    """Reads one archive of all small objects, and returns its size."""
    connection = http.client.HTTPConnection(running.listeners["web"], timeout=600)
    connection.request("GET", "/v1/objects:zip?filter=kind%3Dsmall", headers={"Authorization": f"Bearer {token}"})
    reply = connection.getresponse()
    assert reply.status == 200, reply.read()
    buffer, count = memoryview(bytearray(1 << 20)), 0
    while taken := reply.readinto(buffer):
        count += taken
    connection.close()
    return count


def main(binary: str) -> None:
    with (
        gateway(
            binary, {"uploads": {"part_size_bytes": PART_SIZE, "calls_per_minute": 0}, "quota": {"device_uploads": 0}}
        ) as running,
        on_cores({CLIENT_CORE}),
    ):
        with tempfile.TemporaryDirectory() as directory:
            stubs = stubs_module.load(ROOT / "protos", Path(directory))
        admin = User.login(running, stubs, "system", "admin", ADMIN_PASSWORD)
        uploader = Fleet.create(admin).uploader()
        data = os.urandom(BYTES // OBJECTS)
        for _ in range(OBJECTS):
            fill(uploader, data, "small")
        large(uploader, BYTES)
        (whole,) = admin.list_all(filter="kind=large")
        archives, plain, cpu = [], [], []
        for _ in range(ROUNDS):
            (location,) = admin.objects("RequestDownload", file_ids=[whole.file_id]).files
            reader = Reader(location.read.uri)
            start = time.perf_counter()
            reader.read(whole.size_bytes)
            plain.append(whole.size_bytes / MEGABYTE / (time.perf_counter() - start))
            reader.close()
            before, start = cpu_seconds(running.process.pid), time.perf_counter()
            size = archive(running, admin.token)
            archives.append(size / MEGABYTE / (time.perf_counter() - start))
            cpu.append((cpu_seconds(running.process.pid) - before) / (size / 1_000_000_000))
        figure("archive", archives, "MB/s", "a plain GET of the same size", plain)
        figure("archive, processor time", cpu, "s/GB")
        figure("archive, resident memory", [resident_mebibytes(running.process.pid)], "MiB")


if __name__ == "__main__":
    main(sys.argv[1])
