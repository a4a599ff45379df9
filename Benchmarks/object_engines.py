"""Parts of 64 MiB in a bucket: the rate through the gateway against the bucket's own, and the gateway's CPU time against a directory's.

The bucket is the object store of another gateway, whose objects are in memory. For the rates it is behind a proxy that passes on 100 MB/s.
Arguments: the number of rounds (default: 7).
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from measuring import CLIENT_CORE, SERVER_CORE, cpu_seconds, figure, gateway, on_cores
from store_clients import Reader
from support import bucket_proxy
from support.buckets import KEY, Bucket, write_credentials
from support.raw import fetch
from support.s3 import client
from support.static_keys import OWNER

PART_SIZE = 64 << 20
#: The rate of the proxy, in bytes a second.
RATE = 100_000_000
#: The number of parts in a round whose CPU time is measured.
PARTS = 4
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
    keys = {"object_store": {"static_keys": [KEY.setting(secrets)]}}
    write_credentials(secrets / "credentials", KEY.id, KEY.secret)
    with gateway(binary, keys, cores={CLIENT_CORE}, folder=MEMORY) as engine:
        bucket = Bucket(engine.object_store, "data", secrets / "credentials", engine)

        def start(objects: dict):
            own = {"object_store": {"static_keys": [OWNER.setting(secrets)]}, "objects": objects}
            return gateway(binary, own, cores={SERVER_CORE}, folder=MEMORY)

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


def cpu_times(bucket: Bucket, start, rounds: int, data: bytes) -> None:
    with start(bucket.settings("cpu")) as ours, start({"engine": "directory"}) as peer, on_cores({CLIENT_CORE}):
        sides = [(each.process.pid, Store(OWNER.credentials(each), "part")) for each in (ours, peer)]
        for name, work in (("put", lambda store: store.put(data)), ("get", lambda store: store.get())):
            times = [[], []]
            for _ in range(rounds):
                for side, (pid, store) in zip(times, sides, strict=True):
                    side.append(cpu(pid, lambda store=store, work=work: work(store)))
            figure(f"object_engines.{name}_64MiB.cpu", times[0], "s/GB", "objects in the directory", times[1])


def main(binary: str, rounds: str = "7") -> None:
    data = bytes(range(256)) * (PART_SIZE // 256)
    with (
        tempfile.TemporaryDirectory(prefix="object-engines-") as folder,
        stores(binary, Path(folder)) as (bucket, start),
    ):
        rates(bucket, start, int(rounds), data)
        cpu_times(bucket, start, int(rounds), data)


if __name__ == "__main__":
    main(*sys.argv[1:])
