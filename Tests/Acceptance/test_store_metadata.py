"""What the store keeps with an object, with boto3 and oss2: fields, metadata, checksums, tags and attributes."""

import contextlib

import pytest
import requests
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from support import s3
from support.operators_store import Store, oss_refused
from support.parties import Fleet
from support.raw import RawStore
from support.s3 import refused
from support.static_keys import OWNER
from support.uploads import MIB, Upload, completed, content
from support.waiting import WAIT_SECONDS


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
    for response in (client.head_object(**name), client.get_object(**name)):
        assert {key: response[key] for key in fields} == fields
        assert response["Metadata"] == {"mtime": "1700000000.5", "color": "red"}
        assert response["ResponseMetadata"]["HTTPHeaders"]["content-security-policy"] == "sandbox"
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
    assert requests.put(url, b"x", headers={"x-amz-meta-a": "b"}, timeout=WAIT_SECONDS).status_code == 200
    assert client.head_object(**name)["Metadata"] == {"a": "b"}
    # The SDK of JavaScript writes the names in lower case.
    url = in_query(store, "PUT", name, {"x-amz-meta-c": "d"})
    assert requests.put(url, b"x", timeout=WAIT_SECONDS).status_code == 200
    assert client.head_object(**name)["Metadata"] == {"c": "d"}
    url = in_query(store, "PUT", name, {"x-amz-acl": "public-read"})
    assert requests.put(url, b"y", timeout=WAIT_SECONDS).status_code == 400
    assert client.get_object(**name)["Body"].read() == b"x"
    url = store.oss().sign_url("GET", "kept/presigned", 60, params={"response-content-type": "a/b"}, slash_safe=True)
    assert requests.get(url, timeout=WAIT_SECONDS).headers["content-type"] == "a/b"
    client = store.client(signature_version="s3")
    url = client.generate_presigned_url("get_object", Params=name, ExpiresIn=60)
    response = requests.get(url, timeout=WAIT_SECONDS)
    assert response.status_code == 400 and "s3v4" in response.text


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


def test_attributes_parts_and_metadata_of_objects_are_returned(store):
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


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("gzip, aws-chunked", "gzip"), ("aws-chunked, gzip", "gzip"), ("aws-chunked", None), ("AWS-Chunked,br", "br")],
)
def test_the_encoding_of_chunks_is_not_kept(store, sent, kept):
    client, name = store.client(), {"Bucket": "data", "Key": "kept/encoding"}
    client.put_object(**name, Body=b"5\r\nhello\r\n0\r\n\r\n", ContentEncoding=sent)
    found = client.get_object(**name)
    assert (found.get("ContentEncoding"), found["Body"].read()) == (kept, b"5\r\nhello\r\n0\r\n\r\n")
    # Without a digest nobody can say whether the body is in chunks.
    url = client.generate_presigned_url("put_object", Params=name)
    assert requests.put(url, b"x", headers={"Content-Encoding": sent}, timeout=WAIT_SECONDS).status_code == 400
