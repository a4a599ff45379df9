"""What one, two and three gateways of a service do, each of which may use a fifth of a core, so that PostgreSQL, the bucket, the balancer
and the clients are never what is full: reads, bytes in both directions, and writes.

The bucket is Ceph's RGW in memory, the balancer HAProxy as deploy/scale-out has it. The quota is the kernel's (cpu.cfs_quota_us, or cpu.max
of cgroup v2), and needs root. In each round three gateways run, then two, then one.
Arguments: the number of rounds (default: 5).
"""

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import metadata
from engines.postgres import Server
from measuring import ROOT, cpu_seconds, figure
from metadata_server import DURABLE
from store_clients import Reader
from support import database_engine
from support import stubs as stubs_module
from support.buckets import KEY, Bucket
from support.gateway import ADMIN_PASSWORD, eventually
from support.monitoring import metric
from support.parties import Fleet, User
from support.raw import fetch, fetch_url
from support.replicas import Replicas
from support.s3 import client
from support.uploads import MIB, Upload, completed, content

#: The parts of a core that a gateway may use: for calls and for received bytes, and for sent bytes, which cost less than the bucket's.
SHARE, SHARE_OF_SENT = 0.2, 0.1
#: The period of the kernel's quota, in microseconds.
PERIOD = 20_000
NAMES = ("a", "b", "c")
OBJECTS, PAGE = 200, 20
CALLERS = 64
#: The calls of one gateway, and the seconds for bytes, in a round.
READS, WRITES, SECONDS = 3000, 2000, 4
STREAMS = 12
BODY = 8 * MIB
MEGABYTE = 1_000_000
HELD = "data_gateway_database_lock_held_seconds_sum"


class Quota:
    """A group of processes that may use a part of a core."""

    def __init__(self, name: str):
        self._is_unified = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        parent = Path("/sys/fs/cgroup") if self._is_unified else Path("/sys/fs/cgroup/cpu")
        if self._is_unified:
            (parent / "cgroup.subtree_control").write_text("+cpu")
        self._folder = parent / f"data-gateway-{os.getpid()}-{name}"
        self._folder.mkdir()

    def set(self, share: float) -> None:
        quota = int(PERIOD * share)
        if self._is_unified:
            (self._folder / "cpu.max").write_text(f"{quota} {PERIOD}")
        else:
            (self._folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self._folder / "cpu.cfs_quota_us").write_text(str(quota))

    def add(self, pid: int) -> None:
        (self._folder / "cgroup.procs").write_text(str(pid))

    def close(self) -> None:
        self._folder.rmdir()


@dataclass
class Measured:
    """What a number of gateways did in a time."""

    rate: float
    #: The part of the machine that everything but the gateways used, 0 to 1.
    others: float
    #: The part of its quota that the least busy gateway used.
    used: float
    #: The part of the time in which a gateway had the writers' lock.
    held: float


def busy_seconds() -> float:
    """Returns the time that the machine's cores have worked since its start."""
    user, nice, system, _, _, interrupts, soft, *_ = Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    return sum(map(int, (user, nice, system, interrupts, soft))) / os.sysconf("SC_CLK_TCK")


class Service:
    """Three gateways with their parts, of which some are stopped."""

    def __init__(self, binary: str, stubs, folder: Path, server: Server, bucket: Bucket):
        database = {"url": database_engine.uri(server.url("postgres")), "schema": "service"}
        settings = {"uploads": {"part_size_bytes": BODY, "calls_per_minute": 0}, "quota": {"device_uploads": 0}}
        self.replicas = Replicas(Path(binary), database, bucket.settings("service"), folder, **settings)
        self.replicas.start()
        self.quotas = {name: Quota(name) for name in NAMES}
        for name, gateway in self.replicas.gateways.items():
            self.quotas[name].add(gateway.process.pid)
        self._wait_for_all()
        self.user = User.login(self.replicas.service, stubs, "system", "admin", ADMIN_PASSWORD)
        self.fleet = Fleet.create(self.user)
        self.stubs = stubs

    @contextlib.contextmanager
    def only(self, number: int) -> Iterator[None]:
        """Stops all gateways but that many, until the block ends."""
        stopped = NAMES[number:]
        for name in stopped:
            self.replicas.gateways[name].stop()
        eventually(self._is_served)
        try:
            yield
        finally:
            for name in stopped:
                (gateway := self.replicas.gateways[name]).start()
                self.quotas[name].add(gateway.process.pid)
            self._wait_for_all()

    def _wait_for_all(self) -> None:
        """Waits until the balancer sends requests to every gateway: it asks each after half a second."""
        addresses = [each.listeners["ops"] for each in self.replicas.gateways.values()]
        eventually(lambda: all(fetch_url(f"http://{address}/readyz").status == 200 for address in addresses))
        time.sleep(2)

    def _is_served(self) -> bool:
        url = f"http://{self.replicas.service.listeners['web']}/.well-known/data-gateway"
        with contextlib.suppress(OSError):
            return all(fetch_url(url).status == 200 for _ in NAMES)
        return False

    def measure(self, number: int, share: float, work: Callable[[], float]) -> Measured:
        """Returns what that many gateways do; `work` returns how much it was."""
        running = [self.replicas.gateways[name] for name in NAMES[:number]]
        for quota in self.quotas.values():
            quota.set(share)
        own = [cpu_seconds(each.process.pid) for each in running]
        held = sum(metric(each, HELD) for each in running)
        busy, began = busy_seconds(), time.monotonic()
        amount = work()
        took, busy = time.monotonic() - began, busy_seconds() - busy
        own = [cpu_seconds(each.process.pid) - before for each, before in zip(running, own, strict=True)]
        held = sum(metric(each, HELD) for each in running) - held
        for quota in self.quotas.values():
            quota.set(1)
        others = (busy - sum(own)) / took / os.cpu_count()
        return Measured(amount / took, others, min(own) / took / share, held / took)

    def close(self) -> None:
        self.replicas.close()
        for quota in self.quotas.values():
            quota.close()


def streams(one: Callable[[int], int]) -> Callable[[], float]:
    """Returns work of clients that each repeat `one`, which gets the client's number and returns bytes, for some seconds."""

    def run() -> float:
        end = time.monotonic() + SECONDS
        counts, failures = [0] * STREAMS, []

        def repeat(index: int) -> None:
            try:
                while time.monotonic() < end:
                    counts[index] += one(index)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=repeat, args=(index,)) for index in range(STREAMS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]
        return sum(counts) / MEGABYTE

    return run


def works(service: Service) -> dict[str, tuple[float, str, Callable[[int], Callable[[], float]]]]:
    """Returns, for each kind of work, a gateway's part of a core, the unit of its rate, and the work for a number of gateways."""
    listener, stubs, user = service.replicas.service.listeners["gateway"], service.stubs, service.user
    data = content(BODY)
    file_id = completed(service.fleet.uploader(), data).complete().file_id
    for seed in range(1, OBJECTS):
        completed(service.fleet.uploader(), content(100, seed))
    url = user.objects("RequestDownload", file_ids=[file_id]).files[0].read.uri
    upload = Upload.create(service.fleet.uploader())
    store, place = client(upload.credentials), {"Bucket": upload.credentials.bucket, "Key": upload.credentials.key}
    place["UploadId"] = store.create_multipart_upload(**place)["UploadId"]
    parts = [
        urlsplit(store.generate_presigned_url("upload_part", Params=place | {"PartNumber": number}, ExpiresIn=86_400))
        for number in range(1, 1 + STREAMS)
    ]
    token = service.fleet.uploader().sign_in().token
    reads = metadata.Load(
        listener, "DataGatewayObjectService/ListObjects", stubs.gateway.ListObjectsRequest(page_size=PAGE), user.token
    )
    writes = metadata.Load(
        listener, "DataGatewayService/CreateLogicalUpload", stubs.gateway.CreateLogicalUploadRequest(), token
    )

    def sent(_: int) -> int:
        with closing(Reader(url)) as reader:
            reader.read(BODY)
        return BODY

    def received(stream: int) -> int:
        part = parts[stream]
        reply = fetch(part.netloc, "PUT", f"{part.path}?{part.query}", data)
        assert reply.status == 200, (reply.status, reply.body[:300])
        return BODY

    def calls(load: metadata.Load, each: int) -> Callable[[int], Callable[[], float]]:
        def work(number: int) -> Callable[[], float]:
            def run() -> float:
                load.run(CALLERS, each * number)
                return each * number

            return run

        return work

    return {
        "reads": (SHARE, "calls/s", calls(reads, READS)),
        "sent": (SHARE_OF_SENT, "MB/s", lambda _: streams(sent)),
        "received": (SHARE, "MB/s", lambda _: streams(received)),
        "writes": (SHARE, "calls/s", calls(writes, WRITES)),
    }


def main(binary: str, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as text, Server(settings=DURABLE) as server:
        folder = Path(text)
        stubs = stubs_module.load(ROOT / "protos", folder)
        for name in ("bucket", "gateways"):
            (folder / name).mkdir()
        bucket = Bucket.start_rados(folder / "bucket", [KEY], in_memory=True)
        try:
            with closing(Service(binary, stubs, folder / "gateways", server, bucket)) as service:
                found: dict[tuple[str, int], list[Measured]] = {}
                kinds = works(service)
                for _ in range(rounds):
                    for number in (3, 2, 1):
                        with service.only(number):
                            for kind, (share, _, work) in kinds.items():
                                measured = service.measure(number, share, work(number))
                                found.setdefault((kind, number), []).append(measured)
        finally:
            bucket.stop()
    for kind, (_, unit, _) in kinds.items():
        alone = [each.rate for each in found[kind, 1]]
        for number in (1, 2, 3):
            all = found[kind, number]
            peer = {} if number == 1 else {"peer": "one gateway", "peer_values": alone}
            figure(f"replicas.{kind}.{number}", [each.rate for each in all], unit, **peer)
            figure(f"replicas.{kind}.{number}.others", [100 * each.others for each in all], "% of the machine")
            figure(f"replicas.{kind}.{number}.quota", [100 * each.used for each in all], "% of the quota")
        if kind == "writes":
            for number in (1, 2, 3):
                figure(
                    f"replicas.writes.{number}.lock", [100 * each.held for each in found[kind, number]], "% of the time"
                )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
