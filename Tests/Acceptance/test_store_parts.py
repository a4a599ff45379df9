"""Tests of the parts of an object in the store: their numbers, their checksums, and ranges of bytes."""

import base64
import hashlib
import zlib

import pytest
from support.operators_store import oss_refused
from support.s3 import refused
from support.uploads import MIB

BUCKET = "data"
PARTS = {2: b"a" * 300_000, 7: b"b" * 5 * MIB, 9_999: b"", 10_000: b"the end"}


@pytest.fixture(scope="module")
def s3(store):
    return store.client()


def crc32(data: bytes) -> str:
    return base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()


def sha256(data: bytes) -> str:
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def send(s3, key: str, parts: dict[int, bytes], **options) -> tuple[dict, list[dict]]:
    """Begins a multipart upload and sends parts; returns its name and the list for Complete."""
    name = {"Bucket": BUCKET, "Key": key}
    name["UploadId"] = s3.create_multipart_upload(**name, **options)["UploadId"]
    checksum = {"ChecksumAlgorithm": options.get("ChecksumAlgorithm", "CRC32")}
    responses = {
        number: s3.upload_part(**name, PartNumber=number, Body=body, **checksum) for number, body in parts.items()
    }
    members = ("ETag", "ChecksumCRC32", "ChecksumCRC32C", "ChecksumSHA256", "ChecksumCRC64NVME")
    return name, [
        {"PartNumber": number} | {member: response[member] for member in members if member in response}
        for number, response in sorted(responses.items())
    ]


def complete(s3, name: dict, parts: list[dict]) -> dict:
    return s3.complete_multipart_upload(**name, MultipartUpload={"Parts": parts})


def read(s3, key: str, **options) -> bytes:
    return s3.get_object(Bucket=BUCKET, Key=key, **options)["Body"].read()


# Numbers


def test_numbers_of_parts_may_have_gaps(store, s3):
    name, parts = send(s3, "gaps/s3", PARTS)
    assert [part["PartNumber"] for part in s3.list_parts(**name)["Parts"]] == [2, 7, 9_999, 10_000]
    response = complete(s3, name, parts)
    digests = b"".join(hashlib.md5(body).digest() for body in PARTS.values())
    assert response["ETag"] == f'"{hashlib.md5(digests).hexdigest()}-4"'
    assert read(s3, "gaps/s3") == b"".join(PARTS.values())
    assert complete(s3, name, parts)["ETag"] == response["ETag"]


def test_all_parts_complete_with_gaps_in_oss(store):
    bucket = store.oss()
    upload = bucket.init_multipart_upload("gaps/oss").upload_id
    for number, body in PARTS.items():
        bucket.upload_part("gaps/oss", upload, number, body)
    bucket.complete_multipart_upload("gaps/oss", upload, None, headers={"x-oss-complete-all": "yes"})
    assert bucket.get_object("gaps/oss").read() == b"".join(PARTS.values())


@pytest.mark.parametrize("listed", [(1, 3), (2,), (3,), (2, 3)])
def test_a_part_that_is_left_out_is_dropped(s3, listed):
    sent = {number: bytes([number]) * 1000 for number in (1, 2, 3)}
    key = "left-out/" + "-".join(map(str, listed))
    name, parts = send(s3, key, sent)
    complete(s3, name, [part for part in parts if part["PartNumber"] in listed])
    assert read(s3, key) == b"".join(sent[number] for number in listed)
    assert [part["PartNumber"] for part in s3.list_parts(**name)["Parts"]] == list(listed)


def test_lists_of_parts_stay_in_order_and_complete(s3):
    name, parts = send(s3, "order", {2: b"x", 5: b"y"})
    assert refused(complete, s3, name, parts[::-1]) == (400, "InvalidPartOrder")
    assert refused(complete, s3, name, [*parts, {"PartNumber": 6, "ETag": parts[0]["ETag"]}]) == (400, "InvalidPart")
    assert refused(complete, s3, name, [parts[0], parts[0]]) == (400, "InvalidPartOrder")


def test_an_upload_without_parts_is_not_completed(store):
    bucket = store.oss()
    upload = bucket.init_multipart_upload("empty").upload_id
    headers = {"x-oss-complete-all": "yes"}
    assert oss_refused(bucket.complete_multipart_upload, "empty", upload, None, headers=headers) == (
        400,
        "InvalidPart",
    )


@pytest.mark.parametrize("number", ["%2B1", "-1", "0", "1.0", "%D9%A1", "10001", "", "0x1", "1%20"])
def test_numbers_of_parts_are_written_in_digits(store, s3, number):
    name, _ = send(s3, "digits", {})
    query = f"partNumber={number}&uploadId={name['UploadId']}"
    assert store.send("PUT", f"/{BUCKET}/digits?{query}", b"x").error() == (400, "InvalidArgument")
    assert "Parts" not in s3.list_parts(**name)
    s3.put_object(Bucket=BUCKET, Key="digits/whole", Body=b"x")
    assert store.send("GET", f"/{BUCKET}/digits/whole?partNumber={number}").error() == (400, "InvalidArgument")


@pytest.mark.parametrize("query", ["partNumber=1", "uploadId=U", "partNumber", "uploadId"])
def test_half_of_the_name_of_a_part_is_refused(store, s3, query):
    s3.put_object(Bucket=BUCKET, Key="half", Body=b"old")
    assert store.send("PUT", f"/{BUCKET}/half?{query}", b"new").error() == (400, "InvalidArgument")
    assert read(s3, "half") == b"old"


def test_lists_limited_to_nothing_are_empty_and_end(store, s3):
    name, _ = send(s3, "limits", {1: b"x"})
    for target, limit in (
        (f"/{BUCKET}/limits?uploadId={name['UploadId']}&max-parts=0", "MaxParts"),
        (f"/{BUCKET}?uploads&max-uploads=0", "MaxUploads"),
        (f"/{BUCKET}?list-type=2&max-keys=0", "MaxKeys"),
    ):
        response = store.send("GET", target)
        texts = {element.tag.split("}")[1]: element.text for element in response.xml}
        assert response.status == 200 and texts[limit] == "0" and texts["IsTruncated"] == "false"
        assert not {"Part", "Upload", "Contents"} & texts.keys()
        for other in ("-1", "%2B1", "x"):
            assert store.send("GET", target[:-1] + other).error() == (400, "InvalidArgument")


# Checksums


@pytest.mark.parametrize(
    ("algorithm", "kind", "digest"),
    [("CRC32", "COMPOSITE", crc32), ("CRC32", "FULL_OBJECT", crc32), ("SHA256", "COMPOSITE", sha256)],
)
def test_checksum_of_a_part_is_returned(s3, algorithm, kind, digest):
    key, member = f"checksum/{algorithm}/{kind}", f"Checksum{algorithm}"
    bodies = {3: b"a" * 5 * MIB, 8: b"b" * 1000}
    name, parts = send(s3, key, bodies, ChecksumAlgorithm=algorithm, ChecksumType=kind)
    listed = s3.list_parts(**name)
    assert (listed["ChecksumAlgorithm"], listed["ChecksumType"]) == (algorithm, kind)
    assert [part[member] for part in listed["Parts"]] == [digest(body) for body in bodies.values()]
    upload = next(one for one in s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"] if one["Key"] == key)
    assert (upload["ChecksumAlgorithm"], upload["ChecksumType"]) == (algorithm, kind)
    complete(s3, name, parts)
    for number, body in enumerate(bodies.values(), 1):
        # boto3 asks for the checksum by default, and compares it with the bytes.
        response = s3.get_object(Bucket=BUCKET, Key=key, PartNumber=number)
        assert (response[member], response["ChecksumType"], response["PartsCount"]) == (digest(body), kind, 2)
        assert response["Body"].read() == body
        head = s3.head_object(Bucket=BUCKET, Key=key, PartNumber=number, ChecksumMode="ENABLED")
        assert (head[member], head["ContentLength"]) == (digest(body), len(body))
    attributes = s3.get_object_attributes(Bucket=BUCKET, Key=key, ObjectAttributes=["ObjectParts"])["ObjectParts"]
    assert [part[member] for part in attributes["Parts"]] == [digest(body) for body in bodies.values()]
    assert member not in s3.get_object(Bucket=BUCKET, Key=key, Range="bytes=0-9")


@pytest.mark.parametrize("place", ["another key", "itself"])
def test_a_copy_gets_the_checksum_that_is_asked_for(s3, place):
    body = b"c" * 100_000
    source = f"checksummed/{place}"
    s3.put_object(Bucket=BUCKET, Key=source, Body=body, ChecksumAlgorithm="CRC32")
    key = source if place == "itself" else f"{source}/copy"
    response = s3.copy_object(
        Bucket=BUCKET, Key=key, CopySource={"Bucket": BUCKET, "Key": source}, ChecksumAlgorithm="SHA256"
    )["CopyObjectResult"]
    assert (response["ChecksumSHA256"], response["ChecksumType"]) == (sha256(body), "FULL_OBJECT")
    head = s3.head_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
    assert head["ChecksumSHA256"] == sha256(body) and "ChecksumCRC32" not in head
    assert read(s3, key) == body


def test_a_copy_of_parts_gets_a_checksum_of_the_whole(s3):
    bodies = {1: b"a" * 5 * MIB, 2: b"b"}
    name, parts = send(s3, "composite", bodies, ChecksumAlgorithm="SHA256")
    complete(s3, name, parts)
    source = {"Bucket": BUCKET, "Key": "composite"}
    s3.copy_object(Bucket=BUCKET, Key="composite/copy", CopySource=source, ChecksumAlgorithm="SHA256")
    head = s3.head_object(Bucket=BUCKET, Key="composite/copy", ChecksumMode="ENABLED")
    assert (head["ChecksumSHA256"], head["ChecksumType"]) == (sha256(b"".join(bodies.values())), "FULL_OBJECT")


def test_other_checksums_of_a_copy_are_refused(store, s3):
    s3.put_object(Bucket=BUCKET, Key="refused", Body=b"x")
    headers = {"x-amz-copy-source": f"{BUCKET}/refused", "x-amz-checksum-algorithm": "MD4"}
    assert store.send("PUT", f"/{BUCKET}/refused/copy", headers=headers).error() == (400, "InvalidRequest")
    assert refused(s3.head_object, Bucket=BUCKET, Key="refused/copy") == (404, "404")


# Ranges


@pytest.mark.parametrize("last", [1, 8192])
def test_the_end_of_an_empty_object_is_nothing(store, s3, last):
    s3.put_object(Bucket=BUCKET, Key="nothing", Body=b"")
    wanted = f"bytes=-{last}"
    assert read(s3, "nothing", Range=wanted) == b""
    assert s3.head_object(Bucket=BUCKET, Key="nothing", Range=wanted)["ContentLength"] == 0
    assert store.oss().get_object("nothing", headers={"Range": wanted}).read() == b""
    for other in ("bytes=0-0", "bytes=-0", "bytes=0-"):
        assert refused(s3.get_object, Bucket=BUCKET, Key="nothing", Range=other) == (416, "InvalidRange")


def test_head_describes_the_range_that_get_would_send(s3):
    s3.put_object(Bucket=BUCKET, Key="ranged", Body=b"hello world", ChecksumAlgorithm="CRC32")
    for wanted, length, described in (
        ("bytes=0-4", 5, "bytes 0-4/11"),
        ("bytes=-3", 3, "bytes 8-10/11"),
        ("bytes=6-", 5, "bytes 6-10/11"),
        ("bytes=0-99", 11, "bytes 0-10/11"),
    ):
        response = s3.head_object(Bucket=BUCKET, Key="ranged", Range=wanted, ChecksumMode="ENABLED")
        assert (response["ContentLength"], response["ContentRange"]) == (length, described)
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 206 and "ChecksumCRC32" not in response
    assert refused(s3.head_object, Bucket=BUCKET, Key="ranged", Range="bytes=11-") == (416, "416")
    whole = s3.head_object(Bucket=BUCKET, Key="ranged", Range="lines=1-2", ChecksumMode="ENABLED")
    assert whole["ContentLength"] == 11 and whole["ChecksumCRC32"] == crc32(b"hello world")


def test_a_part_has_no_range(store, s3):
    s3.put_object(Bucket=BUCKET, Key="both", Body=b"hello")
    for method in ("GET", "HEAD"):
        response = store.send(method, f"/{BUCKET}/both?partNumber=1", headers={"Range": "bytes=0-1"})
        assert response.status == 400
    assert store.send("GET", f"/{BUCKET}/both?partNumber=1").body == b"hello"


def test_an_empty_part_among_others_is_empty(s3):
    name, parts = send(s3, "hollow", {1: b"a" * 5 * MIB, 2: b"", 3: b"c"})
    complete(s3, name, parts)
    assert [len(read(s3, "hollow", PartNumber=number)) for number in (1, 2, 3)] == [5 * MIB, 0, 1]
    assert s3.get_object(Bucket=BUCKET, Key="hollow", PartNumber=2)["PartsCount"] == 3


def test_presigned_url_asks_for_the_checksum(store, s3):
    s3.put_object(Bucket=BUCKET, Key="presigned", Body=b"hello", ChecksumAlgorithm="CRC32")
    # The SDK of JavaScript puts the field into the query.
    response = store.send("GET", f"/{BUCKET}/presigned?x-amz-checksum-mode=ENABLED", lifetime=60)
    assert (response.body, response.headers["x-amz-checksum-crc32"]) == (b"hello", crc32(b"hello"))
