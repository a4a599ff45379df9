"""`data-gateway objects copy`: all objects move from the data directory to a bucket and back, while clients use them.

The bucket is that of a second gateway.
"""

import hashlib
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from support import s3
from support.commands import REFUSED, CommandLine
from support.gateway import Gateway, eventually
from support.static_keys import OWNER, StaticKey
from support.uploads import MIB, content

ENGINE = StaticKey("ENGINE", "a secret of the engine", "write")
#: The sizes of objects: none, small ones, one of more than a segment.
SIZES = [0, 1, 100_000, 3 * MIB, 70 * MIB] + [10_000 + each for each in range(40)]

pytestmark = pytest.mark.directory


class Store:
    """A gateway, and the bucket to which its objects can be copied."""

    def __init__(self, gateway: Gateway, engine: Gateway, commands: CommandLine):
        self.gateway, self.engine, self.commands = gateway, engine, commands
        self.bodies: dict[str, bytes] = {}
        self.etags: dict[str, str] = {}

    @property
    def client(self):
        # A Complete of parts of any size moves their bytes in a directory.
        return s3.client(OWNER.credentials(self.gateway, part_size=8 * MIB), read_timeout=900)

    def set(self, **settings: str) -> None:
        bucket = {
            "endpoint": f"http://{self.engine.object_store}",
            "bucket": "data",
            "credentials": "environment",
            "retry_budget": "1",
        }
        keys = {} if settings == {"engine": "directory"} else bucket
        environment = self.gateway.environment
        for name in [name for name in environment if name.startswith("DATA_GATEWAY_OBJECTS__")]:
            del environment[name]
        environment |= {f"DATA_GATEWAY_OBJECTS__{name.upper()}": value for name, value in (settings | keys).items()}
        environment |= {"AWS_ACCESS_KEY_ID": ENGINE.id, "AWS_SECRET_ACCESS_KEY": ENGINE.secret}

    def restart(self, **settings: str) -> None:
        self.set(**settings)
        self.gateway.stop()
        self.gateway.start()
        # The listeners have other ports.
        self.commands = CommandLine(self.commands.binary, self.gateway, self.commands.session.parent).login()

    def put(self, name: str, body: bytes) -> None:
        self.etags[name] = self.client.put_object(Bucket="data", Key=name, Body=body)["ETag"]
        self.bodies[name] = body

    def put_parts(self, name: str, parts: list[bytes]) -> None:
        place = {"Bucket": "data", "Key": name}
        upload = place | {"UploadId": self.client.create_multipart_upload(**place)["UploadId"]}
        stored = [
            {"PartNumber": number, "ETag": self.client.upload_part(**upload, PartNumber=number, Body=part)["ETag"]}
            for number, part in enumerate(parts, 1)
        ]
        done = self.client.complete_multipart_upload(**upload, MultipartUpload={"Parts": stored})
        self.bodies[name], self.etags[name] = b"".join(parts), done["ETag"]

    def fill(self) -> None:
        for number, size in enumerate(SIZES):
            self.put(f"object-{number}", content(size, seed=number))
        self.put_parts("parts", [content(6 * MIB, seed=7), content(5 * MIB, seed=8)])
        self.client.copy_object(Bucket="data", Key="copy", CopySource="data/parts")
        self.bodies["copy"], self.etags["copy"] = self.bodies["parts"], self.etags["parts"]

    def check(self) -> None:
        for name, body in self.bodies.items():
            found = self.client.get_object(Bucket="data", Key=name)
            assert (found["ETag"], found["Body"].read() == body) == (self.etags[name], True), name

    def keys(self) -> list[str]:
        client = s3.client(ENGINE.credentials(self.engine, part_size=8 * MIB))
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="data", Prefix="data/")
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def files(self) -> list[str]:
        return [each.name for each in (self.gateway.data / "store/data").glob("??/*")]

    def progress(self) -> dict:
        return self.commands.json("objects", "show")

    def finish(self, target: str) -> None:
        state = eventually(lambda: self.progress()["state"] == "ENGINE_COPY_STATE_COMPLETE" and self.progress())
        assert (state["target"], state["remaining_objects"], state["failures"]) == (target, 0, [])


@pytest.fixture
def store(binary, gateway_with, tmp_path) -> Store:
    engine = gateway_with({"object_store": {"static_keys": [ENGINE.setting(tmp_path)]}})
    gateway = gateway_with({"object_store": {"static_keys": [OWNER.setting(tmp_path)]}})
    store = Store(gateway, engine, CommandLine(binary, gateway, tmp_path).login())
    store.fill()
    return store


def refusal_of_start(gateway: Gateway) -> str:
    with pytest.raises(AssertionError) as refused:
        gateway.start()
    return str(refused.value)


def test_objects_are_copied_there_and_back_while_clients_use_them(store):
    store.restart(engine="s3", previous_engine="directory")
    store.check()
    store.put("new", content(MIB))
    assert len(store.keys()) == 1
    store.commands.json("objects", "copy", "--to", "s3")
    for number in range(3):
        store.put(f"meanwhile-{number}", content(200_000, seed=number))
        store.check()
        store.gateway.kill()
        store.gateway.start()
    store.restart(engine="s3", previous_engine="directory")
    store.finish("s3")
    assert store.files() == []
    store.check()

    store.restart(engine="s3")
    store.check()
    assert "the gateway has one engine" in store.commands.refused(REFUSED, "objects", "show")
    store.put_parts("small", [content(5 * MIB, seed=each) for each in range(4)])
    store.restart(engine="directory", previous_engine="s3")
    store.commands.json("objects", "copy", "--to", "directory")
    store.finish("directory")
    eventually(lambda: store.keys() == [])
    store.restart(engine="directory")
    store.check()


def test_another_engine_than_that_of_the_objects_is_refused_with_their_number(store):
    store.gateway.stop()
    store.set(engine="s3")
    message = refusal_of_start(store.gateway)
    assert f"{len(store.bodies)} objects and 0 multipart uploads have their bytes in the data directory" in message
    assert "data-gateway objects copy --to s3" in message
    store.set(engine="directory")
    store.gateway.start()
    store.restart(engine="s3", previous_engine="directory")
    message = store.commands.refused(REFUSED, "objects", "copy", "--to", "directory")
    assert "target must be the gateway's objects.engine, which is s3" in message
    store.commands.json("objects", "copy", "--to", "s3")
    store.finish("s3")
    store.gateway.stop()
    store.set(engine="directory")
    assert f"{len(store.bodies)} objects and 0 multipart uploads have their bytes in a bucket" in refusal_of_start(
        store.gateway
    )
    store.set(engine="s3")
    store.gateway.start()
    store.check()


def test_download_that_has_begun_gets_its_bytes(store):
    store.restart(engine="s3", previous_engine="directory")
    found = store.client.get_object(Bucket="data", Key="object-4")["Body"]
    first = found.read(MIB)
    store.commands.json("objects", "copy", "--to", "s3")
    store.finish("s3")
    assert first + found.read() == store.bodies["object-4"]
    # Also one from the bucket whose object is replaced.
    found = store.client.get_object(Bucket="data", Key="object-4")["Body"]
    first, earlier = found.read(MIB), store.bodies["object-4"]
    store.put("object-4", b"new")
    assert first + found.read() == earlier


def test_copy_continues_when_the_engine_is_there_again(store):
    store.restart(engine="s3", previous_engine="directory")
    port = store.engine.object_store
    store.engine.kill()
    store.commands.json("objects", "copy", "--to", "s3")
    eventually(lambda: store.progress()["state"] == "ENGINE_COPY_STATE_INTERRUPTED")
    assert store.progress()["reason"]
    assert store.client.get_object(Bucket="data", Key="object-3")["Body"].read() == store.bodies["object-3"]
    store.commands.json("objects", "stop")
    assert store.progress()["state"] == "ENGINE_COPY_STATE_IDLE"
    for action in ("StartEngineCopy", "StopEngineCopy"):
        (line,) = store.commands.run("audit", "--since", "1h", "--action", action, "--json").stdout.splitlines()
        assert json.loads(line)["target"] == "engines/s3"
    store.engine.listeners["object-store"] = port
    store.engine.start()
    store.commands.json("objects", "copy", "--to", "s3")
    store.finish("s3")
    store.check()


@dataclass
class Scale:
    """The extent of a copy under kills."""

    objects: int
    kills: int
    #: The number of parts of 64 MiB of the largest object.
    parts: int


class Writer(threading.Thread):
    """Puts objects until it is stopped, each until it is acknowledged."""

    def __init__(self, store: Store):
        super().__init__()
        self.store, self.ends, self.stored = store, threading.Event(), 0

    def run(self) -> None:
        while not self.ends.is_set():
            try:
                self.store.put(f"while-{self.stored}", content(100_000, seed=self.stored))
                self.stored += 1
            except (BotoCoreError, ClientError):
                # The gateway was killed.
                continue

    def stop(self) -> None:
        self.ends.set()
        self.join()


def large_part(number: int) -> bytes:
    return number.to_bytes(8, "big") * (8 * MIB)


def put_large(store: Store, parts: int) -> str:
    """Returns the SHA-256 of the stored bytes."""
    place, digest, stored = {"Bucket": "data", "Key": "large"}, hashlib.sha256(), []
    upload = place | {"UploadId": store.client.create_multipart_upload(**place)["UploadId"]}
    for number in range(1, parts + 1):
        part = large_part(number)
        digest.update(part)
        etag = store.client.upload_part(**upload, PartNumber=number, Body=part)["ETag"]
        stored.append({"PartNumber": number, "ETag": etag})
    store.client.complete_multipart_upload(**upload, MultipartUpload={"Parts": stored})
    return digest.hexdigest()


def sum_of_large(store: Store) -> str:
    digest = hashlib.sha256()
    for piece in store.client.get_object(Bucket="data", Key="large")["Body"].iter_chunks(MIB):
        digest.update(piece)
    return digest.hexdigest()


def test_nothing_is_lost_when_the_gateway_is_killed_during_a_copy(store, is_full):
    scale = Scale(10_000, kills=20, parts=192) if is_full else Scale(200, kills=4, parts=2)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: store.put(f"many-{each}", content(each % 4000, seed=each)), range(scale.objects)))
    digest = put_large(store, scale.parts)
    for target, previous in (("s3", "directory"), ("directory", "s3")):
        store.restart(engine=target, previous_engine=previous)
        store.commands.json("objects", "copy", "--to", target)
        writer = Writer(store)
        writer.start()
        for _ in range(scale.kills):
            copied = random.randrange(1, max(2, scale.objects // scale.kills))
            eventually(lambda least=copied: progress_of(store, least), seconds=600)
            store.gateway.kill()
            store.gateway.start()
            store.commands = CommandLine(store.commands.binary, store.gateway, store.commands.session.parent).login()
        writer.stop()
        state = eventually(
            lambda: store.progress() if store.progress()["state"] == "ENGINE_COPY_STATE_COMPLETE" else None,
            seconds=3000,
        )
        assert state["failures"] == []
        store.check()
        assert sum_of_large(store) == digest
    # Only objects of the writer that were stored when the gateway was killed have no row.
    assert eventually(lambda: len(store.keys()) <= scale.kills, seconds=600)


def progress_of(store: Store, least: int) -> bool:
    """Whether this process of the gateway has copied at least so many objects, or all."""
    progress = store.progress()
    return progress["copied_objects"] >= least or progress["state"] == "ENGINE_COPY_STATE_COMPLETE"
