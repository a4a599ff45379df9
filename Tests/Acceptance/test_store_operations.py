"""Tests of the store's operations for operators' tools, with boto3 and oss2: conditions, metadata, buckets, copies."""

import base64
import concurrent.futures
import contextlib
import datetime
import hashlib
import hmac
import json
import socket
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import oss2
import pytest
import requests
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from support import s3
from support.gateway import Gateway
from support.parties import Fleet, User
from support.raw import RawStore
from support.static_keys import StaticKey
from support.uploads import Upload, completed, content

MIB = 1024 * 1024
OWNER = StaticKey("OWNER", "a secret of the owner", "write")
TOOLS = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")
READER = StaticKey("AUDITOR", "a secret of the auditor", "read")
ORIGIN = "https://viewer.example.com"


@dataclass
class Store:
    gateway: Gateway
    admin: User

    def client(self, key=OWNER, **config):
        return s3.client(key.credentials(self.gateway, part_size=8 * MIB), **config)

    def oss(self, key=OWNER, auth=oss2.AuthV4, bucket="data") -> oss2.Bucket:
        endpoint = f"http://{self.gateway.object_store}"
        return oss2.Bucket(auth(key.id, key.secret), endpoint, bucket, region="local")


@pytest.fixture(scope="module")
def store(gateway_with, login, tmp_path_factory) -> Store:
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in (OWNER, TOOLS, READER)]
    settings = {"static_keys": keys, "buckets": {"maps": {"prefix": "tools/maps/"}}, "cors_origins": [ORIGIN]}
    gateway = gateway_with({"object_store": settings})
    return Store(gateway, login(gateway))


def refused(step, *arguments, **named) -> tuple[int, str]:
    with pytest.raises(ClientError) as refusal:
        step(*arguments, **named)
    answer = refusal.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


def oss_refused(step, *arguments, **named) -> tuple[int, str]:
    with pytest.raises(oss2.exceptions.OssError) as refusal:
        step(*arguments, **named)
    return refusal.value.status, refusal.value.code


# What is stored with an object


def test_fields_and_metadata_come_back_in_both_protocols(store):
    client, name = store.client(), {"Bucket": "data", "Key": "kept/s3"}
    fields = {
        "CacheControl": "max-age=60",
        "ContentDisposition": 'inline; filename="a.txt"',
        "ContentEncoding": "gzip",
        "ContentLanguage": "de",
        "ContentType": "text/plain",
    }
    client.put_object(**name, Body=b"x", Metadata={"mtime": "1700000000.5", "color": "red"}, **fields)
    for answer in (client.head_object(**name), client.get_object(**name)):
        assert {key: answer[key] for key in fields} == fields
        assert answer["Metadata"] == {"mtime": "1700000000.5", "color": "red"}
        assert answer["ResponseMetadata"]["HTTPHeaders"]["content-security-policy"] == "sandbox"
    assert store.oss().head_object("kept/s3").headers["x-oss-meta-color"] == "red"
    chosen = client.get_object(**name, ResponseCacheControl="no-store", ResponseContentType="text/html")
    assert (chosen["CacheControl"], chosen["ContentType"]) == ("no-store", "text/html")

    upload = client.create_multipart_upload(Bucket="data", Key="kept/parts", Metadata={"a": "b"}, ContentEncoding="br")
    part = {"Bucket": "data", "Key": "kept/parts", "UploadId": upload["UploadId"]}
    etag = client.upload_part(**part, PartNumber=1, Body=b"1")["ETag"]
    client.complete_multipart_upload(**part, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
    found = client.head_object(Bucket="data", Key="kept/parts")
    assert (found["Metadata"], found["ContentEncoding"]) == ({"a": "b"}, "br")

    client.put_object(**name, Body=b"x", Metadata={"a": "x" * 2047})
    assert refused(client.put_object, **name, Body=b"x", Metadata={"a": "x" * 2048}) == (400, "MetadataTooLarge")


def in_query(store: Store, method: str, name: dict[str, str], options: dict[str, str]) -> str:
    """Returns a presigned URL with further parameters, all of which are signed."""
    url = f"http://{store.gateway.object_store}/{name['Bucket']}/{name['Key']}"
    request = AWSRequest(method, url, params=options)
    S3SigV4QueryAuth(Credentials(OWNER.id, OWNER.secret), "s3", s3.REGION, expires=60).add_auth(request)
    return request.url


def test_presigned_urls_carry_metadata_and_overrides(store):
    client, name = store.client(), {"Bucket": "data", "Key": "kept/presigned"}
    url = client.generate_presigned_url("put_object", Params=name | {"Metadata": {"a": "b"}}, ExpiresIn=60)
    assert requests.put(url, b"x", headers={"x-amz-meta-a": "b"}, timeout=10).status_code == 200
    assert client.head_object(**name)["Metadata"] == {"a": "b"}
    # The SDK of JavaScript writes the names in lower case.
    url = in_query(store, "PUT", name, {"x-amz-meta-c": "d"})
    assert requests.put(url, b"x", timeout=10).status_code == 200
    assert client.head_object(**name)["Metadata"] == {"c": "d"}
    url = in_query(store, "PUT", name, {"x-amz-acl": "public-read"})
    assert requests.put(url, b"y", timeout=10).status_code == 400
    assert client.get_object(**name)["Body"].read() == b"x"
    url = store.oss().sign_url("GET", "kept/presigned", 60, params={"response-content-type": "a/b"}, slash_safe=True)
    assert requests.get(url, timeout=10).headers["content-type"] == "a/b"
    client = store.client(signature_version="s3")
    url = client.generate_presigned_url("get_object", Params=name, ExpiresIn=60)
    answer = requests.get(url, timeout=10)
    assert answer.status_code == 400 and "s3v4" in answer.text


@pytest.mark.parametrize(
    "options, code",
    [
        ({"ACL": "public-read"}, (400, "AccessControlListNotSupported")),
        ({"GrantRead": "id=x"}, (400, "AccessControlListNotSupported")),
        ({"StorageClass": "GLACIER"}, (400, "InvalidStorageClass")),
        ({"ServerSideEncryption": "AES256"}, (501, "NotImplemented")),
        ({"ObjectLockMode": "GOVERNANCE", "ObjectLockRetainUntilDate": "2030-01-01"}, (501, "NotImplemented")),
        ({"WebsiteRedirectLocation": "/x"}, (501, "NotImplemented")),
        ({"ExpectedBucketOwner": "111122223333"}, (403, "AccessDenied")),
        ({"IfNoneMatch": '"0"'}, (501, "NotImplemented")),
        ({"Tagging": "&".join(f"{number}=x" for number in range(11))}, (400, "BadRequest")),
    ],
)
def test_refused_s3_requests_store_nothing(store, options, code):
    client, name = store.client(), {"Bucket": "data", "Key": "vain/s3"}
    assert refused(client.put_object, **name, Body=b"x", **options) == code
    assert refused(client.head_object, **name)[0] == 404


@pytest.mark.parametrize(
    "fields, code",
    [
        ({"x-oss-object-acl": "public-read"}, (400, "AccessControlListNotSupported")),
        ({"x-oss-storage-class": "IA"}, (400, "InvalidStorageClass")),
        ({"x-oss-server-side-encryption": "AES256"}, (501, "NotImplemented")),
        ({"x-oss-callback": "e30="}, (501, "NotImplemented")),
        ({"x-oss-forbid-overwrite": "perhaps"}, (400, "InvalidArgument")),
        ({"If-Match": '"nope"'}, (404, "NoSuchKey")),
    ],
)
def test_refused_oss_requests_store_nothing(store, fields, code):
    bucket = store.oss()
    assert oss_refused(bucket.put_object, "vain/oss", b"x", headers=fields) == code
    assert not bucket.object_exists("vain/oss")


@pytest.mark.parametrize("name", ["x-amz-novelty", "x-amz-checksum-sha512", "x-oss-novelty"])
def test_unknown_fields_of_the_protocols_are_refused(store, name):
    """A static key's write with a name that no rule has would be stored without what the name stands for."""
    client, key = store.client(), {"Bucket": "data", "Key": "vain/unknown"}
    client.meta.events.register("before-sign.s3", lambda request, **_: request.headers.add_header(name, "1"))
    with pytest.raises(ClientError, match=name) as refusal:
        client.put_object(**key, Body=b"x")
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert refused(client.delete_objects, Bucket="data", Delete={"Objects": [{"Key": "vain/unknown"}]})[1:] == (
        "NotImplemented",
    )
    assert oss_refused(store.oss().put_object, "vain/unknown", b"x", headers={name: "1"})[0] in (400, 501)
    with contextlib.suppress(ClientError):
        # Reads change nothing.
        client.get_object(**key)
    assert refused(store.client().head_object, **key)[0] == 404


def test_devices_may_send_fields_that_no_rule_has(store):
    """Clients in the field keep working, whatever their proxies and later versions add."""
    upload = Upload.create(Fleet.create(store.admin).uploader())
    store_of_device = RawStore(upload.credentials)
    assert store_of_device.request("PUT", (), b"x", {"x-oss-novelty": "1"}).status == 200
    assert store_of_device.request("PUT", (), b"y", {"x-oss-object-acl": "public-read"}).status == 400
    assert store_of_device.request("GET").body == b"x"


def test_possible_values_of_options_are_taken(store):
    client = store.client()
    client.put_object(Bucket="data", Key="possible", Body=b"x", ACL="private", StorageClass="STANDARD")
    store.oss().put_object("possible", b"x", headers={"x-oss-object-acl": "private", "x-oss-storage-class": "Standard"})


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


def test_of_64_conditional_puts_one_wins(store):
    clients = [store.client() for _ in range(8)]
    bodies = [str(number).encode() for number in range(64)]

    def put(number):
        return lambda: clients[number % 8].put_object(
            Bucket="data", Key="race/put", Body=bodies[number], IfNoneMatch="*"
        )

    outcomes = race([put(number) for number in range(64)])
    assert sorted(outcomes) == ["PreconditionFailed"] * 63 + ["ok"]
    assert clients[0].get_object(Bucket="data", Key="race/put")["Body"].read() == bodies[outcomes.index("ok")]


def test_of_64_conditional_completes_one_wins(store):
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


def test_forbid_overwrite_of_oss(store):
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


def test_buckets_and_their_properties(store):
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


def test_a_bucket_that_is_a_prefix(store):
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


def test_a_thousand_keys_are_deleted_at_once(store):
    client = store.client()
    keys = [f"bulk/{number:04}" for number in range(300)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: client.put_object(Bucket="data", Key=key, Body=b"x"), keys))
    absent = [f"bulk/absent/{number}" for number in range(700)]
    answer = client.delete_objects(Bucket="data", Delete={"Objects": [{"Key": key} for key in keys + absent]})
    assert len(answer["Deleted"]) == 1000 and "Errors" not in answer
    assert client.list_objects_v2(Bucket="data", Prefix="bulk/")["KeyCount"] == 0
    many = {"Objects": [{"Key": f"{number}"} for number in range(1001)]}
    assert refused(client.delete_objects, Bucket="data", Delete=many) == (400, "MalformedXML")
    assert refused(store.client(READER).delete_objects, Bucket="data", Delete={"Objects": [{"Key": "x"}]})[0] == 403


def test_each_key_of_a_deletion_has_its_answer(store):
    upload = completed(Fleet.create(store.admin).uploader(), content(10))
    client = store.client(TOOLS)
    client.put_object(Bucket="data", Key="tools/ü &<1", Body=b"x")
    objects = [{"Key": key} for key in ("tools/ü &<1", "other/x", "tools/a\\b")]
    objects.append({"Key": "tools/x", "VersionId": "1"})
    answer = client.delete_objects(Bucket="data", Delete={"Objects": objects, "Quiet": True})
    codes = [(entry["Key"], entry["Code"]) for entry in answer["Errors"]]
    assert codes == [("other/x", "AccessDenied"), ("tools/a\\b", "InvalidURI"), ("tools/x", "NoSuchVersion")]
    assert "Deleted" not in answer and refused(client.head_object, Bucket="data", Key="tools/ü &<1")[0] == 404
    answer = store.client().delete_objects(Bucket="data", Delete={"Objects": [{"Key": upload.credentials.key}]})
    assert [entry["Code"] for entry in answer["Errors"]] == ["AccessDenied"]
    pending = Upload.create(Fleet.create(store.admin).uploader()).put(content(10))
    client.put_object(Bucket="data", Key="tools/sized", Body=b"x")
    objects = [{"Key": pending.credentials.key}, {"Key": "tools/sized", "Size": 2}]
    answer = store.client().delete_objects(Bucket="data", Delete={"Objects": objects})
    assert [entry["Code"] for entry in answer["Errors"]] == ["AccessDenied", "NotImplemented"]
    client.head_object(Bucket="data", Key="tools/sized")
    store.oss().put_object("tools/oss ü", b"x")
    assert store.oss().batch_delete_objects(["tools/oss ü", "tools/none"]).deleted_keys == ["tools/oss ü", "tools/none"]


# Objects


def test_attributes_parts_and_metadata_of_objects(store):
    client, name = store.client(), {"Bucket": "data", "Key": "attributes"}
    upload = name | {"UploadId": client.create_multipart_upload(**name)["UploadId"]}
    pieces = [content(5 * MIB, 1), content(77, 2)]
    etags = [client.upload_part(**upload, PartNumber=n, Body=piece)["ETag"] for n, piece in enumerate(pieces, 1)]
    parts = [{"PartNumber": n, "ETag": etag} for n, etag in enumerate(etags, 1)]
    client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    found = client.get_object_attributes(**name, ObjectAttributes=["ETag", "ObjectParts", "ObjectSize", "StorageClass"])
    assert (found["ObjectSize"], found["StorageClass"]) == (5 * MIB + 77, "STANDARD")
    assert [part["Size"] for part in found["ObjectParts"]["Parts"]] == [5 * MIB, 77]
    second = client.get_object(**name, PartNumber=2)
    assert (second["Body"].read(), second["PartsCount"]) == (pieces[1], 2)
    assert client.head_object(**name, PartNumber=1)["ContentLength"] == 5 * MIB
    assert refused(client.get_object, **name, PartNumber=3) == (416, "InvalidPartNumber")
    assert client.get_object_acl(**name)["Grants"][0]["Permission"] == "FULL_CONTROL"
    bucket = store.oss()
    assert bucket.get_object_meta("attributes").content_length == 5 * MIB + 77
    assert bucket.object_exists("attributes") and not bucket.object_exists("none")
    assert bucket.get_object_acl("attributes").acl == "private"


def test_tags_of_an_object_are_set_and_deleted(store):
    client, name = store.client(), {"Bucket": "data", "Key": "tagged"}
    client.put_object(**name, Body=b"x", Tagging="site=North%20plant&kind=map")
    tags = {"site": "North plant", "kind": "map"}

    def read(**which):
        return {tag["Key"]: tag["Value"] for tag in client.get_object_tagging(**which)["TagSet"]}

    assert read(**name) == tags
    client.copy_object(Bucket="data", Key="tagged/copy", CopySource=name)
    assert read(Bucket="data", Key="tagged/copy") == tags
    client.put_object_tagging(**name, Tagging={"TagSet": [{"Key": "a", "Value": "ü"}]})
    assert read(**name) == {"a": "ü"}
    assert client.get_object(**name)["TagCount"] == 1
    client.delete_object_tagging(**name)
    assert read(**name) == {} and client.get_object(**name)["Body"].read() == b"x"
    twice = {"TagSet": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}
    assert refused(client.put_object_tagging, **name, Tagging=twice) == (400, "InvalidTag")
    upload = completed(Fleet.create(store.admin).uploader(), content(10), tags={"drive": "7"})
    uploaded = {"Bucket": "data", "Key": upload.credentials.key}
    assert read(**uploaded) == {"drive": "7"}
    assert refused(client.delete_object_tagging, **uploaded) == (403, "AccessDenied")


def test_copies_share_bytes_and_go_by_themselves(store):
    client = store.client()
    data = content(6 * MIB)
    client.put_object(Bucket="data", Key="copy/1", Body=data, Metadata={"a": "1"}, ContentType="text/plain")
    for number in (1, 2, 3):
        source = {"Bucket": "data", "Key": f"copy/{number}"}
        answer = client.copy_object(Bucket="data", Key=f"copy/{number + 1}", CopySource=source)
        assert answer["CopyObjectResult"]["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
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
        answer = client.upload_part_copy(**upload, PartNumber=number, CopySource="data/copy/source", **options)
        parts.append({"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]})
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
    with contextlib.closing(sqlite3.connect(f"file:{store.gateway.data / 'gateway.db'}?mode=ro", uri=True)) as database:
        ((name,),) = database.execute("SELECT file_id FROM store_objects WHERE object_key = ?", [key])
    return store.gateway.data / "store/data" / name[:2] / name


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
    assert "is corrupted: its bytes no longer match its checksum" in store.gateway.stderr


def test_a_part_is_not_copied_of_more_than_5_gib(store):
    client, name = store.client(), {"Bucket": "data", "Key": "copy/huge"}
    client.put_object(**name, Body=b"x")
    store.gateway.kill()
    with contextlib.closing(sqlite3.connect(store.gateway.data / "gateway.db")) as database, database:
        # The file has one byte: whoever reads it fails in another way.
        database.execute("UPDATE store_objects SET size = ? WHERE object_key = 'copy/huge'", [1 << 40])
    store.gateway.start()
    client, target = store.client(), {"Bucket": "data", "Key": "copy/target"}
    upload = target | {"UploadId": client.create_multipart_upload(**target)["UploadId"], "PartNumber": 1}
    assert refused(client.upload_part_copy, **upload, CopySource="data/copy/huge") == (400, "EntityTooLarge")
    client.delete_object(**name)


# Browsers


def test_scripts_of_configured_origins_read(store):
    client = store.client()
    client.put_object(Bucket="data", Key="viewer", Body=content(1000))
    url = client.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "viewer"}, ExpiresIn=60)
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"}
    preflight = requests.options(url, headers=asks, timeout=10)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert preflight.headers["access-control-allow-headers"] == "range"
    answer = requests.get(url, headers={"Origin": ORIGIN, "Range": "bytes=1-2"}, timeout=10)
    assert (answer.status_code, answer.content) == (206, content(1000)[1:3])
    assert "Content-Range" in answer.headers["access-control-expose-headers"]
    other = requests.options(url, headers=asks | {"Origin": "https://other.example.com"}, timeout=10)
    assert other.status_code == 403 and "object_store.cors_origins" in other.text
    assert "access-control-allow-origin" not in requests.get(url, headers={"Origin": "null"}, timeout=10).headers


def form(store: Store, key: str, data: bytes, conditions=(), fields=None, **post):
    """A form's answer, signed by boto3."""
    signed = store.client().generate_presigned_post("data", key, Fields=fields, Conditions=list(conditions), **post)
    return requests.post(signed["url"], data=signed["fields"], files={"file": ("name.txt", data)}, timeout=10)


def test_browsers_upload_by_forms(store):
    client = store.client()
    data = content(3 * MIB)
    assert form(store, "forms/${filename}", data).status_code == 204
    assert client.get_object(Bucket="data", Key="forms/name.txt")["Body"].read() == data
    kept = {"x-amz-meta-color": "red", "success_action_status": "201"}
    answer = form(store, "forms/kept", b"x", [{name: value} for name, value in kept.items()], kept)
    assert answer.status_code == 201 and "<Key>forms/kept</Key>" in answer.text
    assert client.head_object(Bucket="data", Key="forms/kept")["Metadata"] == {"color": "red"}
    assert form(store, "forms/long", data, [["content-length-range", 0, 1000]]).status_code == 400
    assert form(store, "forms/late", b"x", ExpiresIn=-10).status_code == 403
    assert form(store, "forms/acl", b"x", [{"acl": "public-read"}], {"acl": "public-read"}).status_code == 501
    unsigned = requests.post(f"http://{store.gateway.object_store}/data", files={"file": b"x"}, timeout=10)
    assert unsigned.status_code == 403 and "PostObject" in unsigned.text
    version_2 = {"key": "forms/a", "policy": "e30=", "AWSAccessKeyId": "TOOLS", "signature": "c2lnbmF0dXJl"}
    older = requests.post(unsigned.url, data=version_2, files={"file": b"x"}, timeout=10)
    assert older.status_code == 400 and "signature_version" in older.text
    signed = store.client().generate_presigned_post("data", "forms/a")
    tampered = signed["fields"] | {"key": "forms/b"}
    assert requests.post(signed["url"], data=tampered, files={"file": b"x"}, timeout=10).status_code == 403
    assert [entry["Key"] for entry in client.list_objects_v2(Bucket="data", Prefix="forms/")["Contents"]] == [
        "forms/kept",
        "forms/name.txt",
    ]
    conditional = requests.post(
        signed["url"], data=signed["fields"], files={"file": b"x"}, headers={"If-None-Match": "*"}, timeout=10
    )
    assert conditional.status_code == 501 and "if-none-match" in conditional.text
    # OSS, version 1.
    policy = base64.b64encode(
        b'{"expiration": "2099-01-01T00:00:00.000Z", "conditions": [["starts-with", "$key", "forms/"]]}'
    ).decode()
    signature = base64.b64encode(hmac.digest(OWNER.secret.encode(), policy.encode(), "sha1")).decode()
    fields = {"key": "forms/oss", "OSSAccessKeyId": OWNER.id, "policy": policy, "Signature": signature}
    url = f"http://{store.gateway.object_store}/data"
    assert requests.post(url, data=fields, files={"file": b"oss"}, timeout=10).status_code == 204
    assert store.oss().get_object("forms/oss").read() == b"oss"


def oss_form(store: Store, conditions: list, fields: dict[str, str], data: bytes = b"oss"):
    """A form's answer, signed with OSS's version 4 as its documentation shows."""
    now = datetime.datetime.now(datetime.UTC)
    scope = (now.strftime("%Y%m%d"), "local", "oss", "aliyun_v4_request")
    signing = {
        "x-oss-signature-version": "OSS4-HMAC-SHA256",
        "x-oss-credential": f"{OWNER.id}/{'/'.join(scope)}",
        "x-oss-date": now.strftime("%Y%m%dT%H%M%SZ"),
    }
    expiration = (now + datetime.timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    conditions = conditions + [{name: value} for name, value in signing.items()]
    document = json.dumps({"expiration": expiration, "conditions": conditions})
    policy = base64.b64encode(document.encode()).decode()
    key = f"aliyun_v4{OWNER.secret}".encode()
    for step in scope:
        key = hmac.digest(key, step.encode(), "sha256")
    signing["x-oss-signature"] = hmac.digest(key, policy.encode(), "sha256").hex()
    url = f"http://{store.gateway.object_store}/data"
    return requests.post(url, data=fields | signing | {"policy": policy}, files={"file": ("a.txt", data)}, timeout=10)


def test_forms_of_oss_version_4(store):
    """As in OSS, only the fields that the policy names have to fulfill it."""
    bucket = store.oss()
    limits = ["content-length-range", 1, 10]
    fields = {
        "key": "forms4/${filename}",
        "success_action_status": "200",
        "x-oss-meta-color": "red",
        "x-oss-content-type": "text/csv",
    }
    answer = oss_form(store, [{"bucket": "data"}, limits], fields)
    assert answer.status_code == 200, answer.text
    found = bucket.head_object("forms4/a.txt")
    assert (found.content_type, found.headers["x-oss-meta-color"]) == ("text/csv", "red")
    named = ["in", "$key", ["forms4/b", "forms4/c"]]
    assert oss_form(store, [named], {"key": "forms4/b"}).status_code == 204
    for conditions, refusal, status in [
        ([named], {"key": "forms4/d"}, 403),
        ([["not-in", "$key", ["forms4/d"]]], {"key": "forms4/d"}, 403),
        ([["starts-with", "$key", "forms4/é"]], {"key": "forms4/e\u0301"}, 403),
        ([{"bucket": "other"}], {"key": "forms4/d"}, 403),
        ([limits], {"key": "forms4/d", "x-oss-novelty": "1"}, 501),
        ([limits], {"key": "forms4/d", "x-oss-object-acl": "public-read"}, 400),
        ([limits], {"key": "forms4/b", "x-oss-forbid-overwrite": "true"}, 409),
        ([limits], {"key": "forms4/../d"}, 400),
        ([["content-length-range", 4, 10]], {"key": "forms4/d"}, 400),
        ([["content-length-range", -1, 10]], {"key": "forms4/d"}, 400),
        ([["content-length-range", 0, 10**30]], {"key": "forms4/d"}, 400),
    ]:
        answer = oss_form(store, conditions, refusal)
        assert answer.status_code == status, (conditions, refusal, answer.status_code, answer.text)
    assert [entry.key for entry in oss2.ObjectIterator(bucket, prefix="forms4/")] == ["forms4/a.txt", "forms4/b"]


def test_forms_have_nothing_without_effect(store):
    """What a form or its header cannot have is refused, not passed over; nothing is stored."""
    client = store.client()
    for fields, header in [
        ({}, {"x-oss-forbid-overwrite": "true"}),
        ({}, {"x-amz-meta-color": "red"}),
        ({}, {"Content-MD5": "CY9rzUYh03PK3k6DJie09g=="}),
        ({"x-amz-checksum-sha256": "AAAA"}, {}),
        ({"Content-MD5": "AAAA"}, {}),
    ]:
        signed = client.generate_presigned_post(
            "data", "nothing", fields, [{name: value} for name, value in fields.items()]
        )
        answer = requests.post(signed["url"], data=signed["fields"], files={"file": b"x"}, headers=header, timeout=10)
        assert answer.status_code == 501, (fields, header, answer.status_code, answer.text)
        assert next(iter(fields | header)).lower() in answer.text
    assert (
        form(store, "nothing", b"x" * 5, [["content-length-range", 5, 9], ["content-length-range", 1, 4]]).status_code
        == 400
    )
    assert refused(client.head_object, Bucket="data", Key="nothing")[0] == 404


def test_name_of_the_file_in_a_form(store):
    """The variable stands for the whole name, in any field of S3's form, and the policy decides about the result."""
    client = store.client()
    named = {"x-amz-meta-name": "${filename}"}
    signed = client.generate_presigned_post(
        "data", "named/${filename}", named, [["starts-with", "$x-amz-meta-name", ""]]
    )
    answer = requests.post(signed["url"], data=signed["fields"], files={"file": ("a;b=c.txt", b"x")}, timeout=10)
    assert answer.status_code == 204, answer.text
    assert client.head_object(Bucket="data", Key="named/a;b=c.txt")["Metadata"] == {"name": "a;b=c.txt"}
    forbidden = ["not-in", "$key", ["named/a.txt"]]
    assert oss_form(store, [forbidden], {"key": "named/${filename}"}).status_code == 403
    permitted = ["eq", "$key", "named/a.txt"]
    assert oss_form(store, [permitted], {"key": "named/${filename}"}).status_code == 204


def test_virtual_host_style_of_static_keys(gateway_with, tmp_path, monkeypatch):
    """The bucket in the host's name, with both protocols; also a bucket that is a prefix."""
    object_store = {
        "public_endpoint": "http://oss-lab.store.test",
        "static_keys": [OWNER.setting(tmp_path)],
        "buckets": {"maps": {"prefix": "tools/maps/"}},
    }
    gateway = gateway_with({"object_store": object_store})
    host, port = gateway.object_store.rsplit(":", 1)
    resolve = socket.getaddrinfo

    def here(name, *rest, **options):
        return resolve(host if str(name).endswith(".store.test") else name, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    endpoint = f"http://oss-lab.store.test:{port}"
    credentials = OWNER.credentials(gateway)
    credentials.endpoint = endpoint
    client = s3.client(credentials, s3={"addressing_style": "virtual"})
    for auth in (oss2.Auth, oss2.AuthV4):
        bucket = oss2.Bucket(auth(OWNER.id, OWNER.secret), endpoint, "maps", region="lab")
        bucket.put_object("a ü", b"map")
        assert client.get_object(Bucket="data", Key="tools/maps/a ü")["Body"].read() == b"map"
        client.copy_object(Bucket="maps", Key="b", CopySource={"Bucket": "maps", "Key": "a ü"})
        assert [entry.key for entry in oss2.ObjectIterator(bucket)] == ["a ü", "b"]
        assert bucket.batch_delete_objects(["a ü", "b"]).deleted_keys == ["a ü", "b"]
    assert client.list_objects_v2(Bucket="maps")["KeyCount"] == 0
    assert [entry["Name"] for entry in client.list_buckets()["Buckets"]] == ["data", "maps"]
