"""Faults between the gateway and the bucket for objects: nothing that was acknowledged is lost, and clients may repeat what failed."""

import http.client
import re
import socket
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import oss2.exceptions
import pytest
from support.bucket_proxy import BucketProxy
from support.buckets import KEY, Bucket, write_credentials
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.oss import StoreError
from support.parties import Fleet, User
from support.process_usage import memory
from support.s3 import client
from support.static_keys import OWNER, StaticKey
from support.uploads import MIB, Upload, content, download, fresh_seeds, location

PART = MIB
SECOND = StaticKey("SECOND", "another secret of the engine", "write")
#: Limits for 200 bodies of one device or key, which may have an eighth of the connections at work, and half of the buffers, of which
#: each body takes 3 MiB.
MANY_BODIES = {"max_connections": 2048, "max_connections_per_address": 256, "max_buffer_bytes": 2 << 30}
#: The attempts of a client that repeats what failed.
ATTEMPTS = 10


def other_etag(head: bytes) -> bytes:
    return re.sub(rb'(?i)(\r\netag: "?)[0-9a-f]{32}', lambda found: found[1] + b"0" * 32, head)


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
    "cut at the end": {"cut_response": PART - 1},
    "response lost": {"loses_response": True},
}


@pytest.fixture(scope="module")
def bucket(gateway_with, tmp_path_factory) -> Bucket:
    folder = tmp_path_factory.mktemp("bucket")
    keys = [KEY.setting(folder), SECOND.setting(folder)]
    return Bucket.start(gateway_with, folder, static_keys=keys, **MANY_BODIES)


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


def sent_in_parts(upload: Upload, data: bytes) -> None:
    """Stores an object in parts, each of which is repeated until it is acknowledged."""
    store, upload.size = upload.store, len(data)
    multipart = patiently(store.initiate)
    for start in range(0, len(data), PART):
        number, piece = start // PART + 1, data[start : start + PART]
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
def test_a_download_continues_after_a_fault(devices, boss, proxy, fault):
    upload, data = new_upload(devices), content(4 * PART, next(fresh_seeds))
    sent_in_parts(upload, data)
    upload.complete()
    proxy.add("GET /data/faults/data/", times=3, **GET_FAULTS[fault])
    assert read(boss, upload) == data


def test_a_slow_bucket_only_delays(gateway_with, login, bucket):
    slow = BucketProxy(bucket.address, rate=2 * MIB)
    with closing(slow):
        gateway = gateway_with({"objects": bucket.settings("slow", slow.address), "uploads": {"part_size_bytes": PART}})
        user = login(gateway)
        upload, data = new_upload(Fleet.create(user)), content(4 * PART, next(fresh_seeds))
        sent_in_parts(upload, data)
        upload.complete()
        assert read(user, upload) == data


def test_a_restarted_bucket_has_every_acknowledged_part(gateway_with, login, tmp_path):
    bucket = Bucket.start(gateway_with, tmp_path)
    objects = bucket.settings("restarted", retry_budget=0)
    gateway = gateway_with({"objects": objects, "uploads": {"part_size_bytes": PART}})
    user = login(gateway)
    upload, data = new_upload(Fleet.create(user)), content(4 * PART, next(fresh_seeds))
    store, upload.size = upload.store, len(data)
    multipart = store.initiate()
    for number in range(1, 5):
        piece = data[(number - 1) * PART : number * PART]
        if number == 3:
            bucket.gateway.kill()
            with pytest.raises(StoreError) as refusal:
                store.upload_part(multipart, number, piece)
            assert refusal.value.status == 503
            bucket.gateway.start()
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


#: For the short and the long form: how often a slow client pauses, and for how many seconds; its rate in bytes a second
#: between the pauses; the time after which idle connections are closed; `objects.spool_below`.
SLOW = {False: (8, 0.8, MIB, 0.5, MIB), True: (4, 45.0, 8192, 15.0, 65536)}


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
        user = login(gateway)
        upload, data = new_upload(Fleet.create(user)), content(size, next(fresh_seeds))
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
        upload.complete()
        assert read(user, upload) == data
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
