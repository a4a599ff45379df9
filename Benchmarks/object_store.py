"""The object store's throughput on loopback: parts, small objects, whole objects and ranges, also with TLS.

The peers: the MD5 of the same bytes on one core, single-threaded servers in C for the same PUTs, and nginx.
"""

import hashlib
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measuring import CLIENT_CORE, ROOT, SERVER_CORE, cpu_seconds, figure, gateway, on_cores, resident_mebibytes
from store_clients import Reader, request, send_all
from store_peers import nginx, sinks
from support import stubs as stubs_module
from support.certificates import Authority
from support.faults import Faults
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, Uploader, User
from support.raw import RawStore, fetch
from support.uploads import Upload

ROUNDS = 7
PART_SIZE = 64 << 20
#: The number of connections that send parts in parallel.
PARALLEL = 4
#: For small objects: their size in bytes, the numbers sent over one and over all connections, and the number of
#: connections.
SMALL, ALONE, MANY, CONNECTIONS = 64 << 10, 60, 600, 32
SMALL_ROUNDS = 3
#: For the cost of a request: the size of objects in bytes, and the number of connections.
TINY, TINY_CONNECTIONS = 4 << 10, 16
#: A file system in memory.
MEMORY = "/dev/shm"
#: The number of those objects, and of GETs of each.
TINIES, TINY_GETS = 2000, 8
#: The duration of one sync in the figures with delayed syncs, in microseconds.
SYNC = 4000
#: The parts of the object that is read, and its ranges in a round.
READ_PARTS, RANGE, RANGES = 16, 1 << 20, 256
#: The parts of the object whose completion is timed: 5 GiB.
LARGE_PARTS = 80
MEGABYTE = 1_000_000


def rate(size: int, work) -> float:
    """Returns the rate in MB/s of work on that many bytes."""
    start = time.perf_counter()
    work()
    return size / MEGABYTE / (time.perf_counter() - start)


class Parts:
    """One multipart upload with its part numbers, in order."""

    def __init__(self, uploader: Uploader, data: bytes):
        self.upload = Upload.create(uploader)
        self.id = self.upload.store.initiate()
        self.raw = RawStore(self.upload.credentials)
        self.data = data
        self.sent = []

    def send(self, _=None) -> None:
        number = len(self.sent) + 1
        self.sent.append(number)
        answer = self.raw.request("PUT", [("partNumber", str(number)), ("uploadId", self.id)], self.data)
        assert answer.status == 200, answer.body

    def send_parallel(self) -> None:
        with ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(self.send, range(PARALLEL)))

    def complete_multipart(self) -> float:
        """Completes the upload, and returns the duration in milliseconds."""
        listed = self.upload.store.list_parts(self.id).parts
        began = time.perf_counter()
        self.upload.etag = self.upload.store.complete(self.id, listed)
        return (time.perf_counter() - began) * 1000

    def complete(self) -> float:
        self.upload.size, self.upload.parts = len(self.data) * len(self.sent), self.sent
        began = time.perf_counter()
        self.upload.complete()
        return (time.perf_counter() - began) * 1000


def signed_in(ours, stubs) -> tuple[User, Fleet]:
    user = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
    return user, Fleet.create(user)


def parts_on_one_core(binary: str, stubs, data: bytes) -> None:
    """Measures parts on one connection and on four, compared with the servers in C on the same core."""
    with gateway(binary) as ours, sinks() as peers, on_cores({CLIENT_CORE}):
        pid = ours.process.pid
        parts = Parts(signed_in(ours, stubs)[1].uploader(), data)

        def sink(mode: str, _=None) -> None:
            assert fetch(peers[mode], "PUT", "/part", data).status == 200

        def sink_parallel(mode: str) -> None:
            with ThreadPoolExecutor(PARALLEL) as pool:
                list(pool.map(lambda _: sink(mode), range(PARALLEL)))

        alone, four, md5s, loaded, cpu = [], [], [], [], []
        sunk, sunk_four = {mode: [] for mode in peers}, {mode: [] for mode in peers}
        for _ in range(ROUNDS):
            before = cpu_seconds(pid)
            alone.append(rate(PART_SIZE, parts.send))
            cpu.append((cpu_seconds(pid) - before) / (PART_SIZE / 1e9))
            md5s.append(rate(PART_SIZE, lambda: hashlib.md5(data).digest()))
            for mode in peers:
                sunk[mode].append(rate(PART_SIZE, lambda mode=mode: sink(mode)))
            four.append(rate(PARALLEL * PART_SIZE, parts.send_parallel))
            loaded.append(resident_mebibytes(pid))
            for mode in ("hash", "durable"):
                sunk_four[mode].append(rate(PARALLEL * PART_SIZE, lambda mode=mode: sink_parallel(mode)))
        figure("object_store.put_part_64MiB", alone, "MB/s", "C: MD5, CRC-64, buffered, synced", sunk["durable"])
        figure("object_store.put_part_64MiB", alone, "MB/s", "C: MD5 and CRC-64", sunk["hash"])
        figure("object_store.put_part_64MiB", alone, "MB/s", "C: receives", sunk["receive"])
        figure("object_store.put_part_64MiB", alone, "MB/s", "MD5 of the same bytes, one core", md5s)
        figure("object_store.put_part_64MiB.cpu", cpu, "s/GB")
        figure("object_store.put_parts.4", four, "MB/s", "C: MD5, CRC-64, buffered, synced", sunk_four["durable"])
        figure("object_store.put_parts.4", four, "MB/s", "C: MD5 and CRC-64", sunk_four["hash"])
        figure("object_store.resident.after_puts", loaded, "MiB")


def parts_on_both_cores(binary: str, stubs, data: bytes) -> None:
    """Measures parts with the gateway and the client sharing both cores."""
    with gateway(binary, cores={SERVER_CORE, CLIENT_CORE}) as ours:
        parts = Parts(signed_in(ours, stubs)[1].uploader(), data)
        alone, four, md5s = [], [], []
        for _ in range(ROUNDS):
            alone.append(rate(PART_SIZE, parts.send))
            four.append(rate(PARALLEL * PART_SIZE, parts.send_parallel))
            md5s.append(rate(PART_SIZE, lambda: hashlib.md5(data).digest()))
        figure("object_store.both_cores.put_part_64MiB", alone, "MB/s", "MD5 of the same bytes, one core", md5s)
        figure("object_store.both_cores.put_parts.4", four, "MB/s", "MD5 of the same bytes, one core", md5s)


def parts_compared(binary: str, base: str, stubs, data: bytes) -> None:
    """Measures parts on one connection and on four, compared with another build that runs on the same core in turns."""
    with gateway(binary) as ours, gateway(base) as theirs, on_cores({CLIENT_CORE}):
        sides = [(each.process.pid, Parts(signed_in(each, stubs)[1].uploader(), data)) for each in (ours, theirs)]
        for name, count, sending in (("part", 1, Parts.send), (f"parts.{PARALLEL}", PARALLEL, Parts.send_parallel)):
            size = count * PART_SIZE
            rates, cpu = ([], []), ([], [])
            for _ in range(2 * ROUNDS):
                for side, (pid, parts) in enumerate(sides):
                    before = cpu_seconds(pid)
                    rates[side].append(rate(size, lambda sending=sending, parts=parts: sending(parts)))
                    cpu[side].append((cpu_seconds(pid) - before) / (size / 1e9))
            figure(f"object_store.compared.put_{name}", rates[0], "MB/s", "the other build", rates[1])
            figure(f"object_store.compared.put_{name}.cpu", cpu[0], "s/GB", "the other build", cpu[1])


def small_objects(binary: str, stubs, name: str, delay: int) -> None:
    """Measures whole objects of 64 KiB with distinct keys, over 32 connections and over one."""
    data = os.urandom(SMALL)
    with tempfile.TemporaryDirectory() as directory:
        faults = Faults(Path(directory), Path(tempfile.gettempdir()))
        options = {
            "config": {"quota": {"device_uploads": 0}, "uploads": {"calls_per_minute": 0}},
            "environment": faults.environment,
        }
        with gateway(binary, **options) as ours, on_cores({CLIENT_CORE}):
            user, fleet = signed_in(ours, stubs)
            key = user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="benchmark")
            uploader = Uploader(ours, stubs, key.credential).sign_in()

            def requests(count: int) -> list[bytes]:
                made = []
                for _ in range(count):
                    raw = RawStore(Upload.create(uploader).credentials)
                    made.append(request("PUT", raw.address, *raw.head("PUT"), data))
                return made

            alone, many = [], []
            for _ in range(SMALL_ROUNDS):
                one, all_of_them = requests(ALONE), requests(MANY)
                faults.delay = delay
                alone.append(ALONE / send_all(ours.object_store, one, 1))
                many.append(MANY / send_all(ours.object_store, all_of_them, CONNECTIONS))
                faults.delay = 0
            figure(f"object_store.put_64KiB.{name}.32_connections", many, "objects/s", "one connection", alone)


def small_requests(binary: str, stubs) -> None:
    """Measures the requests for objects of 4 KiB with distinct keys, over 16 connections, per second of the server's CPU.

    The data directory is in memory. On an ext4 without a journal, up to half of a PUT's time is the kernel's search for an
    inode that was not deleted in the last seconds, which depends on what else runs on the machine.
    """
    data = os.urandom(TINY)
    config = {"quota": {"device_uploads": 0}, "uploads": {"calls_per_minute": 0}}
    with gateway(binary, config, folder=MEMORY) as ours, on_cores({CLIENT_CORE}):
        user, fleet = signed_in(ours, stubs)
        key = user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="benchmark")
        uploader = Uploader(ours, stubs, key.credential).sign_in()

        def per_cpu_second(requests: list[bytes]) -> float:
            before = cpu_seconds(ours.process.pid)
            send_all(ours.object_store, requests, TINY_CONNECTIONS)
            return len(requests) / (cpu_seconds(ours.process.pid) - before)

        puts, gets = [], []
        for _ in range(SMALL_ROUNDS):
            stores = [RawStore(Upload.create(uploader).credentials) for _ in range(TINIES)]
            puts.append(per_cpu_second([request("PUT", raw.address, *raw.head("PUT"), data) for raw in stores]))
            read = [request("GET", raw.address, *raw.head("GET"), b"") for raw in stores]
            gets.append(per_cpu_second(read * TINY_GETS))
        figure("object_store.put_4KiB.16_connections.per_cpu_second", puts, "requests")
        figure("object_store.get_4KiB.16_connections.per_cpu_second", gets, "requests")


def reads(binary: str, stubs, data: bytes) -> None:
    """Measures an object of 1 GiB, whole and in ranges, compared with nginx on the same file; also nginx's PUT."""
    with tempfile.TemporaryDirectory() as name:
        authority = Authority(Path(name), "authority")
        certificate, key, _ = authority.issue("server", addresses=("127.0.0.1",))
        tls = {"certificate": str(certificate), "key": str(key), "listeners": ["object-store"]}
        for scheme, config in {"http": {}, "https": {"tls": tls}}.items():
            os.environ["REQUESTS_CA_BUNDLE"] = str(authority.path)
            with gateway(binary, config) as ours, on_cores({CLIENT_CORE}):
                user, fleet = signed_in(ours, stubs)
                parts = Parts(fleet.uploader(), data)
                if scheme == "https":
                    parts.raw.authority = authority.path
                for _ in range(READ_PARTS):
                    parts.send()
                parts.complete_multipart()
                parts.complete()
                newest = user.objects("ListObjects", page_size=1).objects[0]
                location = user.objects("RequestDownload", file_ids=[newest.file_id]).files[0].read
                (stored,) = (path for path in (ours.data / "store" / "data").glob("*/*") if path.stat().st_size > RANGE)
                with nginx(stored.parent, certificate, key) as peer:
                    address = peer.plain if scheme == "http" else peer.secure
                    theirs = f"{scheme}://{address}/{stored.name}"
                    compare_reads(scheme, ours.process.pid, location.uri, theirs, authority.path)
                    if scheme == "http":
                        puts = []
                        for number in range(ROUNDS):
                            put = lambda: fetch(peer.plain, "PUT", f"/put/{number}", data)  # noqa: E731
                            puts.append(rate(PART_SIZE, put))
                        figure("object_store.nginx.put_64MiB", puts, "MB/s")


def compare_reads(scheme: str, pid: int, ours: str, theirs: str, authority: Path) -> None:
    readers = [Reader(url, authority) for url in (ours, theirs)]
    size = READ_PARTS * PART_SIZE
    wholes, ranges, cpu = ([], []), ([], []), []
    chance = random.Random(1)
    for _ in range(ROUNDS):
        firsts = [chance.randrange(size - RANGE) for _ in range(RANGES)]
        for reader, whole, ranged in zip(readers, wholes, ranges, strict=True):
            before = cpu_seconds(pid)
            whole.append(rate(size, lambda reader=reader: reader.read(size)))
            if reader is readers[0]:
                cpu.append((cpu_seconds(pid) - before) / (size / 1e9))
            ranged.append(rate(RANGES * RANGE, lambda reader=reader: [reader.read(RANGE, first) for first in firsts]))
    for reader in readers:
        reader.close()
    figure(f"object_store.{scheme}.get_1GiB", wholes[0], "MB/s", "nginx", wholes[1])
    figure(f"object_store.{scheme}.get_1GiB.cpu", cpu, "s/GB")
    figure(f"object_store.{scheme}.get_1MiB_ranges", ranges[0], "MB/s", "nginx", ranges[1])


def completions(binary: str, stubs, data: bytes) -> None:
    """Compares the completion of 5 GiB with that of 10 MiB: in the store, and by CompleteUpload."""
    with gateway(binary) as ours, on_cores({CLIENT_CORE}):
        uploader = signed_in(ours, stubs)[1].uploader()
        times = {"multipart": ([], []), "upload": ([], [])}
        for _ in range(SMALL_ROUNDS):
            for index, (count, piece) in enumerate([(LARGE_PARTS, data), (1, data[: 10 << 20])]):
                parts = Parts(uploader, piece)
                for _ in range(count):
                    parts.send()
                times["multipart"][index].append(parts.complete_multipart())
                times["upload"][index].append(parts.complete())
        for name, (large, small) in times.items():
            figure(f"object_store.complete_{name}_5GiB", large, "ms", "10 MiB", small)


def main(binary: str, part: str = "", base: str = "") -> None:
    """Measures all figures; `requests` as the part: only the cost of small requests; `parts`: parts, compared with the build `base`."""
    stubs = stubs_module.load(ROOT / "protos", Path(tempfile.mkdtemp()))
    if part == "parts":
        parts_compared(binary, base, stubs, os.urandom(PART_SIZE))
        return
    small_requests(binary, stubs)
    if part == "requests":
        return
    data = os.urandom(PART_SIZE)
    parts_on_one_core(binary, stubs, data)
    parts_on_both_cores(binary, stubs, data)
    small_objects(binary, stubs, "this_disk", 0)
    small_objects(binary, stubs, "4ms_sync", SYNC)
    if shutil.which("nginx"):
        reads(binary, stubs, data)
    else:
        print("nginx is missing: apt-get install nginx-core", file=sys.stderr)
    completions(binary, stubs, data)


main(*sys.argv[1:])
