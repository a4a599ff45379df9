"""Tests of the names of objects in the store: whatever S3 takes, as a name and never as a path."""

import base64
import datetime
import json

import oss2
import pytest
from botocore.exceptions import ClientError
from support.operators_store import oss_refused
from support.raw import fetch_url
from support.s3 import refused
from support.static_keys import OWNER, TOOLS

BUCKET = "data"
#: Keys without a prefix, of each kind that other stores take for paths, lines or Unicode's equals.
KEYS = [
    "back\\slash",
    "..\\..\\windows",
    "tab\there",
    "line\nend",
    "carriage\r\nreturn",
    ".",
    "..",
    "./a",
    "../a",
    "a/./b",
    "a/../b",
    "a/..",
    "/leading",
    "//",
    "trailing/",
    "a//b",
    "a b+c%20d",
    "?query=1&x#y",
    "<&>\"'",
    "\x7f",
    "\x85",
    "\u2028",
    "é",
    "e\u0301",
    "\U0001f600",
    "\U00020bb7野",
    "~*!()$,;:@=",
    "k" * 1024,
    "é" * 512,
]


def keys(s3, **options) -> list[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, **options)
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


def test_each_key_is_its_own_object(store):
    s3 = store.client()
    bodies = {key: str(number).encode() for number, key in enumerate(KEYS)}
    for key, body in bodies.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=body)
    for key, body in bodies.items():
        assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == body
        assert s3.head_object(Bucket=BUCKET, Key=key)["ContentLength"] == len(body)
        assert keys(s3, Prefix=key, MaxKeys=7).count(key) == 1
        url = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": key})
        assert fetch_url(url).body == body
    assert keys(s3, MaxKeys=3) == sorted(bodies, key=str.encode)
    copied = keys(s3, MaxKeys=5)[7]
    s3.copy_object(Bucket=BUCKET, Key="copy/../" + copied, CopySource={"Bucket": BUCKET, "Key": copied})
    assert s3.get_object(Bucket=BUCKET, Key="copy/../" + copied)["Body"].read() == bodies[copied]
    result = s3.delete_objects(
        Bucket=BUCKET, Delete={"Objects": [{"Key": key} for key in [*bodies, "copy/../" + copied]]}
    )
    assert len(result["Deleted"]) == len(bodies) + 1 and "Errors" not in result
    assert keys(s3) == []


@pytest.mark.parametrize("key", ["a/../b", "tab\there", "back\\slash", "/leading", "\U0001f600", "k" * 1024])
def test_parts_of_any_key_are_stored(store, key):
    s3, name = store.client(), {"Bucket": BUCKET, "Key": key}
    name["UploadId"] = s3.create_multipart_upload(**name)["UploadId"]
    assert key in [upload["Key"] for upload in s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]]
    etag = s3.upload_part(**name, PartNumber=1, Body=b"x")["ETag"]
    response = s3.complete_multipart_upload(**name, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
    assert response["Key"] == key
    s3.delete_object(Bucket=BUCKET, Key=key)


def test_a_list_without_an_encoding_is_xml(store):
    s3 = store.client()
    for key in ("raw/tab\t", "raw/line\n", "raw/return\r", "raw/\x7f\x85", "raw/<&>"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"x")
    listed = store.send("GET", f"/{BUCKET}?list-type=2&prefix=raw%2F")
    found = [element.findtext("{*}Key") for element in listed.xml.iterfind("{*}Contents")]
    assert found == sorted(["raw/tab\t", "raw/line\n", "raw/return\r", "raw/\x7f\x85", "raw/<&>"], key=str.encode)
    # What XML cannot represent is shown as the replacement character, and no list is malformed by it.
    echoed = store.send("GET", f"/{BUCKET}?list-type=2&prefix=%01&delimiter=%02&start-after=%03")
    assert echoed.status == 200 and echoed.xml.findtext("{*}Prefix") == "\ufffd"


def test_keys_that_cannot_be_listed_are_refused(store):
    s3 = store.client()
    for key in ("nul\0", "bell\x07", "escape\x1b[2J", "\ufffe", "\uffff"):
        assert refused(s3.put_object, Bucket=BUCKET, Key=key, Body=b"x") == (400, "InvalidURI")
    for key in ("k" * 1025, "é" * 512 + "x"):
        assert refused(s3.put_object, Bucket=BUCKET, Key=key, Body=b"x") == (400, "KeyTooLongError")
        with pytest.raises(ClientError, match="at most 1024 bytes"):
            s3.get_object(Bucket=BUCKET, Key=key)
        source = {"Bucket": BUCKET, "Key": key}
        assert refused(s3.copy_object, Bucket=BUCKET, Key="x", CopySource=source) == (400, "KeyTooLongError")
        result = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key}]})
        assert [error["Code"] for error in result["Errors"]] == ["KeyTooLongError"]
    assert oss_refused(store.oss().put_object, "k" * 1025, b"x") == (400, "KeyTooLongError")


def test_a_prefix_of_a_bucket_does_not_shorten_its_keys(store):
    s3 = store.client()
    s3.put_object(Bucket="maps", Key="m" * 1024, Body=b"far")
    assert s3.get_object(Bucket="maps", Key="m" * 1024)["Body"].read() == b"far"
    s3.delete_object(Bucket="maps", Key="m" * 1024)


def test_dots_do_not_leave_the_prefix_of_a_static_key(store):
    owner, tools = store.client(), store.client(TOOLS)
    owner.put_object(Bucket=BUCKET, Key="secret", Body=b"x")
    assert refused(tools.get_object, Bucket=BUCKET, Key="tools/../secret") == (404, "NoSuchKey")
    assert refused(tools.get_object, Bucket=BUCKET, Key="other/../tools/x") == (403, "AccessDenied")
    tools.put_object(Bucket=BUCKET, Key="tools/../secret", Body=b"mine")
    assert owner.get_object(Bucket=BUCKET, Key="secret")["Body"].read() == b"x"
    assert owner.get_object(Bucket=BUCKET, Key="tools/../secret")["Body"].read() == b"mine"
    assert refused(owner.put_object, Bucket=BUCKET, Key="uploads/../x", Body=b"x") == (403, "AccessDenied")


@pytest.mark.parametrize("key", ["plain", "é", "\U0001f600", "\U00020bb7野", 'quote"s\\', "a/../b"])
def test_forms_store_any_key(store, key):
    s3 = store.client()
    post = s3.generate_presigned_post(BUCKET, key)
    boundary = "form-boundary"
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in post["fields"].items()
    )
    body += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhello\r\n--{boundary}--\r\n'
    )
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    assert fetch_url(post["url"], "POST", body.encode(), headers=headers).status == 204
    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"hello"


# Presigned URLs


class AheadOfTime(datetime.datetime):
    """A clock that is ahead, for SDKs that read the time themselves."""

    ahead = datetime.timedelta()

    @classmethod
    def utcnow(cls):
        return datetime.datetime.now(datetime.UTC).replace(tzinfo=None) + cls.ahead


@pytest.mark.parametrize(
    ("ahead", "status"),
    [(0, 200), (300, 200), (20 * 60, 403), (86_400, 403), (70 * 365 * 86_400, 403), (-600, 200), (-700_000, 403)],
)
def test_presigned_urls_do_not_begin_in_the_future(store, monkeypatch, ahead, status):
    store.client().put_object(Bucket=BUCKET, Key="presigned", Body=b"x")
    clock = type("Clock", (AheadOfTime,), {"ahead": datetime.timedelta(seconds=ahead)})
    monkeypatch.setattr("botocore.auth.get_current_datetime", clock.utcnow)
    monkeypatch.setattr("oss2.auth.datetime", clock)
    urls = [
        store.client().generate_presigned_url(
            "get_object", Params={"Bucket": BUCKET, "Key": "presigned"}, ExpiresIn=604_800
        ),
        store.oss(OWNER, oss2.AuthV4).sign_url("GET", "presigned", 604_800),
    ]
    for url in urls:
        response = fetch_url(url)
        assert response.status == status, response.body
        if status == 403:
            message = "Request is not yet valid." if ahead > 0 else "Request has expired."
            assert (response.text("Code"), response.text("Message")) == ("AccessDenied", message)


def test_types_of_a_list_are_checked_one_by_one(store):
    s3 = store.client()
    post = s3.generate_presigned_post(
        BUCKET, "typed", Fields={"Content-Type": "image/png"}, Conditions=[["starts-with", "$Content-Type", "image/"]]
    )
    policy = json.loads(base64.b64decode(post["fields"]["policy"]))
    assert ["starts-with", "$Content-Type", "image/"] in policy["conditions"]
    for types, status in (("image/png,image/jpeg", 204), ("image/png, text/html", 403), ("text/html,image/png", 403)):
        fields = post["fields"] | {"Content-Type": types}
        body = "".join(
            f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
        )
        body += '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhello\r\n--b--\r\n'
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        assert fetch_url(post["url"], "POST", body.encode(), headers=headers).status == status
