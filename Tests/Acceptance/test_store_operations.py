"""Tests of the store's operations for operators' tools, with boto3 and oss2: conditions, buckets, lists, copies."""

import base64
import concurrent.futures
import hashlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import oss2
import pytest
import requests
from botocore.exceptions import ClientError
from support import process, s3
from support.database import change, changing, rows
from support.gateway import eventually
from support.operators_store import ORIGIN, READER, oss_refused
from support.parties import Fleet
from support.s3 import refused
from support.static_keys import OWNER, TOOLS
from support.uploads import MIB, Upload, completed, content

# Conditional writes


def race(steps) -> list[str]:
    """Returns the results of concurrent steps: `ok`, or the error code."""

    def run(step):
        try:
            step()
        except (ClientError, oss2.exceptions.OssError) as error:
            return error.response["Error"]["Code"] if isinstance(error, ClientError) else error.code
        return "ok"

    with concurrent.futures.ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(run, steps))


def test_one_of_64_conditional_puts_wins(store):
    clients = [store.client() for _ in range(8)]
    bodies = [str(number).encode() for number in range(64)]

    def put(number):
        return lambda: clients[number % 8].put_object(
            Bucket="data", Key="race/put", Body=bodies[number], IfNoneMatch="*"
        )

    outcomes = race([put(number) for number in range(64)])
    assert sorted(outcomes) == ["PreconditionFailed"] * 63 + ["ok"]
    assert clients[0].get_object(Bucket="data", Key="race/put")["Body"].read() == bodies[outcomes.index("ok")]


def test_one_of_64_conditional_completes_wins(store):
    clients = [store.client() for _ in range(8)]
    name = {"Bucket": "data", "Key": "race/complete"}
    uploads = []
    for number in range(64):
        client = clients[number % 8]
        part = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"]}
        etag = client.upload_part(**part, PartNumber=1, Body=str(number).encode())["ETag"]
        uploads.append((client, part | {"MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": etag}]}}))
    steps = [lambda one=one: one[0].complete_multipart_upload(**one[1], IfNoneMatch="*") for one in uploads]
    outcomes = race(steps)
    # The completion of one upload ends the others of the same key.
    assert outcomes.count("ok") == 1 and set(outcomes) <= {"ok", "PreconditionFailed", "NoSuchUpload"}
    assert clients[0].get_object(**name)["Body"].read() == str(outcomes.index("ok")).encode()


def test_overwrite_is_refused_when_oss_forbids_it(store):
    bucket, forbid = store.oss(), {"x-oss-forbid-overwrite": "true"}
    bucket.put_object("forbid", b"first", headers=forbid)
    assert oss_refused(bucket.put_object, "forbid", b"second", headers=forbid) == (409, "FileAlreadyExists")
    assert oss_refused(bucket.init_multipart_upload, "forbid", headers=forbid) == (409, "FileAlreadyExists")
    upload = bucket.init_multipart_upload("forbid/parts", headers=forbid).upload_id
    etag = bucket.upload_part("forbid/parts", upload, 1, b"1").etag
    bucket.put_object("forbid/parts", b"faster")
    parts = [oss2.models.PartInfo(1, etag)]
    assert oss_refused(bucket.complete_multipart_upload, "forbid/parts", upload, parts)[0] in (404, 409)
    assert bucket.get_object("forbid").read() + bucket.get_object("forbid/parts").read() == b"firstfaster"
    bucket.put_object("forbid", b"third", headers={"x-oss-forbid-overwrite": "false"})
    assert bucket.get_object("forbid").read() == b"third"


def test_replacing_an_object_depends_on_if_match(store):
    client, name = store.client(), {"Bucket": "data", "Key": "match"}
    first = client.put_object(**name, Body=b"1")["ETag"]
    second = client.put_object(**name, Body=b"2", IfMatch=first)["ETag"]
    assert refused(client.put_object, **name, Body=b"3", IfMatch=first) == (412, "PreconditionFailed")
    assert refused(client.delete_object, **name, IfMatch=first) == (412, "PreconditionFailed")
    client.delete_object(**name, IfMatch=second)
    assert refused(client.put_object, **name, Body=b"3", IfMatch=second) == (404, "NoSuchKey")


# Buckets and lists


def test_buckets_have_their_properties(store):
    client = store.client()
    assert [bucket["Name"] for bucket in client.list_buckets()["Buckets"]] == ["data", "maps"]
    client.head_bucket(Bucket="data")
    assert client.get_bucket_location(Bucket="data")["LocationConstraint"] is None
    assert "Status" not in client.get_bucket_versioning(Bucket="data")
    assert client.get_bucket_acl(Bucket="data")["Grants"][0]["Permission"] == "FULL_CONTROL"
    assert client.get_bucket_cors(Bucket="data")["CORSRules"][0]["AllowedOrigins"] == [ORIGIN]
    for call, code in [
        ("get_bucket_policy", "NoSuchBucketPolicy"),
        ("get_bucket_lifecycle_configuration", "NoSuchLifecycleConfiguration"),
        ("get_bucket_tagging", "NoSuchTagSet"),
        ("get_bucket_encryption", "ServerSideEncryptionConfigurationNotFoundError"),
        ("get_bucket_website", "NoSuchWebsiteConfiguration"),
        ("get_bucket_replication", "ReplicationConfigurationNotFoundError"),
        ("get_object_lock_configuration", "ObjectLockConfigurationNotFoundError"),
        ("get_public_access_block", "NoSuchPublicAccessBlockConfiguration"),
        ("get_bucket_ownership_controls", "OwnershipControlsNotFoundError"),
    ]:
        assert refused(getattr(client, call), Bucket="data") == (404, code)
    assert refused(client.create_bucket, Bucket="data") == (409, "BucketAlreadyOwnedByYou")
    assert refused(client.create_bucket, Bucket="other") == (404, "NoSuchBucket")
    assert refused(client.delete_bucket, Bucket="data") == (403, "AccessDenied")
    assert refused(client.put_bucket_policy, Bucket="data", Policy="{}") == (501, "NotImplemented")
    bucket = store.oss()
    info = bucket.get_bucket_info()
    assert (info.name, info.storage_class, info.acl.grant) == ("data", "Standard", "private")
    assert bucket.get_bucket_acl().acl == "private"
    assert [
        found.name for found in oss2.BucketIterator(oss2.Service(bucket.auth, bucket.endpoint, region="local"))
    ] == [
        "data",
        "maps",
    ]


def test_bucket_may_be_a_prefix_of_another_bucket(store):
    for client in (store.client(), store.client(TOOLS)):
        client.put_object(Bucket="maps", Key="a/1", Body=b"map")
        assert client.get_object(Bucket="data", Key="tools/maps/a/1")["Body"].read() == b"map"
        client.put_object(Bucket="maps", Key="b", Body=b"b")
        listed = client.list_objects_v2(Bucket="maps", Delimiter="/", MaxKeys=1)
        assert [entry["Prefix"] for entry in listed["CommonPrefixes"]] == ["a/"]
        rest = client.list_objects_v2(
            Bucket="maps", Delimiter="/", ContinuationToken=listed["NextContinuationToken"], FetchOwner=True
        )
        assert [(entry["Key"], entry["Owner"]["ID"]) for entry in rest["Contents"]] == [("b", "data-gateway")]
        copied = {"Bucket": "maps", "Key": "c"}
        client.copy_object(**copied, CopySource={"Bucket": "maps", "Key": "b"})
        begun = client.create_multipart_upload(Bucket="maps", Key="begun")
        assert (begun["Bucket"], begun["Key"]) == ("maps", "begun")
        found = client.list_multipart_uploads(Bucket="maps")["Uploads"]
        assert [(entry["Key"], entry["UploadId"]) for entry in found] == [("begun", begun["UploadId"])]
        client.abort_multipart_upload(Bucket="maps", Key="begun", UploadId=begun["UploadId"])
        client.delete_objects(Bucket="maps", Delete={"Objects": [{"Key": "a/1"}, {"Key": "b"}, {"Key": "c"}]})
        assert client.list_objects_v2(Bucket="maps")["KeyCount"] == 0
    assert refused(store.client(TOOLS).get_object, Bucket="maps", Key="b") == (404, "NoSuchKey")


def test_lists_of_multipart_uploads_page(store):
    client = store.client()
    begun = sorted(
        (key, client.create_multipart_upload(Bucket="data", Key=key)["UploadId"])
        for key in ("lists/a", "lists/a", "lists/b/1", "lists/b/2", "lists/c ü")
    )
    for size in (1, 2, 1000):
        pages = client.get_paginator("list_multipart_uploads").paginate(
            Bucket="data", Prefix="lists/", PaginationConfig={"PageSize": size}
        )
        found = [(entry["Key"], entry["UploadId"]) for page in pages for entry in page.get("Uploads", [])]
        assert found == begun
    page = client.list_multipart_uploads(Bucket="data", Prefix="lists/", Delimiter="/")
    assert [entry["Prefix"] for entry in page["CommonPrefixes"]] == ["lists/b/"]
    found = oss2.MultipartUploadIterator(store.oss(), prefix="lists/", max_uploads=2)
    assert [(entry.key, entry.upload_id) for entry in found if not entry.is_prefix()] == begun
    for key, upload in begun:
        client.abort_multipart_upload(Bucket="data", Key=key, UploadId=upload)


def copy_rows(store, table: str, prefix: str, keys: list[str]) -> None:
    """Inserts a row for each key: the one below `prefix`, with names of its own."""
    with changing(store.gateway) as database:
        database.row_factory = sqlite3.Row
        (found,) = database.execute(f"SELECT * FROM {table} WHERE object_key LIKE ?", [f"{prefix}%"])
        row = dict(found)
        names = {"object_key", "upload_id", "file_id"} | ({"id"} & row.keys())
        marks = ", ".join("?" * len(row))
        for number, key in enumerate(keys):
            copied = row | {name: f"{row[name]}-{number}" for name in names} | {"object_key": key}
            database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(copied.values()))


@pytest.mark.sqlite
def test_lists_end_at_a_mebibyte(store, tmp_path):
    """The ampersands take three to five bytes each in a list, so that a page ends before it has 1,000 entries."""
    client, prefix = store.client(), "long/"
    client.put_object(Bucket="data", Key=f"{prefix}000", Body=b"x")
    client.create_multipart_upload(Bucket="data", Key=f"{prefix}000")
    longer = [f"{prefix}{number:03}{'&' * 990}" for number in range(1, 500)]
    copy_rows(store, "store_objects", prefix, longer)
    copy_rows(store, "store_multiparts", prefix, longer)
    keys = [f"{prefix}000", *longer]
    at = {"Bucket": "data", "Prefix": prefix}
    for operation, entry in (
        ("list_objects_v2", "Contents"),
        ("list_objects", "Contents"),
        ("list_multipart_uploads", "Uploads"),
    ):
        pages = list(client.get_paginator(operation).paginate(**at))
        assert len(pages) > 1 and pages[0]["IsTruncated"], operation
        assert [found["Key"] for page in pages for found in page[entry]] == keys, operation
    raw = requests.get(client.generate_presigned_url("list_objects_v2", Params=at), timeout=60)
    assert len(raw.content) < 1_100_000 and b"<IsTruncated>true</IsTruncated>" in raw.content
    oss = store.oss()
    assert [found.key for found in oss2.ObjectIterator(oss, prefix, max_keys=1000)] == keys
    assert [found.key for found in oss2.ObjectIteratorV2(oss, prefix, max_keys=1000)] == keys
    assert [found.key for found in oss2.MultipartUploadIterator(oss, prefix=prefix, max_uploads=1000)] == keys
    listed = s3.aws(
        OWNER.credentials(store.gateway, part_size=8 * MIB), tmp_path, "s3api", "list-objects-v2", "--bucket", "data",
        "--prefix", prefix, "--query", "Contents[].Key",
    )  # fmt: skip
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout) == keys
    if rclone := shutil.which("rclone"):
        remote = {
            "ENDPOINT": oss.endpoint,
            "ACCESS_KEY_ID": OWNER.id,
            "SECRET_ACCESS_KEY": OWNER.secret,
            "PROVIDER": "Other",
        }
        listed = process.run(
            rclone,
            "lsf",
            "--config",
            tmp_path / "rclone.conf",
            f":s3:data/{prefix}",
            env={"PATH": os.environ["PATH"]} | {f"RCLONE_S3_{name}": value for name, value in remote.items()},
        )
        assert listed.stdout.splitlines() == [key.removeprefix(prefix) for key in keys]
    with changing(store.gateway) as database:
        for table in "store_objects", "store_multiparts":
            database.execute(f"DELETE FROM {table} WHERE object_key LIKE ?", [f"{prefix}%"])


def test_a_thousand_keys_are_deleted_at_once(store):
    client = store.client()
    keys = [f"bulk/{number:04}" for number in range(300)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: client.put_object(Bucket="data", Key=key, Body=b"x"), keys))
    absent = [f"bulk/absent/{number}" for number in range(700)]
    response = client.delete_objects(Bucket="data", Delete={"Objects": [{"Key": key} for key in keys + absent]})
    assert len(response["Deleted"]) == 1000 and "Errors" not in response
    assert client.list_objects_v2(Bucket="data", Prefix="bulk/")["KeyCount"] == 0
    many = {"Objects": [{"Key": f"{number}"} for number in range(1001)]}
    assert refused(client.delete_objects, Bucket="data", Delete=many) == (400, "MalformedXML")
    assert refused(store.client(READER).delete_objects, Bucket="data", Delete={"Objects": [{"Key": "x"}]})[0] == 403


#: A key that is too long.
LONG = "tools/" + "k" * 1024


def test_each_key_of_a_deletion_has_its_answer(store):
    upload = completed(Fleet.create(store.admin).uploader(), content(10))
    client = store.client(TOOLS)
    client.put_object(Bucket="data", Key="tools/ü &<1", Body=b"x")
    objects = [{"Key": key} for key in ("tools/ü &<1", "other/x", LONG)]
    objects.append({"Key": "tools/x", "VersionId": "1"})
    response = client.delete_objects(Bucket="data", Delete={"Objects": objects, "Quiet": True})
    codes = [(entry["Key"], entry["Code"]) for entry in response["Errors"]]
    assert codes == [("other/x", "AccessDenied"), (LONG, "KeyTooLongError"), ("tools/x", "NoSuchVersion")]
    assert "Deleted" not in response and refused(client.head_object, Bucket="data", Key="tools/ü &<1")[0] == 404
    response = store.client().delete_objects(Bucket="data", Delete={"Objects": [{"Key": upload.credentials.key}]})
    assert [entry["Code"] for entry in response["Errors"]] == ["AccessDenied"]
    pending = Upload.create(Fleet.create(store.admin).uploader()).put(content(10))
    client.put_object(Bucket="data", Key="tools/sized", Body=b"x")
    objects = [{"Key": pending.credentials.key}, {"Key": "tools/sized", "Size": 2}]
    response = store.client().delete_objects(Bucket="data", Delete={"Objects": objects})
    assert [entry["Code"] for entry in response["Errors"]] == ["AccessDenied", "NotImplemented"]
    client.head_object(Bucket="data", Key="tools/sized")
    store.oss().put_object("tools/oss ü", b"x")
    assert store.oss().batch_delete_objects(["tools/oss ü", "tools/none"]).deleted_keys == ["tools/oss ü", "tools/none"]


# Copies and appends


def test_copies_share_bytes_and_are_deleted_separately(store):
    client = store.client()
    data = content(6 * MIB)
    client.put_object(Bucket="data", Key="copy/1", Body=data, Metadata={"a": "1"}, ContentType="text/plain")
    for number in (1, 2, 3):
        source = {"Bucket": "data", "Key": f"copy/{number}"}
        response = client.copy_object(Bucket="data", Key=f"copy/{number + 1}", CopySource=source)
        assert response["CopyObjectResult"]["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
    for number in (2, 1, 4):
        client.delete_object(Bucket="data", Key=f"copy/{number}")
    found = client.get_object(Bucket="data", Key="copy/3")
    assert found["Body"].read() == data
    assert (found["Metadata"], found["ContentType"]) == ({"a": "1"}, "text/plain")
    name = {"Bucket": "data", "Key": "copy/3"}
    assert refused(client.copy_object, **name, CopySource=name) == (400, "InvalidRequest")
    client.copy_object(**name, CopySource=name, MetadataDirective="REPLACE", Metadata={"b": "2"})
    assert client.head_object(**name)["Metadata"] == {"b": "2"}
    assert refused(client.copy_object, **name, CopySource="data/none") == (404, "NoSuchKey")
    wrong = {"Bucket": "data", "Key": "copy/5", "CopySource": name}
    assert refused(client.copy_object, **wrong, CopySourceIfMatch='"0"') == (412, "PreconditionFailed")
    assert refused(client.copy_object, **name, CopySource="data/copy/3", IfNoneMatch="*")[0] in (400, 412)
    bucket = store.oss()
    bucket.copy_object("data", "copy/3", "copy/oss ü")
    assert bucket.get_object("copy/oss ü").read() == data
    store.gateway.kill()
    store.gateway.start()
    client = store.client()
    assert client.get_object(Bucket="data", Key="copy/3")["Body"].read() == data
    client.delete_object(Bucket="data", Key="copy/3")
    assert client.get_object(Bucket="data", Key="copy/oss ü")["Body"].read() == data


def test_an_upload_is_copied_and_its_key_stays_its_own(store):
    upload = completed(Fleet.create(store.admin).uploader(), content(1000))
    client, source = store.client(), {"Bucket": "data", "Key": upload.credentials.key}
    client.copy_object(Bucket="data", Key="copy/upload", CopySource=source)
    assert refused(client.copy_object, **source, CopySource="data/copy/upload") == (403, "AccessDenied")
    store.admin.object_management("DeleteObject", file_id=upload.id)
    assert client.get_object(Bucket="data", Key="copy/upload")["Body"].read() == content(1000)
    pending = Upload.create(Fleet.create(store.admin).uploader()).put(content(10))
    waiting = {"Bucket": "data", "Key": pending.credentials.key}
    assert refused(client.copy_object, Bucket="data", Key="copy/pending", CopySource=waiting)[0] == 404
    tools = store.client(TOOLS)
    assert refused(tools.copy_object, Bucket="data", Key="tools/x", CopySource="data/copy/upload")[0] == 403
    assert refused(store.client(READER).copy_object, Bucket="data", Key="x", CopySource="data/copy/upload")[0] == 403


def test_parts_are_copied(store):
    client, name = store.client(), {"Bucket": "data", "Key": "copy/parts"}
    data = content(6 * MIB)
    client.put_object(Bucket="data", Key="copy/source", Body=data)
    upload = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"]}
    parts = []
    for number, limits in enumerate([None, f"bytes={MIB}-{2 * MIB - 1}"], start=1):
        options = {"CopySourceRange": limits} if limits else {}
        response = client.upload_part_copy(**upload, PartNumber=number, CopySource="data/copy/source", **options)
        parts.append({"PartNumber": number, "ETag": response["CopyPartResult"]["ETag"]})
    beyond = {"CopySource": "data/copy/source", "CopySourceRange": f"bytes=0-{6 * MIB}"}
    assert refused(client.upload_part_copy, **upload, PartNumber=3, **beyond) == (400, "InvalidArgument")
    client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    assert client.get_object(**name)["Body"].read() == data + data[MIB : 2 * MIB]


def test_append_adds_to_the_end_of_an_object(store):
    bucket = store.oss()
    position = 0
    for piece in (b"first ", content(2 * MIB), b" last"):
        position = bucket.append_object("append", position, piece).next_position
    whole = b"first " + content(2 * MIB) + b" last"
    assert bucket.get_object("append").read() == whole
    assert oss_refused(bucket.append_object, "append", 3, b"x") == (409, "PositionNotEqualToLength")
    head = bucket.head_object("append")
    assert (head.object_type, int(head.headers["x-oss-next-append-position"])) == ("Appendable", len(whole))
    bucket.put_object("append/normal", b"x")
    assert oss_refused(bucket.append_object, "append/normal", 1, b"x") == (409, "ObjectNotAppendable")
    wrong = {"Content-MD5": base64.b64encode(hashlib.md5(b"y").digest()).decode()}
    assert oss_refused(bucket.append_object, "append", len(whole), b"x", headers=wrong)[0] == 400
    assert bucket.get_object("append").read() == whole


def file_of(store, key) -> Path:
    """Returns the data file of the object."""
    ((name,),) = rows(store.gateway, "SELECT file_id FROM store_objects WHERE object_key = ?", key)
    return store.gateway.data / "store/data" / name[:2] / name


@pytest.mark.directory
def test_damaged_bytes_get_no_new_checksum(store):
    bucket, client = store.oss(), store.client(retries={"max_attempts": 1})
    bucket.append_object("damaged/1", 0, b"good bytes")
    path = file_of(store, "damaged/1")
    path.chmod(0o600)
    path.write_bytes(b"bad bytes!")
    with pytest.raises(oss2.exceptions.OssError) as refusal:
        bucket.append_object("damaged/1", 10, b" and more")
    assert (refusal.value.status, refusal.value.code) == (500, "InternalError")
    assert path.exists() and bucket.head_object("damaged/1").content_length == 10
    name = {"Bucket": "data", "Key": "damaged/2"}
    upload = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"], "PartNumber": 1}
    source = {"CopySource": "data/damaged/1"}
    assert refused(client.upload_part_copy, **upload, **source) == (500, "InternalError")
    # A range has no checksum of its own.
    client.upload_part_copy(**upload, **source, CopySourceRange="bytes=0-4")
    eventually(lambda: "is corrupted: its bytes no longer match its checksum" in store.gateway.stderr)


def test_a_part_is_not_copied_of_more_than_5_gib(store):
    client, name = store.client(), {"Bucket": "data", "Key": "copy/huge"}
    client.put_object(**name, Body=b"x")
    store.gateway.kill()
    # The file has one byte: whoever reads it fails in another way.
    change(store.gateway, "UPDATE store_objects SET size = ? WHERE object_key = 'copy/huge'", 1 << 40)
    store.gateway.start()
    client, target = store.client(), {"Bucket": "data", "Key": "copy/target"}
    upload = target | {"UploadId": client.create_multipart_upload(**target)["UploadId"], "PartNumber": 1}
    assert refused(client.upload_part_copy, **upload, CopySource="data/copy/huge") == (400, "EntityTooLarge")
    client.delete_object(**name)
