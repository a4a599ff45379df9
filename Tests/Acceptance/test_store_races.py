"""Many clients at one key of the store: conditions of every kind, appends, and copies of an object that changes."""

import concurrent.futures
import hashlib
import threading

import oss2
import pytest
from botocore.exceptions import ClientError
from support import s3
from support.gateway import Gateway
from support.static_keys import OWNER

FORBID = {"x-oss-forbid-overwrite": "true"}


@pytest.fixture(scope="module")
def gateway(gateway_with, tmp_path_factory) -> Gateway:
    return gateway_with({"object_store": {"static_keys": [OWNER.setting(tmp_path_factory.mktemp("secrets"))]}})


@pytest.fixture
def client(gateway):
    return s3.client(OWNER.credentials(gateway), max_pool_connections=64)


def bucket(gateway) -> oss2.Bucket:
    return oss2.Bucket(oss2.AuthV4(OWNER.id, OWNER.secret), f"http://{gateway.object_store}", "data", region="local")


def outcomes(steps) -> list[str]:
    """Returns the results of steps that begin at the same time: `ok`, or the error code."""
    start = threading.Barrier(len(steps))

    def run(step) -> str:
        start.wait()
        try:
            step()
        except ClientError as error:
            return error.response["Error"]["Code"]
        except oss2.exceptions.OssError as error:
            return error.code
        return "ok"

    with concurrent.futures.ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(run, steps))


def test_one_of_the_writers_of_every_kind_wins(gateway, client):
    """PutObject, CopyObject and Complete of both protocols and AppendObject, with the same condition."""
    oss = bucket(gateway)
    client.put_object(Bucket="data", Key="source", Body=b"copied")
    for number in range(4):
        key = f"race/{number}"
        name = {"Bucket": "data", "Key": key}
        completions = []
        for _ in range(5):
            part = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"]}
            etag = client.upload_part(**part, PartNumber=1, Body=b"completed")["ETag"]
            completions.append(part | {"MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": etag}]}})
        kinds = [
            (b"put", lambda each: client.put_object(**name, Body=b"put", IfNoneMatch="*")),
            (b"copied", lambda each: client.copy_object(**name, CopySource="data/source", IfNoneMatch="*")),
            (b"completed", lambda each: client.complete_multipart_upload(**completions[each], IfNoneMatch="*")),
            (b"oss", lambda each: oss.put_object(key, b"oss", headers=FORBID)),
            (b"copied", lambda each: oss.copy_object("data", "source", key, headers=FORBID)),
            (b"appended", lambda each: oss.append_object(key, 0, b"appended", headers=FORBID)),
        ]
        steps = [(body, lambda step=step, each=each: step(each)) for each in range(5) for body, step in kinds]  # noqa: B023
        found = outcomes([step for _, step in steps])
        assert found.count("ok") == 1, found
        assert set(found) <= {"ok", "PreconditionFailed", "FileAlreadyExists", "NoSuchUpload"}
        assert client.get_object(**name)["Body"].read() == steps[found.index("ok")][0]


def test_one_replacement_of_a_version_wins(client):
    name = {"Bucket": "data", "Key": "version"}
    etag = client.put_object(**name, Body=b"0")["ETag"]
    for number in range(4):
        bodies = [f"{number}.{each}".encode() for each in range(24)]
        found = outcomes(
            [lambda body=body, etag=etag: client.put_object(**name, Body=body, IfMatch=etag) for body in bodies]
        )
        assert sorted(found) == ["PreconditionFailed"] * 23 + ["ok"]
        response = client.get_object(**name)
        assert response["Body"].read() == bodies[found.index("ok")]
        etag = response["ETag"]


def test_a_refused_complete_is_repeated_when_the_key_is_free(client):
    name = {"Bucket": "data", "Key": "again"}
    part = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"]}
    etag = client.upload_part(**part, PartNumber=1, Body=b"completed")["ETag"]
    complete = part | {"MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": etag}]}, "IfNoneMatch": "*"}
    client.put_object(**name, Body=b"first")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        client.complete_multipart_upload(**complete)
    assert client.get_object(**name)["Body"].read() == b"first"
    client.delete_object(**name)
    # Repeated after a lost response, it is the same success.
    assert client.complete_multipart_upload(**complete)["ETag"] == client.complete_multipart_upload(**complete)["ETag"]
    assert client.get_object(**name)["Body"].read() == b"completed"


def test_appends_of_many_clients_are_all_there(gateway):
    """A client that is late reads from the refusal where to append instead."""
    appended: list[tuple[int, bytes]] = []

    def append(worker: int) -> None:
        oss, position, number = bucket(gateway), 0, 0
        while number < 5:
            piece = f"<{worker}.{number}>".encode() * 40
            try:
                response = oss.append_object("log", position, piece)
            except oss2.exceptions.PositionNotEqualToLength as late:
                position = late.next_position
                continue
            appended.append((position, piece))
            position, number = response.next_position, number + 1

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(append, range(6)))
    assert bucket(gateway).get_object("log").read() == b"".join(piece for _, piece in sorted(appended))
    assert len(appended) == 30


def test_copies_of_a_changing_object_are_whole(client):
    bodies = [bytes([number]) * 300_000 for number in range(4)]
    name = {"Bucket": "data", "Key": "changing"}
    client.put_object(**name, Body=bodies[0])
    is_over = threading.Event()

    def change() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            if number % 5 == 0:
                client.delete_object(**name)
            client.put_object(**name, Body=bodies[number % 4])

    def copy(worker: int) -> int:
        copied = 0
        for number in range(15):
            to = {"Bucket": "data", "Key": f"copies/{worker}/{number}"}
            try:
                etag = client.copy_object(**to, CopySource="data/changing")["CopyObjectResult"]["ETag"]
            except ClientError as error:
                assert error.response["Error"]["Code"] == "NoSuchKey"
                continue
            response = client.get_object(**to)
            body = response["Body"].read()
            assert body in bodies
            assert response["ETag"] == etag == f'"{hashlib.md5(body).hexdigest()}"'
            copied += 1
        return copied

    changing = threading.Thread(target=change)
    changing.start()
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(copy, range(4))) > 0
    finally:
        is_over.set()
        changing.join()


@pytest.mark.parametrize("auth", [oss2.Auth, oss2.AuthV4])
def test_oss_lists_prefixes_with_spaces_and_plus_signs(gateway, client, auth):
    """oss2 sends a space in a query as a plus sign, and signs it as `%20`."""
    keys = ["odd + keys/a b+c", "odd + keys/d%20e", "odd + keys/é&="]
    for key in keys:
        client.put_object(Bucket="data", Key=key, Body=b"x")
    oss = oss2.Bucket(auth(OWNER.id, OWNER.secret), f"http://{gateway.object_store}", "data", region="local")
    assert [entry.key for entry in oss2.ObjectIterator(oss, prefix="odd + ")] == keys
    assert [entry.key for entry in oss2.ObjectIterator(oss, prefix="odd + keys/a b+")] == keys[:1]
    found = client.list_objects_v2(Bucket="data", Prefix="odd + keys/a b")["Contents"]
    assert [entry["Key"] for entry in found] == keys[:1]
