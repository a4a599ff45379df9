"""`object_store.static_keys`: the store from the view of operators' own tools, with boto3, awscli and both OSS SDKs."""

import datetime
import hashlib
from dataclasses import dataclass

import alibabacloud_oss_v2 as alibaba
import botocore.auth
import oss2
import pytest
from boto3.s3.transfer import TransferConfig
from support import s3
from support.gateway import Gateway
from support.monitoring import logged, metric
from support.oss import Credentials
from support.parties import Fleet, User
from support.raw import fetch_url
from support.s3 import refused_with
from support.static_keys import OWNER, StaticKey
from support.uploads import MIB, Upload, completed, content

WRITER = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")
READER = StaticKey("AUDITOR", "a secret of the auditor", "read")


@dataclass
class Store:
    """A gateway with three static keys: one may write below `tools/`, one may read everything, one may do both."""

    gateway: Gateway
    admin: User

    def credentials(self, key=WRITER) -> Credentials:
        return key.credentials(self.gateway, part_size=8 * MIB)

    def client(self, key=WRITER, **config):
        return s3.client(self.credentials(key), **config)


@pytest.fixture(scope="module")
def store(gateway_with, login, tmp_path_factory) -> Store:
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in (WRITER, OWNER, READER)]
    gateway = gateway_with({"object_store": {"static_keys": keys}})
    return Store(gateway, login(gateway))


def test_object_is_put_read_described_and_deleted(store):
    client, name = store.client(), {"Bucket": "data", "Key": "tools/a b/ü+&?#%.bin"}
    for data in (content(100_000), content(5000, seed=2), b""):
        assert client.put_object(**name, Body=data)["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
        assert client.get_object(**name)["Body"].read() == data
        assert client.head_object(**name)["ContentLength"] == len(data)
    client.put_object(**name, Body=content(1000))
    assert client.get_object(**name, Range="bytes=10-19")["Body"].read() == content(1000)[10:20]
    client.delete_object(**name)
    refused_with(404, "NoSuchKey", client.get_object, **name)
    client.delete_object(**name)
    client.head_bucket(Bucket="data")


@pytest.mark.parametrize("part_size", [5 * MIB, 5 * MIB + 1, 8 * MIB])
def test_parts_of_any_size_are_combined(store, tmp_path, part_size):
    data = content(17 * MIB + 3)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    transfer = TransferConfig(multipart_threshold=part_size, multipart_chunksize=part_size)
    client, key = store.client(), f"tools/parts/{part_size}"
    client.upload_file(str(source), "data", key, Config=transfer)
    client.download_file("data", key, str(target), Config=transfer)
    assert target.read_bytes() == data
    pieces = [data[start : start + part_size] for start in range(0, len(data), part_size)]
    digest = hashlib.md5(b"".join(hashlib.md5(piece).digest() for piece in pieces)).hexdigest()
    assert client.head_object(Bucket="data", Key=key)["ETag"] == f'"{digest}-{len(pieces)}"'


def test_uneven_and_repeated_parts_are_combined(store):
    client, name = store.client(), {"Bucket": "data", "Key": "tools/uneven"}
    name["UploadId"] = client.create_multipart_upload(**name)["UploadId"]
    pieces = {3: content(77, 3), 1: content(MIB + 1, 1), 2: content(3 * MIB, 2)}
    etags = {}
    for number, piece in [(1, content(10, 9)), *pieces.items()]:
        etags[number] = client.upload_part(**name, PartNumber=number, Body=piece)["ETag"]
    listed = client.list_parts(**name)["Parts"]
    assert [(part["PartNumber"], part["Size"]) for part in listed] == [(1, MIB + 1), (2, 3 * MIB), (3, 77)]
    parts = [{"PartNumber": number, "ETag": etags[number]} for number in (1, 2, 3)]
    client.complete_multipart_upload(**name, MultipartUpload={"Parts": parts})
    got = client.get_object(Bucket="data", Key="tools/uneven")["Body"].read()
    assert got == pieces[1] + pieces[2] + pieces[3]
    again = client.create_multipart_upload(Bucket="data", Key="tools/uneven")["UploadId"]
    client.abort_multipart_upload(Bucket="data", Key="tools/uneven", UploadId=again)
    assert client.get_object(Bucket="data", Key="tools/uneven")["Body"].read() == got


def test_listings_have_keys_and_prefixes_in_order(store):
    client = store.client()
    keys = ["tools/list/" + name for name in ("a", "b/1", "b/2", "b/c/1", "b c", "d", "ü", "zz/1")]
    for key in reversed(keys):
        client.put_object(Bucket="data", Key=key, Body=key.encode())
    expected = sorted(keys, key=lambda key: key.encode())

    def walk(operation: str, **arguments):
        found, prefixes = [], []
        for page in client.get_paginator(operation).paginate(Bucket="data", **arguments):
            found += [entry["Key"] for entry in page.get("Contents", [])]
            prefixes += [entry["Prefix"] for entry in page.get("CommonPrefixes", [])]
        return found, prefixes

    for operation in ("list_objects_v2", "list_objects"):
        for size in (1, 3, 1000):
            pages = {"PaginationConfig": {"PageSize": size}}
            assert walk(operation, Prefix="tools/list/", **pages) == (expected, [])
            assert walk(operation, Prefix="tools/list/b", **pages)[0] == [
                key for key in expected if key.startswith("tools/list/b")
            ]
            assert walk(operation, Prefix="tools/list/", Delimiter="/", **pages) == (
                ["tools/list/a", "tools/list/b c", "tools/list/d", "tools/list/ü"],
                ["tools/list/b/", "tools/list/zz/"],
            )
    page = client.list_objects_v2(Bucket="data", Prefix="tools/list/", StartAfter="tools/list/b/2", MaxKeys=2)
    assert [entry["Key"] for entry in page["Contents"]] == ["tools/list/b/c/1", "tools/list/d"]
    assert (page["KeyCount"], page["IsTruncated"], page["Contents"][0]["Size"]) == (2, True, 16)
    assert client.list_objects_v2(Bucket="data", Prefix="tools/none/")["KeyCount"] == 0
    refused_with(403, "AccessDenied", client.list_objects_v2, Bucket="data")
    token = {"ContinuationToken": "%%%"}
    refused_with(400, "InvalidArgument", client.list_objects_v2, Bucket="data", Prefix="tools/", **token)


def test_awscli_syncs_a_folder(store, tmp_path):
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "one").write_bytes(content(1000))
    (folder / "below" / "two").write_bytes(content(9 * MIB))
    url = "s3://data/tools/sync"

    def aws(*arguments):
        done = s3.aws(store.credentials(), tmp_path, "s3", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    aws("sync", folder, url)
    listed = aws("ls", "--recursive", url + "/")
    assert "tools/sync/one" in listed and "tools/sync/below/two" in listed
    assert "PRE below/" in aws("ls", url + "/")
    aws("sync", url, tmp_path / "back")
    for name in ("one", "below/two"):
        assert (tmp_path / "back" / name).read_bytes() == (folder / name).read_bytes()
    aws("rm", "--recursive", url + "/")
    assert store.client().list_objects_v2(Bucket="data", Prefix="tools/sync/")["KeyCount"] == 0


@pytest.mark.parametrize("auth", [oss2.Auth, oss2.AuthV4])
def test_oss2_puts_and_reads_objects(store, auth):
    bucket = oss2.Bucket(auth(WRITER.id, WRITER.secret), store.credentials().endpoint, "data", region="local")
    key = f"tools/oss2/{auth.__name__}"
    bucket.put_object(key + "/whole", content(1000))
    assert bucket.get_object(key + "/whole").read() == content(1000)
    upload = bucket.init_multipart_upload(key + "/parts").upload_id
    pieces = [content(MIB, 1), content(200_000, 2)]
    parts = [
        oss2.models.PartInfo(number, bucket.upload_part(key + "/parts", upload, number, piece).etag)
        for number, piece in enumerate(pieces, start=1)
    ]
    bucket.complete_multipart_upload(key + "/parts", upload, parts)
    assert bucket.get_object(key + "/parts").read() == b"".join(pieces)
    assert [found.key for found in oss2.ObjectIterator(bucket, prefix=key)] == [key + "/parts", key + "/whole"]
    assert [found.key for found in oss2.ObjectIteratorV2(bucket, prefix=key)] == [key + "/parts", key + "/whole"]
    assert fetch_url(bucket.sign_url("GET", key + "/whole", 60)).body == content(1000)
    bucket.delete_object(key + "/whole")
    with pytest.raises(oss2.exceptions.NoSuchKey):
        bucket.get_object(key + "/whole")


def test_alibabacloud_puts_and_reads_objects(store):
    provider = alibaba.credentials.StaticCredentialsProvider(WRITER.id, WRITER.secret)
    endpoint = store.credentials().endpoint
    client = alibaba.Client(alibaba.Config(region="local", endpoint=endpoint, credentials_provider=provider))
    client.put_object(alibaba.PutObjectRequest(bucket="data", key="tools/v2", body=content(1000)))
    assert client.get_object(alibaba.GetObjectRequest(bucket="data", key="tools/v2")).body.content == content(1000)
    pages = client.list_objects_v2_paginator().iter_page(alibaba.ListObjectsV2Request(bucket="data", prefix="tools/v2"))
    assert [entry.key for page in pages for entry in page.contents] == ["tools/v2"]


def test_keys_outside_of_the_prefix_are_refused(store):
    client = store.client()
    for key in ("other", "tool", "Tools/x", "uploads/2026/11/22/x"):
        name = {"Bucket": "data", "Key": key}
        refused_with(403, "AccessDenied", client.put_object, **name, Body=b"x")
        refused_with(403, "AccessDenied", client.get_object, **name)
        refused_with(403, "AccessDenied", client.delete_object, **name)
        refused_with(403, "AccessDenied", client.create_multipart_upload, **name)
    refused_with(404, "NoSuchBucket", client.put_object, Bucket="other", Key="tools/x", Body=b"x")
    refused_with(501, "NotImplemented", client.put_bucket_versioning, Bucket="data", VersioningConfiguration={})
    refused_with(409, "BucketAlreadyOwnedByYou", client.create_bucket, Bucket="data")


def test_key_that_reads_cannot_write(store):
    store.client().put_object(Bucket="data", Key="tools/read", Body=b"read")
    client, name = store.client(READER), {"Bucket": "data", "Key": "tools/read"}
    assert client.get_object(**name)["Body"].read() == b"read"
    for operation, step, body in (
        ("PutObject", client.put_object, {"Body": b"x"}),
        ("InitiateMultipartUpload", client.create_multipart_upload, {}),
        ("DeleteObject", client.delete_object, {}),
    ):
        message = refused_with(403, "AccessDenied", step, **name, **body)
        assert message == f'{operation}: the static key AUDITOR is read-only (access: "read").'
    refused_with(404, "NoSuchKey", client.get_object, Bucket="data", Key="absent")


def test_verified_objects_of_devices_are_readable(store):
    uploader, client = Fleet.create(store.admin).uploader(), store.client(READER)
    upload = completed(uploader, content(1000))
    name = {"Bucket": "data", "Key": upload.credentials.key}
    assert client.get_object(**name)["Body"].read() == content(1000)
    listed = client.list_objects_v2(Bucket="data", Prefix="uploads/")
    assert [entry["Key"] for entry in listed["Contents"]] == [name["Key"]]
    owner = store.client(OWNER)
    for key in (name["Key"], "uploads/2026/11/22/x"):
        refused_with(403, "AccessDenied", owner.put_object, Bucket="data", Key=key, Body=b"x")
        refused_with(403, "AccessDenied", owner.delete_object, Bucket="data", Key=key)
    pending = Upload.create(uploader).put(content(10))
    refused_with(404, "NoSuchKey", client.get_object, Bucket="data", Key=pending.credentials.key)
    assert client.list_objects_v2(Bucket="data", Prefix="uploads/")["KeyCount"] == 1
    (found,) = store.admin.list_all()
    store.admin.object_management("DeleteObject", file_id=found.file_id)
    assert client.list_objects_v2(Bucket="data", Prefix="uploads/")["KeyCount"] == 0


def test_each_request_says_in_the_log_whose_it_was(store):
    client, name = store.client(), {"Bucket": "data", "Key": "tools/logged"}
    client.put_object(**name, Body=b"x")
    store.client(READER).get_object(**name)
    client.delete_object(**name)
    refused_with(403, "AccessDenied", store.client(READER).put_object, **name, Body=b"x")
    client.list_objects_v2(Bucket="data", Prefix="tools/logged")
    path = "/data/tools/logged"
    for operation, key, status in [
        ("PutObject", WRITER, 200),
        ("GetObject", READER, 200),
        ("DeleteObject", WRITER, 204),
        ("PutObject", READER, 403),
    ]:
        line = logged(store.gateway, path=path, operation=operation, principal=f"static_key:{key.id}")
        assert line["status"] == status and line["target"].startswith("uploads/direct-")
    assert metric(store.gateway, "data_gateway_object_store_requests_total", operation="ListObjects") > 0


def test_objects_of_tools_survive_and_are_in_no_catalog(store):
    client, name = store.client(), {"Bucket": "data", "Key": "tools/kept"}
    client.put_object(**name, Body=content(1000))
    begun = client.create_multipart_upload(Bucket="data", Key="tools/begun")["UploadId"]
    etag = client.upload_part(Bucket="data", Key="tools/begun", UploadId=begun, PartNumber=1, Body=b"1")["ETag"]
    before = store.admin.list_all()
    store.gateway.kill()
    store.gateway.start()
    client = store.client()
    assert client.get_object(**name)["Body"].read() == content(1000)
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    client.complete_multipart_upload(Bucket="data", Key="tools/begun", UploadId=begun, MultipartUpload=parts)
    assert client.get_object(Bucket="data", Key="tools/begun")["Body"].read() == b"1"
    assert store.admin.list_all() == before


def test_wrong_secret_and_unknown_key_are_refused(store):
    name = {"Bucket": "data", "Key": "tools/x"}
    wrong, unknown = StaticKey(WRITER.id, "wrong", "write"), StaticKey("NOBODY", "x", "write")
    for key, code in ((wrong, "SignatureDoesNotMatch"), (unknown, "InvalidAccessKeyId")):
        refused_with(403, code, store.client(key).put_object, **name, Body=b"x")
        refused_with(403, code, store.client(key).list_objects_v2, Bucket="data", Prefix="tools/")
    message = refused_with(403, "InvalidAccessKeyId", store.client(unknown).list_buckets)
    assert "object_store.static_keys" in message


def test_a_request_of_another_time_is_refused(store, monkeypatch):
    right = botocore.auth.get_current_datetime
    name = {"Bucket": "data", "Key": "tools/x"}
    for minutes in (-20, 20):
        shift = datetime.timedelta(minutes=minutes)
        monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *rest, **named: right(*rest, **named) + shift)
        refused_with(403, "RequestTimeTooSkewed", store.client().put_object, **name, Body=b"x")
