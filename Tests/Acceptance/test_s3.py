"""The object store in S3's dialect with boto3 and awscli and their default checks, in cleartext and with TLS."""

import base64
import hashlib
import socket
from dataclasses import dataclass
from pathlib import Path

import crcmod
import pytest
from boto3.s3.transfer import TransferConfig
from support import s3
from support.certificates import Authority
from support.parties import Fleet
from support.raw import fetch_url
from support.s3 import refused_with
from support.uploads import MIB, Upload, content

#: The smallest part size of S3 clients.
PART_SIZE = 5 * MIB


@dataclass
class Place:
    """A gateway, and the authority that its clients trust."""

    fleet: Fleet
    authority: Path | None


@pytest.fixture(scope="module", params=["cleartext", "tls"])
def place(request, gateway_with, login, tmp_path_factory) -> Place:
    config, authority = {"uploads": {"part_size_bytes": PART_SIZE}}, None
    if request.param == "tls":
        signing = Authority(tmp_path_factory.mktemp("authority"), "authority")
        config["tls"] = signing.tls("object-store", addresses=("127.0.0.1",))
        authority = signing.path
    return Place(Fleet.create(login(gateway_with(config))), authority)


@dataclass
class S3Upload:
    """An upload, and boto3 with its credentials."""

    place: Place
    upload: Upload

    def __post_init__(self):
        self.credentials = self.upload.credentials
        self.client = s3.client(self.credentials, self.place.authority)
        self.name = {"Bucket": self.credentials.bucket, "Key": self.credentials.key}

    def complete(self, size: int, parts: int):
        """Calls CompleteUpload with the values of HEAD."""
        etag = self.client.head_object(**self.name)["ETag"]
        self.upload.complete({"by": self.upload.id}, file_size=size, completed_part_count=parts, oss_object_etag=etag)

    def downloaded(self) -> bytes:
        """Returns the download of a user who finds the object by its tag."""
        user = self.place.fleet.user
        listed = user.objects("ListObjects", filter=f'raw_tags.by="{self.upload.id}"').objects
        file_ids = [found.file_id for found in listed]
        assert len(file_ids) == 1
        location = user.objects("RequestDownload", file_ids=file_ids).files[0].read
        return fetch_url(location.uri, authority=self.place.authority).body


@pytest.fixture
def upload(place) -> S3Upload:
    return S3Upload(place, Upload.create(place.fleet.uploader()))


def multipart_etag(data: bytes) -> str:
    digests = [hashlib.md5(data[start : start + PART_SIZE]).digest() for start in range(0, len(data), PART_SIZE)]
    return f'"{hashlib.md5(b"".join(digests)).hexdigest()}-{len(digests)}"'


def test_object_put_by_s3_is_downloaded(upload):
    data = content(MIB // 2 + 1)
    put = upload.client.put_object(**upload.name, Body=data)
    assert put["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
    assert put["ChecksumCRC32"] and put["ResponseMetadata"]["RequestId"]
    got = upload.client.get_object(**upload.name, ChecksumMode="ENABLED")
    assert (got["Body"].read(), got["ChecksumCRC32"]) == (data, put["ChecksumCRC32"])
    upload.complete(len(data), 0)
    assert upload.downloaded() == data


def test_upload_file_and_download_file(upload, tmp_path):
    data = content(3 * PART_SIZE + 12345)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    transfer = TransferConfig(multipart_threshold=PART_SIZE, multipart_chunksize=PART_SIZE)
    upload.client.upload_file(str(source), upload.name["Bucket"], upload.name["Key"], Config=transfer)
    head = upload.client.head_object(**upload.name, ChecksumMode="ENABLED")
    assert (head["ContentLength"], head["ETag"]) == (len(data), multipart_etag(data))
    assert head["ChecksumCRC32"].endswith("-4") and head["ChecksumType"] == "COMPOSITE"
    upload.complete(len(data), 4)
    upload.client.download_file(upload.name["Bucket"], upload.name["Key"], str(target), Config=transfer)
    assert target.read_bytes() == data
    assert upload.downloaded() == data


def test_aws_s3_cp_copies_an_object(upload, tmp_path, place):
    data = content(2 * PART_SIZE + 1)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    url = f"s3://{upload.name['Bucket']}/{upload.name['Key']}"
    up = s3.aws(upload.credentials, tmp_path, "s3", "cp", source, url, authority=place.authority)
    assert up.returncode == 0, up.stderr
    upload.complete(len(data), 3)
    down = s3.aws(upload.credentials, tmp_path, "s3", "cp", url, target, authority=place.authority)
    assert down.returncode == 0, down.stderr
    assert target.read_bytes() == data
    assert upload.downloaded() == data
    listed = s3.aws(upload.credentials, tmp_path, "s3", "ls", url, authority=place.authority)
    assert listed.returncode != 0 and "AccessDenied" in listed.stderr


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])
def test_checksums_of_the_client_are_checked(upload, algorithm):
    data = content(MIB)
    value = CHECKSUMS[algorithm](data)
    field = f"Checksum{algorithm}"
    put = upload.client.put_object(**upload.name, Body=data, **{field: value})
    assert put[field] == value
    assert upload.client.head_object(**upload.name, ChecksumMode="ENABLED")[field] == value
    wrong = CHECKSUMS[algorithm](data + b"x")
    refused_with(400, "BadDigest", upload.client.put_object, **upload.name, Body=data, **{field: wrong})
    assert upload.client.get_object(**upload.name)["Body"].read() == data


def crc(polynomial: int, width: int):
    """Returns the CRC in S3's form, computed by another implementation."""
    compute = crcmod.mkCrcFun(polynomial, initCrc=0, rev=True, xorOut=(1 << width) - 1)
    return lambda data: base64.b64encode(compute(data).to_bytes(width // 8, "big")).decode()


CHECKSUMS = {
    "CRC32": crc(0x104C11DB7, 32),
    "CRC32C": crc(0x11EDC6F41, 32),
    "CRC64NVME": crc(0x1AD93D23594C93659, 64),
    "SHA1": lambda data: base64.b64encode(hashlib.sha1(data).digest()).decode(),
    "SHA256": lambda data: base64.b64encode(hashlib.sha256(data).digest()).decode(),
}


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME"])
def test_a_checksum_of_the_whole_is_combined(upload, algorithm):
    data = content(2 * PART_SIZE + 77)
    value = CHECKSUMS[algorithm](data)
    field = f"Checksum{algorithm}"
    begun = upload.client.create_multipart_upload(
        **upload.name, ChecksumAlgorithm=algorithm, ChecksumType="FULL_OBJECT"
    )
    name = upload.name | {"UploadId": begun["UploadId"]}
    parts = []
    for number, start in enumerate(range(0, len(data), PART_SIZE), start=1):
        piece = data[start : start + PART_SIZE]
        sent = upload.client.upload_part(**name, PartNumber=number, Body=piece, **{field: CHECKSUMS[algorithm](piece)})
        parts.append({"PartNumber": number, "ETag": sent["ETag"], field: sent[field]})
    assert [part[field] for part in upload.client.list_parts(**name)["Parts"]] == [part[field] for part in parts]
    refused_with(
        400,
        "BadDigest",
        upload.client.complete_multipart_upload,
        **name,
        MultipartUpload={"Parts": parts},
        ChecksumType="FULL_OBJECT",
        **{field: CHECKSUMS[algorithm](b"")},
    )
    done = upload.client.complete_multipart_upload(
        **name, MultipartUpload={"Parts": parts}, ChecksumType="FULL_OBJECT", **{field: value}
    )
    assert (done["ETag"], done[field]) == (multipart_etag(data), value)
    # The client itself compares downloads with it.
    assert upload.client.get_object(**upload.name)["Body"].read() == data


def test_ranges_and_conditions_are_obeyed(upload):
    data = content(100_000)
    etag = upload.client.put_object(**upload.name, Body=data)["ETag"]

    def get(**conditions):
        return upload.client.get_object(**upload.name, **conditions)

    for field, expected in (("bytes=0-9", data[:10]), ("bytes=99990-", data[99990:]), ("bytes=-7", data[-7:])):
        assert get(Range=field)["Body"].read() == expected
    refused_with(416, "InvalidRange", get, Range="bytes=100000-")
    assert get(IfMatch=etag)["Body"].read() == data
    refused_with(412, "PreconditionFailed", get, IfMatch='"other"')
    refused_with(304, "304", get, IfNoneMatch=etag)


def test_presigned_urls_put_and_get(upload, place):
    def presign(method, seconds=300):
        return upload.client.generate_presigned_url(method, Params=upload.name, ExpiresIn=seconds)

    data = content(5000)
    assert fetch_url(presign("put_object"), "PUT", data, authority=place.authority).status == 200
    assert fetch_url(presign("get_object"), authority=place.authority).body == data
    head = fetch_url(presign("head_object"), "HEAD", authority=place.authority)
    assert (head.status, head.headers["Content-Length"]) == (200, "5000")
    wrong = fetch_url(presign("get_object"), "PUT", data, authority=place.authority)
    assert wrong.error() == (403, "SignatureDoesNotMatch")
    old = s3.client(upload.credentials, place.authority, signature_version="s3")
    refused = fetch_url(old.generate_presigned_url("get_object", Params=upload.name), authority=place.authority)
    assert refused.error() == (400, "InvalidRequest")
    assert "AWS4-HMAC-SHA256" in refused.text("Message")


def test_credentials_are_denied_other_objects_and_calls(upload, place):
    name, bucket = upload.name, upload.name["Bucket"]
    for step, arguments in (
        (upload.client.list_objects_v2, {"Bucket": bucket}),
        (upload.client.get_bucket_location, {"Bucket": bucket}),
        (upload.client.get_object, name | {"Key": "another"}),
        (upload.client.put_object, name | {"Key": "another", "Body": b"x"}),
    ):
        refused_with(403, "AccessDenied", step, **arguments)
    refused_with(403, "403", upload.client.head_bucket, Bucket=bucket)
    refused_with(404, "NoSuchKey", upload.client.get_object, **name)
    refused_with(501, "NotImplemented", upload.client.get_object_acl, **name)
    refused_with(501, "NotImplemented", upload.client.put_object, **name, Body=b"x", ServerSideEncryption="AES256")
    source = {"Bucket": bucket, "Key": name["Key"]}
    refused_with(501, "NotImplemented", upload.client.copy_object, **name, CopySource=source)
    upload.client.put_object(**name, Body=b"whole")
    upload.complete(5, 0)
    refused_with(403, "AccessDenied", upload.client.put_object, **name, Body=b"again")


def test_part_sizes_are_the_issued_ones(upload):
    name = upload.name | {"UploadId": upload.client.create_multipart_upload(**upload.name)["UploadId"]}
    message = refused_with(
        400, "EntityTooLarge", upload.client.upload_part, **name, PartNumber=1, Body=content(PART_SIZE + 1)
    )
    assert str(PART_SIZE) in message
    parts = []
    for number in (1, 2):
        sent = upload.client.upload_part(**name, PartNumber=number, Body=content(1000))
        parts.append({"PartNumber": number, "ETag": sent["ETag"]})
    complete = upload.client.complete_multipart_upload
    message = refused_with(400, "EntityTooSmall", complete, **name, MultipartUpload={"Parts": parts})
    assert str(PART_SIZE) in message
    upload.client.abort_multipart_upload(**name)
    refused_with(404, "NoSuchUpload", upload.client.list_parts, **name)


def test_both_dialects_reach_the_same_object(upload, monkeypatch):
    if upload.place.authority:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(upload.place.authority))
    data = content(PART_SIZE + 5)
    by_oss = upload.upload.store
    multipart_id = by_oss.initiate()
    name = upload.name | {"UploadId": multipart_id}
    by_oss.upload_part(multipart_id, 1, data[:PART_SIZE])
    upload.client.upload_part(**name, PartNumber=2, Body=data[PART_SIZE:])
    listed = upload.client.list_parts(**name)["Parts"]
    parts = [{"PartNumber": part["PartNumber"], "ETag": part["ETag"]} for part in listed]
    done = upload.client.complete_multipart_upload(**name, MultipartUpload={"Parts": parts})
    # The ETag has the dialect of the completion, and is the same for both dialects.
    assert done["ETag"] == multipart_etag(data) == by_oss.head().etag
    assert by_oss.get() == data


def test_virtual_host_style_of_temporary_credentials_is_accepted(gateway_with, login, monkeypatch):
    gateway = gateway_with({"object_store": {"public_endpoint": "http://oss-lab.store.test"}})
    upload = Upload.create(Fleet.create(login(gateway)).uploader())
    assert (upload.credentials.endpoint, upload.credentials.region) == ("http://oss-lab.store.test", "lab")
    host, port = gateway.object_store.rsplit(":", 1)
    resolve = socket.getaddrinfo
    requested = []

    def here(name, *rest, **options):
        requested.append(name)
        return resolve(host if name.endswith(".store.test") else name, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    upload.credentials.endpoint += f":{port}"
    client, data = s3.client(upload.credentials, s3={"addressing_style": "virtual"}), content(1000)
    name = {"Bucket": upload.credentials.bucket, "Key": upload.credentials.key}
    client.put_object(**name, Body=data)
    assert client.get_object(**name)["Body"].read() == data
    assert fetch_url(client.generate_presigned_url("get_object", Params=name)).body == data
    assert f"{name['Bucket']}.oss-lab.store.test" in requested
