"""Parts of 64 MiB in a bucket: the rate through the gateway against the bucket's own, and the gateway's CPU time against a directory's.
The same CPU time of a program that only passes on bytes, and of one that also copies and compares them (relay.c): no server needs less.
A download of an object of 10,000 parts of 100 KiB, before and after their segments were merged.

The bucket is the object store of another gateway, whose objects are in memory. For the rates it is behind a proxy that passes on 100 MB/s.
Arguments: the number of rounds (default: 7), what is measured: `rates`, `cpu`, `limit`, `small` (default: all), and for `cpu` the path of
another build of the gateway, whose CPU time is measured in the same rounds.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from botocore.exceptions import ClientError
from measuring import CLIENT_CORE, ROOT, SERVER_CORE, cpu_seconds, figure, gateway, on_cores
from store_clients import Reader
from support import bucket_proxy
from support.buckets import KEY, Bucket, write_credentials
from support.gateway import eventually
from support.raw import fetch
from support.s3 import client
from support.static_keys import OWNER, StaticKey

PART_SIZE = 64 << 20
#: Of the bucket, with which nothing can be stored.
READER = StaticKey("READER", "a secret of the reader", "read")
#: The rate of the proxy, in bytes a second.
RATE = 100_000_000
#: The number of parts in a round whose CPU time is measured.
PARTS = 16
#: The object of small parts.
SMALL_PART, SMALL_PARTS = 100 << 10, 10_000
MEGABYTE = 1_000_000
#: A file system in memory.
MEMORY = "/dev/shm"


class Store:
    """A store with an object of one part, by presigned URLs: its client computes no checksums."""

    def __init__(self, credentials, key: str):
        s3 = client(credentials)
        self.upload = s3.create_multipart_upload(Bucket="data", Key=key)["UploadId"]
        part = {"Bucket": "data", "Key": key, "UploadId": self.upload, "PartNumber": 1}
        put = urlsplit(s3.generate_presigned_url("upload_part", Params=part, ExpiresIn=86_400))
        self.address, self.target = put.netloc, f"{put.path}?{put.query}"
        s3.put_object(Bucket="data", Key=f"{key}-read", Body=bytes(PART_SIZE))
        got = {"Bucket": "data", "Key": f"{key}-read"}
        self.url = s3.generate_presigned_url("get_object", Params=got, ExpiresIn=86_400)

    def put(self, data: bytes) -> None:
        assert fetch(self.address, "PUT", self.target, data).status == 200

    def get(self) -> None:
        with contextlib.closing(Reader(self.url)) as reader:
            reader.read(PART_SIZE)


def rate(work) -> float:
    """Returns the rate in MB/s of work on a part."""
    began = time.perf_counter()
    work()
    return PART_SIZE / MEGABYTE / (time.perf_counter() - began)


def cpu(pid: int, work) -> float:
    """Returns the CPU seconds of a process for a gigabyte of work on parts."""
    before = cpu_seconds(pid)
    for _ in range(PARTS):
        work()
    return (cpu_seconds(pid) - before) / (PARTS * PART_SIZE / 1e9)


@contextlib.contextmanager
def limited(target: str):
    """Runs the proxy as a process of its own, on the client's core."""
    command = [sys.executable, bucket_proxy.__file__, target, str(RATE)]
    with on_cores({CLIENT_CORE}):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def stores(binary: str, secrets: Path):
    """Starts the bucket, and makes what starts a gateway with these settings of objects."""
    keys = {"object_store": {"static_keys": [KEY.setting(secrets), READER.setting(secrets)]}}
    write_credentials(secrets / "credentials", KEY.id, KEY.secret)
    with gateway(binary, keys, cores={CLIENT_CORE}, folder=MEMORY) as engine:
        bucket = Bucket(engine.object_store, "data", secrets / "credentials", engine)

        def start(objects: dict, program: str = binary):
            own = {"object_store": {"static_keys": [OWNER.setting(secrets)]}, "objects": objects}
            return gateway(program, own, cores={SERVER_CORE}, folder=MEMORY)

        yield bucket, start


def rates(bucket: Bucket, start, rounds: int, data: bytes) -> None:
    with limited(bucket.address) as address, start(bucket.settings("rates", address)) as ours:
        credentials = KEY.credentials(bucket.gateway)
        credentials.endpoint = f"http://{address}"
        with on_cores({CLIENT_CORE}):
            through, direct = Store(OWNER.credentials(ours), "part"), Store(credentials, "direct")
            for name, work in (("put", lambda store: store.put(data)), ("get", lambda store: store.get())):
                values, peers = [], []
                for _ in range(rounds):
                    peers.append(rate(lambda work=work: work(direct)))
                    values.append(rate(lambda work=work: work(through)))
                figure(f"object_engines.{name}_64MiB.limited", values, "MB/s", "the limited bucket itself", peers)


def cpu_times(bucket: Bucket, start, rounds: int, data: bytes, other: str | None) -> None:
    """`other`: the path of another build."""
    peers = {"objects in the directory": lambda: start({"engine": "directory"})}
    if other:
        peers["the other build"] = lambda: start(bucket.settings("other"), other)
    with contextlib.ExitStack() as running, on_cores({CLIENT_CORE}):
        gateways = [running.enter_context(each()) for each in (lambda: start(bucket.settings("cpu")), *peers.values())]
        sides = [(each.process.pid, Store(OWNER.credentials(each), "part")) for each in gateways]
        for name, work in (("put", lambda store: store.put(data)), ("get", lambda store: store.get())):
            times = [[] for _ in sides]
            for number in range(rounds):
                # In turn, so that none always follows the same one.
                for side in range(number, number + len(sides)):
                    pid, store = sides[side % len(sides)]
                    times[side % len(sides)].append(cpu(pid, lambda store=store, work=work: work(store)))
            for peer, values in zip(peers, times[1:], strict=True):
                figure(f"object_engines.{name}_64MiB.cpu", times[0], "s/GB", peer, values)


@contextlib.contextmanager
def relay():
    """Compiles relay.c; makes what runs it."""
    source, folding = Path(__file__).with_name("relay.c"), ROOT / "Sources" / "Platform" / "CFolding"
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        program = Path(folder) / "relay"
        command = ["clang", "-O2", "-Wall", "-Wextra", "-I", folding / "include", source, folding / "folding.c"]
        subprocess.run([*command, "-o", program], check=True)

        def run(mode: str) -> float:
            """Returns the CPU seconds for a gigabyte."""
            size = PARTS * PART_SIZE
            arguments = [mode, str(size >> 20), str(SERVER_CORE), str(CLIENT_CORE)]
            done = subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
            return float(done.stdout) / (size / 1e9)

        yield run


def limit(rounds: int) -> None:
    with relay() as run:
        times = [[run(mode) for mode in ("sendfile", "pass", "check")] for _ in range(rounds)]
    files, passed, checked = zip(*times, strict=True)
    figure("object_engines.limit.pass", passed, "s/GB", "sendfile", files)
    figure("object_engines.limit.check", checked, "s/GB", "sendfile", files)


def put_small_parts(s3, key: str, count: int, before_completion=lambda: None) -> None:
    """Puts an object of that many small parts."""
    upload = {"Bucket": "data", "Key": key}
    upload["UploadId"] = s3.create_multipart_upload(**upload)["UploadId"]
    parts, body = [], bytes(SMALL_PART)
    for number in range(1, count + 1):
        parts.append({"PartNumber": number, "ETag": s3.upload_part(**upload, PartNumber=number, Body=body)["ETag"]})
    before_completion()
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})


def reads(pid: int, url: str, rounds: int) -> tuple[list[float], list[float]]:
    """Returns the rates in MB/s, and the CPU seconds a gigabyte, of downloads of the object of small parts."""
    size = SMALL_PART * SMALL_PARTS
    speeds, times = [], []
    for _ in range(rounds):
        began, before = time.perf_counter(), cpu_seconds(pid)
        with contextlib.closing(Reader(url)) as reader:
            reader.read(size)
        speeds.append(size / MEGABYTE / (time.perf_counter() - began))
        times.append((cpu_seconds(pid) - before) / (size / 1e9))
    return speeds, times


def can_store(s3) -> bool:
    try:
        s3.put_object(Bucket="data", Key="probe", Body=b"1")
    except ClientError:
        return False
    return True


def small_parts(bucket: Bucket, start, rounds: int) -> None:
    with start(bucket.settings("small")) as ours, on_cores({CLIENT_CORE}):
        s3 = client(OWNER.credentials(ours))
        # Nothing is merged while the gateway cannot store anything.
        put_small_parts(
            s3, "small", SMALL_PARTS, lambda: write_credentials(bucket.credentials, READER.id, READER.secret)
        )
        url = s3.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "small"}, ExpiresIn=86_400)
        speeds, times = reads(ours.process.pid, url, rounds)
        assert len(bucket.keys("small/data/")) == 1000
        figure("object_engines.get_100KiB_parts", speeds, "MB/s")
        figure("object_engines.get_100KiB_parts.cpu", times, "s/GB")
        write_credentials(bucket.credentials, KEY.id, KEY.secret)
        # The gateway did not renew its ownership meanwhile.
        eventually(lambda: can_store(s3), seconds=60)
        # Whatever could not be merged is tried again after the next object of small parts.
        put_small_parts(s3, "two", 2)
        eventually(lambda: len(bucket.keys("small/data/")) < 1000, seconds=300)
        merged_speeds, merged_times = reads(ours.process.pid, url, rounds)
        figure("object_engines.get_100KiB_parts.merged", merged_speeds, "MB/s", "the same before merging", speeds)
        figure("object_engines.get_100KiB_parts.merged.cpu", merged_times, "s/GB", "the same before merging", times)


def main(binary: str, rounds: str = "7", *chosen: str) -> None:
    data = bytes(range(256)) * (PART_SIZE // 256)
    with (
        tempfile.TemporaryDirectory(prefix="object-engines-") as folder,
        stores(binary, Path(folder)) as (bucket, start),
    ):
        if "rates" in chosen or not chosen:
            rates(bucket, start, int(rounds), data)
        if "cpu" in chosen or not chosen:
            cpu_times(bucket, start, int(rounds), data, next((each for each in chosen if "/" in each), None))
        if "limit" in chosen or not chosen:
            limit(int(rounds))
        if "small" in chosen or not chosen:
            small_parts(bucket, start, int(rounds))


if __name__ == "__main__":
    main(*sys.argv[1:])
