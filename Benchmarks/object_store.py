"""Bytes per second of a durable part PUT and of a GET on loopback.

The peers: the MD5 of the same bytes on one core, and single-threaded servers in C (sink.c) that take the same PUTs."""

import contextlib
import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from measuring import CLIENT_CORE, SERVER_CORE, cpu_seconds, figure, gateway, resident_mebibytes

from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, User
from support.raw import RawStore, fetch
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


@contextlib.contextmanager
def sinks():
    """The addresses of the servers in C, by their mode; on the server's core, their files where the gateway has its own."""
    source = Path(__file__).with_name("sink.c")
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as directory:
        program = Path(directory) / "sink"
        flags = ["-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *flags, "-o", program, source, "-lcrypto", "-llzma"], check=True)
        running = {}
        try:
            os.sched_setaffinity(0, {SERVER_CORE})
            for mode in ("receive", "hash", "durable"):
                running[mode] = subprocess.Popen([program, mode, directory], stdout=subprocess.PIPE, text=True)
            os.sched_setaffinity(0, {CLIENT_CORE})
            yield {mode: f"127.0.0.1:{int(process.stdout.readline())}" for mode, process in running.items()}
        finally:
            for process in running.values():
                process.kill()
                process.communicate()


def main(binary: str) -> None:
    stubs = stubs_module.load(Path(__file__).resolve().parents[1] / "protos", Path(tempfile.mkdtemp()))
    data = os.urandom(PART_SIZE)
    with gateway(binary) as ours, sinks() as peers:
        pid = ours.process.pid
        user = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
        upload = Upload.create(Fleet.create(user).uploader())
        multipart = upload.store.initiate()
        raw = RawStore(upload.credentials)
        puts, md5s, gets, loaded = [], [], [], []
        sunk = {mode: [] for mode in peers}
        put_cpu = cpu_seconds(pid)
        for number in range(1, ROUNDS + 1):
            query = [("partNumber", str(number)), ("uploadId", multipart)]

            def put() -> None:
                answer = raw.request("PUT", query, data)
                assert answer.status == 200, answer.body

            puts.append(rate(put))
            md5s.append(rate(lambda: hashlib.md5(data).digest()))
            loaded.append(resident_mebibytes(pid))
            for mode, address in peers.items():

                def sink() -> None:
                    assert fetch(address, "PUT", "/part", data).status == 200

                sunk[mode].append(rate(sink))
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
        figure("object_store.put_part_64MiB", puts, "MB/s", "C: MD5, CRC-64, buffered, synced", sunk["durable"])
        figure("object_store.put_part_64MiB", puts, "MB/s", "C: MD5 and CRC-64", sunk["hash"])
        figure("object_store.put_part_64MiB", puts, "MB/s", "C: receives", sunk["receive"])
        figure("object_store.put_part_64MiB.cpu", [put_cpu / gigabytes], "s/GB")
        figure("object_store.get_64MiB", gets, "MB/s", "MD5 of the same bytes, one core", md5s)
        figure("object_store.get_64MiB.cpu", [get_cpu / gigabytes], "s/GB")
        figure("object_store.resident.after_puts", loaded, "MiB")


main(sys.argv[1])
