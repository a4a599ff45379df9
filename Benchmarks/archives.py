"""The throughput of a zip archive of many objects, beside plain GETs of as many bytes, in cleartext and over TLS.

The objects are smaller than by default if `ARCHIVE_OBJECTS` or `ARCHIVE_BYTES` is set: 2,000 objects with 5 GB.
"""

import http.client
import json
import os
import ssl
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from measuring import CLIENT_CORE, ROOT, SERVER_CORE, cpu_seconds, figure, gateway, on_cores, resident_mebibytes
from support import stubs as stubs_module
from support.certificates import Authority
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


class Rounds:
    """Megabytes per second, and the gateway's CPU seconds per gigabyte, of one way to read all bytes."""

    def __init__(self, pid: int):
        self.pid = pid
        self.speed: list[float] = []
        self.cpu: list[float] = []

    def measure(self, read) -> None:
        before, start = cpu_seconds(self.pid), time.perf_counter()
        size = read()
        self.speed.append(size / MEGABYTE / (time.perf_counter() - start))
        self.cpu.append((cpu_seconds(self.pid) - before) / (size / 1_000_000_000))


def read(context: ssl.SSLContext | None, address: str, requests: list[tuple[str, dict[str, str]]]) -> int:
    """Sends GET requests over one connection, one after the other, and returns the number of bytes of their bodies."""
    if context is None:
        connection = http.client.HTTPConnection(address, timeout=600)
    else:
        connection = http.client.HTTPSConnection(address, timeout=600, context=context)
    buffer, count = memoryview(bytearray(1 << 20)), 0
    for target, headers in requests:
        connection.request("GET", target, headers=headers)
        reply = connection.getresponse()
        assert reply.status == 200, reply.read()
        while taken := reply.readinto(buffer):
            count += taken
    connection.close()
    return count


def presigned(admin, ids: list[str]) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """Returns the object store's address, and a GET request for each object."""
    urls = []
    for first in range(0, len(ids), 1000):
        files = admin.objects("RequestDownload", file_ids=ids[first : first + 1000]).files
        urls += [urlsplit(file.read.uri) for file in files]
    return urls[0].netloc, [(f"{url.path}?{url.query}", {}) for url in urls]


def compare(running, admin, context: ssl.SSLContext | None, suffix: str) -> None:
    """Measures the ways to read all bytes, in rounds, and prints their figures."""
    (whole,) = admin.list_all(filter="kind=large")
    small = [found.file_id for found in admin.list_all(filter="kind=small")]
    request = ("/v1/objects:zip?filter=kind%3Dsmall", {"Authorization": f"Bearer {admin.token}"})
    ways = [Rounds(running.process.pid) for _ in range(3)]
    resident = []
    for _ in range(ROUNDS):
        ways[0].measure(lambda: read(context, running.listeners["web"], [request]))
        resident.append(resident_mebibytes(running.process.pid))
        ways[1].measure(lambda: read(context, *presigned(admin, [whole.file_id])))
        ways[2].measure(lambda: read(context, *presigned(admin, small)))
    archive, one, each = ways
    for peer, rounds in {
        "one GET of one object of the same size": one,
        "a GET of each object, one after the other": each,
    }.items():
        figure(f"archive{suffix}", archive.speed, "MB/s", peer, rounds.speed)
        figure(f"archive{suffix}, processor time", archive.cpu, "s/GB", peer, rounds.cpu)
    figure(f"archive{suffix}, resident memory after each", resident, "MiB")


def main(binary: str) -> None:
    config = {"uploads": {"part_size_bytes": PART_SIZE, "calls_per_minute": 0}, "quota": {"device_uploads": 0}}
    with (
        tempfile.TemporaryDirectory() as name,
        gateway(binary, config) as running,
        on_cores({CLIENT_CORE}),
    ):
        directory = Path(name)
        stubs = stubs_module.load(ROOT / "protos", directory)
        admin = User.login(running, stubs, "system", "admin", ADMIN_PASSWORD)
        uploader = Fleet.create(admin).uploader()
        data = os.urandom(BYTES // OBJECTS)
        for _ in range(OBJECTS):
            fill(uploader, data, "small")
        large(uploader, BYTES)
        compare(running, admin, None, "")
        authority = Authority(directory, "authority")
        certificate, key, _ = authority.issue("server", addresses=("127.0.0.1",))
        tls = {"certificate": str(certificate), "key": str(key), "listeners": ["web", "object-store"]}
        running.stop()
        running.config.write_text(json.dumps(config | {"tls": tls}))
        with on_cores({SERVER_CORE}):
            running.start()
        compare(running, admin, ssl.create_default_context(cafile=authority.path), " over TLS")


if __name__ == "__main__":
    main(sys.argv[1])
