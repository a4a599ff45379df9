"""Faults between the gateway and the bucket for objects: nothing that was acknowledged is lost, and clients may repeat what failed.

The bucket is the store of another gateway, and in the long form Ceph's RGW, too.
"""

import http.client
import os
import re
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass

import grpc
import oss2.exceptions
import pytest
from support.bucket_proxy import BucketProxy
from support.buckets import KEY, Bucket, write_credentials
from support.faults import KILL, SYNC, WRITE, Faults
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.oss import StoreError
from support.parties import Fleet, User
from support.process_usage import memory
from support.s3 import client
from support.static_keys import OWNER, StaticKey
from support.uploads import MIB, Upload, content, download, fresh_seeds, location

PART = MIB
#: The size of a part from which on the gateway does not merge the segments of an object, which needs requests of its own.
LARGE_PART = 8 * MIB
SECOND = StaticKey("SECOND", "another secret of the engine", "write")
#: Limits for 200 bodies of one device or key, which may have an eighth of the connections at work, and half of the buffers, of which
#: each body takes 3 MiB.
MANY_BODIES = {"max_connections": 2048, "max_connections_per_address": 256, "max_buffer_bytes": 2 << 30}
#: The attempts of a client that repeats what failed.
ATTEMPTS = 10


def other_etag(head: bytes) -> bytes:
    return re.sub(rb'(?i)(\r\netag: "?)[0-9a-f]{32}', lambda found: found[1] + b"0" * 32, head)


def shorter(head: bytes) -> bytes:
    """Returns the head of a response that claims to end 1,000 bytes earlier."""
    return re.sub(rb"(?i)(\r\ncontent-length: *)(\d+)", lambda found: found[1] + b"%d" % (int(found[2]) - 1000), head)


#: What happens to a PUT of a segment.
PUT_FAULTS = {
    "500": {"error": (500, "InternalError")},
    "503": {"error": (503, "SlowDown")},
    "cut": {"cut_body": 300_000},
    "response lost": {"loses_response": True},
    "wrong ETag": {"alter": other_etag},
    "clock skewed": {"error": (403, "RequestTimeTooSkewed")},
    "full": {"error": (507, "InsufficientStorage")},
    "quota": {"error": (403, "QuotaExceeded")},
    "key unknown": {"error": (403, "InvalidAccessKeyId")},
}
GET_FAULTS = {
    "500": {"error": (500, "InternalError")},
    "503": {"error": (503, "SlowDown")},
    "cut": {"cut_response": 300_000},
    "cut at the end": {"cut_response": LARGE_PART - 1},
    "response lost": {"loses_response": True},
}


def pytest_generate_tests(metafunc):
    # The memory of a gateway does not depend on its bucket.
    if "bucket" in metafunc.fixturenames and metafunc.function is not test_many_parts_take_bounded_memory:
        engines = ["gateway", "rgw"] if metafunc.config.getoption("--full") else ["gateway"]
        metafunc.parametrize("bucket", engines, indirect=True, scope="module")


@pytest.fixture(scope="module")
def bucket(request, gateway_with, tmp_path_factory) -> Bucket:
    folder = tmp_path_factory.mktemp("bucket")
    if getattr(request, "param", "gateway") == "rgw":
        bucket = Bucket.start_rados(folder, [KEY, SECOND])
    else:
        keys = [KEY.setting(folder), SECOND.setting(folder)]
        bucket = Bucket.start(gateway_with, folder, static_keys=keys, **MANY_BODIES)
    yield bucket
    bucket.stop()


@pytest.fixture(scope="module")
def proxy(bucket) -> BucketProxy:
    proxy = BucketProxy(bucket.address)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def server(gateway_with, bucket, proxy, tmp_path_factory) -> Gateway:
    """A gateway with its objects in the bucket, behind the proxy."""
    keys = [OWNER.setting(tmp_path_factory.mktemp("secrets"))]
    objects = bucket.settings("faults", proxy.address, retry_budget=20, idle_timeout=10)
    return gateway_with(
        {"objects": objects, "uploads": {"part_size_bytes": PART}, "object_store": {"static_keys": keys}}
    )


@pytest.fixture(scope="module")
def boss(server, login) -> User:
    return login(server)


@pytest.fixture(scope="module")
def devices(boss) -> Fleet:
    return Fleet.create(boss)


@dataclass
class StoredObject:
    """An object of two segments, each of which only downloads read."""

    owner: User
    #: Between the gateway and its bucket.
    proxy: BucketProxy
    upload: Upload
    data: bytes


@pytest.fixture(scope="module")
def stored_object(gateway_with, login, bucket) -> StoredObject:
    proxy = BucketProxy(bucket.address)
    objects = bucket.settings("read", proxy.address, retry_budget=20, idle_timeout=10)
    owner = login(gateway_with({"objects": objects, "uploads": {"part_size_bytes": LARGE_PART}}))
    upload, data = new_upload(Fleet.create(owner)), content(2 * LARGE_PART, next(fresh_seeds))
    sent_in_parts(upload, data, LARGE_PART)
    upload.complete()
    yield StoredObject(owner, proxy, upload, data)
    proxy.close()


@pytest.fixture(autouse=True)
def without_faults(proxy):
    yield
    proxy.forget()


def patiently(request):
    """Repeats a request like a client: only what may succeed later."""
    for _ in range(ATTEMPTS):
        try:
            return request()
        except StoreError as refusal:
            assert refusal.status >= 500, refusal
        except oss2.exceptions.RequestError:
            # The connection was closed.
            pass
    raise AssertionError("no attempt succeeded")


def new_upload(devices) -> Upload:
    return Upload.create(devices.uploader(), "oss2-v4")


def read(boss: User, upload: Upload) -> bytes:
    """Downloads the object of a complete upload."""
    (entry,) = [each for each in boss.list_all() if each.etag == upload.etag]
    return download(boss, entry.file_id)


def sent_in_parts(upload: Upload, data: bytes, part_size: int = PART) -> None:
    """Stores an object in parts, each of which is repeated until it is acknowledged."""
    store, upload.size = upload.store, len(data)
    multipart = patiently(store.initiate)
    for number, start in enumerate(range(0, len(data), part_size), start=1):
        piece = data[start : start + part_size]
        upload.parts.append(patiently(lambda n=number, p=piece: store.upload_part(multipart, n, p)))
    listed = [(part.number, part.etag) for part in store.list_parts(multipart).parts]
    assert listed == [(part.number, part.etag) for part in upload.parts]
    upload.etag = patiently(lambda: store.complete(multipart, upload.parts))


@pytest.mark.parametrize("fault", PUT_FAULTS)
def test_parts_survive_a_fault_of_a_put(devices, boss, proxy, fault):
    upload, data = new_upload(devices), content(4 * PART, next(fresh_seeds))
    met = proxy.met
    proxy.add("PUT /data/faults/data/", times=3, **PUT_FAULTS[fault])
    sent_in_parts(upload, data)
    assert proxy.met == met + 3
    upload.complete()
    assert read(boss, upload) == data


@pytest.mark.parametrize("fault", ["500", "503", "response lost"])
def test_a_short_body_is_repeated_by_the_gateway(devices, boss, proxy, fault):
    upload, data = new_upload(devices), content(1000, next(fresh_seeds))
    proxy.add("PUT /data/faults/data/", times=3, **PUT_FAULTS[fault])
    upload.put(data)
    upload.etag = upload.store.head().etag
    upload.complete()
    assert read(boss, upload) == data


@pytest.mark.parametrize("fault", GET_FAULTS)
def test_a_download_continues_after_a_fault(stored_object, fault):
    proxy = stored_object.proxy
    met = proxy.met
    proxy.add("GET /data/read/data/", times=3, **GET_FAULTS[fault])
    assert read(stored_object.owner, stored_object.upload) == stored_object.data
    assert proxy.met == met + 3


def test_no_byte_of_a_truncated_response_is_passed_on(stored_object):
    stored_object.proxy.add("GET /data/read/data/", alter=shorter, cut_response=LARGE_PART - 1000)
    with pytest.raises(http.client.IncompleteRead) as cut:
        read(stored_object.owner, stored_object.upload)
    assert cut.value.partial == b""
    assert read(stored_object.owner, stored_object.upload) == stored_object.data


def test_a_slow_bucket_only_delays(gateway_with, login, bucket):
    slow = BucketProxy(bucket.address, rate=2 * MIB)
    with closing(slow):
        gateway = gateway_with({"objects": bucket.settings("slow", slow.address), "uploads": {"part_size_bytes": PART}})
        user = login(gateway)
        upload, data = new_upload(Fleet.create(user)), content(4 * PART, next(fresh_seeds))
        sent_in_parts(upload, data)
        upload.complete()
        assert read(user, upload) == data


def test_a_restarted_bucket_has_every_acknowledged_part(gateway_with, login, bucket):
    objects = bucket.settings("restarted", retry_budget=0)
    gateway = gateway_with({"objects": objects, "uploads": {"part_size_bytes": PART}})
    user = login(gateway)
    upload, data = new_upload(Fleet.create(user)), content(4 * PART, next(fresh_seeds))
    store, upload.size = upload.store, len(data)
    multipart = store.initiate()
    for number in range(1, 5):
        piece = data[(number - 1) * PART : number * PART]
        if number == 3:
            bucket.kill()
            with pytest.raises(StoreError) as refusal:
                store.upload_part(multipart, number, piece)
            assert refusal.value.status == 503
            bucket.start_again()
        upload.parts.append(patiently(lambda n=number, p=piece: store.upload_part(multipart, n, p)))
    upload.etag = store.complete(multipart, upload.parts)
    upload.complete()
    assert read(user, upload) == data


def test_rotated_credentials_are_used(gateway_with, login, bucket, proxy):
    own = bucket.credentials.with_name("rotated")
    write_credentials(own, KEY.id, KEY.secret)
    objects = bucket.settings("rotated", proxy.address, credentials_file=str(own))
    gateway = gateway_with({"objects": objects, "uploads": {"part_size_bytes": PART}})
    user = login(gateway)
    devices = Fleet.create(user)
    uploads = [(new_upload(devices), content(4 * PART, next(fresh_seeds))) for _ in range(4)]
    begun = threading.Barrier(len(uploads) + 1)

    def send(upload: Upload, data: bytes) -> None:
        begun.wait()
        sent_in_parts(upload, data)

    with ThreadPoolExecutor() as threads:
        running = [threads.submit(send, *each) for each in uploads]
        begun.wait()
        # The store refuses the earlier key as soon as there is another one.
        write_credentials(own, SECOND.id, SECOND.secret)
        proxy.add(f"/data/rotated/(.|\n)*Credential={KEY.id}/", times=1000, error=(403, "InvalidAccessKeyId"))
        for each in running:
            each.result()
    for upload, data in uploads:
        upload.complete()
        assert read(user, upload) == data


#: The rate of a slow client in the long form, in bytes a second: 64 MiB take two hours and a quarter.
SLOW_RATE = int(os.environ.get("LAB_SLOW_RATE", 8192))
#: For the short and the long form: how often a slow client pauses, and for how many seconds; its rate in bytes a second
#: between the pauses; the time after which idle connections are closed; `objects.spool_below`.
SLOW = {False: (8, 0.8, MIB, 0.5, MIB), True: (4, 45.0, SLOW_RATE, 15.0, 8 * SLOW_RATE)}


@pytest.mark.parametrize("size", [MIB, 64 * MIB])
def test_a_slow_client_with_pauses_stores_its_part(gateway_with, login, bucket, is_full, size):
    pauses, pause, rate, idle, spool_below = SLOW[is_full]
    piece = 8192
    if size > MIB and not is_full:
        pytest.skip("only in the long form")
    impatient = BucketProxy(bucket.address, idle=idle)
    with closing(impatient):
        objects = bucket.settings(f"slow-{size}", impatient.address, spool_below=spool_below)
        # Else a client is disconnected that pauses for more than half a minute.
        gateway = gateway_with({"objects": objects, "object_store": {"slow_client_grace_seconds": 120}})
        upload, data = new_upload(Fleet.create(login(gateway))), content(size, next(fresh_seeds))
        url = urllib.parse.urlsplit(upload.store.presign_put(3600))
        connection = http.client.HTTPConnection(url.netloc, timeout=600)
        connection.putrequest("PUT", f"{url.path}?{url.query}")
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        for start in range(0, size, piece):
            connection.send(data[start : start + piece])
            time.sleep(pause if start % (size // pauses) == 0 else piece / rate)
        reply = connection.getresponse()
        assert (reply.status, reply.read()) == (200, b"")
        upload.size, upload.etag = size, reply.headers["ETag"]
        # The tokens may have expired.
        upload.uploader.sign_in()
        upload.complete()
        assert read(login(gateway), upload) == data
        assert impatient.idle_closed > 0


def slow_reader(address: str) -> tuple[socket.socket, bytes]:
    """Begins a download with a small window, and returns the connection with the bytes that have arrived."""
    url = urllib.parse.urlsplit(address)
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    reader.connect((url.hostname, url.port))
    reader.settimeout(120)
    reader.sendall(f"GET {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
    return reader, reader.recv(4096)


def rest_of(reader: socket.socket, got: bytes) -> bytes:
    while data := reader.recv(65536):
        got += data
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    return body


def test_a_slow_reader_gets_the_bytes_of_a_purged_object(devices, boss, bucket):
    upload, data = new_upload(devices), content(10 * PART, next(fresh_seeds))
    sent_in_parts(upload, data)
    upload.complete()
    (entry,) = [each for each in boss.list_all() if each.etag == upload.etag]
    reader, got = slow_reader(location(boss, entry.file_id))
    with closing(reader):
        boss.delete_permanently(entry.file_id)
        assert rest_of(reader, got) == data


def test_a_slow_reader_gets_the_old_bytes_of_an_overwritten_object(server):
    s3 = client(OWNER.credentials(server))
    data = content(10 * PART, next(fresh_seeds))
    multipart = s3.create_multipart_upload(Bucket="data", Key="slow")["UploadId"]
    parts = []
    for number in range(1, 11):
        piece = data[(number - 1) * PART : number * PART]
        names = {"Bucket": "data", "Key": "slow", "UploadId": multipart, "PartNumber": number}
        parts.append({"PartNumber": number, "ETag": s3.upload_part(Body=piece, **names)["ETag"]})
    s3.complete_multipart_upload(Bucket="data", Key="slow", UploadId=multipart, MultipartUpload={"Parts": parts})
    reader, got = slow_reader(s3.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "slow"}))
    with closing(reader):
        s3.put_object(Bucket="data", Key="slow", Body=b"new")
        assert rest_of(reader, got) == data
    assert s3.get_object(Bucket="data", Key="slow")["Body"].read() == b"new"
    s3.delete_object(Bucket="data", Key="slow")


def steps(prefix: str, kill) -> dict:
    """The places of an upload at which the gateway is killed: a pattern of the bucket's requests, and what kills it."""

    def after(head: bytes) -> bytes:
        kill()
        return head

    put = f"PUT /data/{prefix}/data/"
    return {"before the PUT": (put, {"before": kill}), "after the PUT": (put, {"alter": after})}


@pytest.mark.parametrize("step", ["before the PUT", "after the PUT"])
@pytest.mark.parametrize("number", [1, 3])
def test_a_killed_gateway_answers_the_recovery_of_an_upload(gateway_with, login, bucket, step, number):
    proxy = BucketProxy(bucket.address)
    with closing(proxy):
        prefix = f"killed-{next(fresh_seeds)}"
        gateway = gateway_with(
            {"objects": bucket.settings(prefix, proxy.address), "uploads": {"part_size_bytes": PART}}
        )
        user = login(gateway)
        upload, data = new_upload(Fleet.create(user)), content(3 * PART, next(fresh_seeds))
        store, upload.size = upload.store, len(data)
        multipart = store.initiate()
        for each in range(1, number):
            store.upload_part(multipart, each, data[(each - 1) * PART : each * PART])
        pattern, fault = steps(prefix, gateway.process.kill)[step]
        proxy.add(pattern, **fault)
        with pytest.raises((StoreError, oss2.exceptions.RequestError)):
            store.upload_part(multipart, number, data[(number - 1) * PART : number * PART])
        gateway.kill()
        gateway.start()
        action = upload.recovery().next_action
        names = upload.uploader.stubs.gateway.UploadRecoveryAction
        assert names.Name(action).removeprefix("UPLOAD_RECOVERY_ACTION_") == ("CONTINUE" if number > 1 else "RESTART")
        assert [part.number for part in store.list_parts(multipart).parts] == list(range(1, number))
        upload.parts = [store.upload_part(multipart, n, data[(n - 1) * PART : n * PART]) for n in (1, 2, 3)]
        upload.etag = store.complete(multipart, upload.parts)
        # The next process finds the object: the client did not learn that it is complete.
        gateway.kill()
        gateway.start()
        upload.complete()
        assert read(login(gateway), upload) == data
        gateway.stop()


@dataclass
class Killed:
    """A gateway that is killed within a call, with its objects in a bucket behind a proxy, on a disk with faults."""

    gateway: Gateway
    faults: Faults
    proxy: BucketProxy
    boss: User
    devices: Fleet
    #: Whether the chosen call of the disk occurred.
    was_killed: bool = True

    def parts(self) -> tuple[Upload, str, bytes]:
        """Stores three parts, and returns the id of their multipart upload."""
        upload, data = new_upload(self.devices), content(2 * PART + 1000, next(fresh_seeds))
        multipart = upload.store.initiate()
        upload.send_parts(data, multipart)
        return upload, multipart, data

    def is_acknowledged(self, call: Callable[[], object]) -> bool:
        """Calls, and starts the gateway again, whether it was killed or not."""
        is_acknowledged = False
        with suppress(StoreError, oss2.exceptions.RequestError, grpc.RpcError):
            call()
            is_acknowledged = True
        self.was_killed = self.faults.failed == 1
        self.faults.disarm()
        self.proxy.forget()
        self.gateway.kill()
        self.gateway.start()
        return is_acknowledged

    def check(self, upload: Upload, multipart: str, data: bytes, states: set[tuple[str, str]]) -> None:
        """Checks the state and the next action of the recovery, does as it says, and compares the bytes."""
        stubs, reply = upload.uploader.stubs.gateway, upload.recovery()
        status = stubs.LogicalUploadStatus.Name(reply.logical_upload_status).removeprefix("LOGICAL_UPLOAD_STATUS_")
        action = stubs.UploadRecoveryAction.Name(reply.next_action).removeprefix("UPLOAD_RECOVERY_ACTION_")
        assert (status, action) in states
        if action == "CONTINUE":
            listed = [(part.number, part.etag) for part in upload.store.list_parts(multipart).parts]
            assert listed == [(part.number, part.etag) for part in upload.parts]
            upload.etag = upload.store.complete(multipart, upload.parts)
        else:
            upload.etag = reply.oss_object_etag
        upload.complete()
        assert read(self.boss, upload) == data


@pytest.fixture
def killed(binary, bucket, login, tmp_path):
    proxy = BucketProxy(bucket.address)
    objects = bucket.settings(f"killed-{next(fresh_seeds)}", proxy.address)
    gateway = Gateway(binary, tmp_path, {"objects": objects, "uploads": {"part_size_bytes": PART}})
    faults = Faults(tmp_path, gateway.data)
    gateway.environment |= faults.environment
    with closing(proxy), closing(gateway.start()):
        boss = login(gateway)
        yield Killed(gateway, faults, proxy, boss, Fleet.create(boss))


def database_calls(is_full: bool, killed: Killed, kind: int):
    """Yields after a call of the disk on the database's log is chosen before which the gateway is killed: each one, or in the short
    form the first, second, fourth, …; ends after a round in which the chosen call did not occur."""
    number = 1
    while killed.was_killed:
        yield lambda number=number: killed.faults.arm(kind, number, 0, path="gateway.db-wal", action=KILL)
        number = number + 1 if is_full else 2 * number
    assert number > 2, "no call was chosen"


@pytest.mark.sqlite
@pytest.mark.parametrize("kind", [WRITE, SYNC], ids=["write", "sync"])
def test_a_gateway_killed_within_complete_has_the_parts_or_the_object(killed, is_full, kind):
    for choose in database_calls(is_full, killed, kind):
        upload, multipart, data = killed.parts()
        choose()
        is_done = killed.is_acknowledged(lambda u=upload, m=multipart: u.store.complete(m, u.parts))
        states = {("COMPLETING", "COMPLETE_ONLY")} | (set() if is_done else {("ACTIVE", "CONTINUE")})
        killed.check(upload, multipart, data, states)


@pytest.mark.sqlite
@pytest.mark.parametrize("kind", [WRITE, SYNC], ids=["write", "sync"])
def test_a_gateway_killed_within_complete_upload_completes_it_once(killed, is_full, kind):
    for choose in database_calls(is_full, killed, kind):
        upload, multipart, data = killed.parts()
        upload.etag = upload.store.complete(multipart, upload.parts)
        choose()
        is_done = killed.is_acknowledged(upload.complete)
        states = {("COMPLETED", "COMPLETE_ONLY")} | (set() if is_done else {("COMPLETING", "COMPLETE_ONLY")})
        killed.check(upload, multipart, data, states)


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_gateway_killed_at_the_facts_of_an_upload_completes_it_once(killed, step):
    upload, multipart, data = killed.parts()
    upload.etag = upload.store.complete(multipart, upload.parts)
    kill = killed.gateway.process.kill
    fault = {"before": kill} if step == "before" else {"alter": lambda head: kill() or head}
    killed.proxy.add("PUT /data/killed-[0-9]+/facts/", **fault)
    met = killed.proxy.met
    assert not killed.is_acknowledged(upload.complete)
    assert killed.proxy.met == met + 1
    killed.check(upload, multipart, data, {("COMPLETING", "COMPLETE_ONLY"), ("COMPLETED", "COMPLETE_ONLY")})


def test_many_parts_take_bounded_memory(gateway_with, login, bucket, is_full):
    count, size = (200, 64 * MIB) if is_full else (20, 8 * MIB)
    gateway = gateway_with(
        {
            "objects": bucket.settings("memory"),
            "uploads": {"part_size_bytes": size},
            "object_store": MANY_BODIES,
        }
    )
    upload = new_upload(Fleet.create(login(gateway)))
    multipart = upload.store.initiate()
    idle = memory(gateway.process.pid)
    url = urllib.parse.urlsplit(upload.credentials.endpoint)
    data, most = content(MIB), idle
    connections = []
    for number in range(1, count + 1):
        request = upload.store.bucket.sign_url(
            "PUT", upload.credentials.key, 3600, params={"partNumber": str(number), "uploadId": multipart}
        )
        target = urllib.parse.urlsplit(request)
        connection = http.client.HTTPConnection(url.netloc, timeout=600)
        connection.putrequest("PUT", f"{target.path}?{target.query}")
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        connections.append(connection)
    for _ in range(size // MIB):
        for connection in connections:
            connection.send(data)
        most = max(most, memory(gateway.process.pid))
    for connection in connections:
        assert connection.getresponse().status == 200
    most = max(most, memory(gateway.process.pid))
    print(f"{count} parts of {size // MIB} MiB: {(most - idle) / MIB:.1f} MiB above idle")
    assert most - idle <= 128 * MIB, f"{(most - idle) / MIB:.1f} MiB"
    assert eventually(lambda: metric(gateway, "data_gateway_object_engine_connections") == 0)
