"""Every operation of the object store by every kind of credential: what devices and users are issued opens none of the
operations that operators' tools have, and changes nothing by trying.
"""

from dataclasses import dataclass

import oss2
import pytest
from botocore.exceptions import ClientError
from support import s3
from support.oss import Credentials
from support.parties import Fleet
from support.static_keys import StaticKey
from support.uploads import Upload, completed, content

WRITER = StaticKey("WRITER", "a secret of the writer", "write", prefix="tools/")
READER = StaticKey("READER", "a secret of the reader", "read")
ANOTHER = "tools/another"
TAGS = {"TagSet": [{"Key": "a", "Value": "b"}]}
#: Name → the call; `name` is the credentials' own object. Operations beyond those of static keys are not listed.
OPERATIONS = {
    "ListBuckets": lambda client, name: client.list_buckets(),
    "HeadBucket": lambda client, name: client.head_bucket(Bucket="data"),
    "CreateBucket": lambda client, name: client.create_bucket(Bucket="data"),
    "DeleteBucket": lambda client, name: client.delete_bucket(Bucket="data"),
    "GetBucketLocation": lambda client, name: client.get_bucket_location(Bucket="data"),
    "GetBucketVersioning": lambda client, name: client.get_bucket_versioning(Bucket="data"),
    "GetBucketAcl": lambda client, name: client.get_bucket_acl(Bucket="data"),
    "GetBucketCors": lambda client, name: client.get_bucket_cors(Bucket="data"),
    "GetBucketPolicy": lambda client, name: client.get_bucket_policy(Bucket="data"),
    "GetBucketLifecycle": lambda client, name: client.get_bucket_lifecycle_configuration(Bucket="data"),
    "ListObjects": lambda client, name: client.list_objects(Bucket="data", Prefix="tools/"),
    "ListObjectsV2": lambda client, name: client.list_objects_v2(Bucket="data", Prefix="tools/"),
    "ListMultipartUploads": lambda client, name: client.list_multipart_uploads(Bucket="data", Prefix="tools/"),
    "DeleteObjects": lambda client, name: client.delete_objects(
        Bucket="data", Delete={"Objects": [{"Key": name["Key"]}]}
    ),
    "DeleteObject": lambda client, name: client.delete_object(**name),
    "CopyObject": lambda client, name: client.copy_object(**name, CopySource=f"data/{ANOTHER}"),
    "CopyObject of itself": lambda client, name: client.copy_object(
        **name, CopySource=name, MetadataDirective="REPLACE"
    ),
    "UploadPartCopy": lambda client, name: client.upload_part_copy(
        **name, CopySource=f"data/{ANOTHER}", PartNumber=1, UploadId="x"
    ),
    "GetObjectAttributes": lambda client, name: client.get_object_attributes(**name, ObjectAttributes=["ETag"]),
    "GetObjectTagging": lambda client, name: client.get_object_tagging(**name),
    "PutObjectTagging": lambda client, name: client.put_object_tagging(**name, Tagging=TAGS),
    "DeleteObjectTagging": lambda client, name: client.delete_object_tagging(**name),
    "GetObjectAcl": lambda client, name: client.get_object_acl(**name),
    "GetObject of another": lambda client, name: client.get_object(Bucket="data", Key=ANOTHER),
    "PutObject of another": lambda client, name: client.put_object(Bucket="data", Key=ANOTHER, Body=b"changed"),
}
TAGGING = oss2.models.Tagging(oss2.models.TaggingRule())
#: The same for OSS: the operations that S3 lacks, and those whose requests differ.
OSS_OPERATIONS = {
    "ListBuckets": lambda bucket, key: oss2.Service(bucket.auth, bucket.endpoint, region=bucket.region).list_buckets(),
    "GetBucketInfo": lambda bucket, key: bucket.get_bucket_info(),
    "GetBucketAcl": lambda bucket, key: bucket.get_bucket_acl(),
    "GetBucketStat": lambda bucket, key: bucket.get_bucket_stat(),
    "ListObjects": lambda bucket, key: bucket.list_objects("tools/"),
    "ListObjectsV2": lambda bucket, key: bucket.list_objects_v2("tools/"),
    "ListMultipartUploads": lambda bucket, key: bucket.list_multipart_uploads("tools/"),
    "DeleteObjects": lambda bucket, key: bucket.batch_delete_objects([key]),
    "DeleteObject": lambda bucket, key: bucket.delete_object(key),
    "AppendObject": lambda bucket, key: bucket.append_object(key, 10, b"more"),
    "AppendObject to another": lambda bucket, key: bucket.append_object("tools/new", 0, b"more"),
    "CopyObject": lambda bucket, key: bucket.copy_object("data", ANOTHER, key),
    "CopyObject of itself": lambda bucket, key: bucket.copy_object("data", key, key, {"x-oss-meta-a": "b"}),
    "UploadPartCopy": lambda bucket, key: bucket.upload_part_copy("data", ANOTHER, None, key, "x", 1),
    "GetObjectMeta": lambda bucket, key: bucket.get_object_meta(key),
    "GetObjectAcl": lambda bucket, key: bucket.get_object_acl(key),
    "PutObjectAcl": lambda bucket, key: bucket.put_object_acl(key, oss2.OBJECT_ACL_PUBLIC_READ),
    "GetObjectTagging": lambda bucket, key: bucket.get_object_tagging(key),
    "PutObjectTagging": lambda bucket, key: bucket.put_object_tagging(key, TAGGING),
    "DeleteObjectTagging": lambda bucket, key: bucket.delete_object_tagging(key),
    "PutSymlink": lambda bucket, key: bucket.put_symlink(ANOTHER, key),
    "GetObject of another": lambda bucket, key: bucket.get_object(ANOTHER),
    "PutObject of another": lambda bucket, key: bucket.put_object(ANOTHER, b"changed"),
}
#: What a key that reads may not do.
WRITES = {
    "DeleteObjects",
    "DeleteObject",
    "CopyObject",
    "CopyObject of itself",
    "UploadPartCopy",
    "PutObjectTagging",
    "DeleteObjectTagging",
    "PutObject of another",
}
#: Answers that say that a static key may ask, although there is nothing to say.
ABSENT = {"NoSuchBucketPolicy", "NoSuchLifecycleConfiguration", "NoSuchCORSConfiguration", "BucketAlreadyOwnedByYou"}


@dataclass
class Place:
    gateway: object
    fleet: Fleet
    verified: Upload


@pytest.fixture(scope="module")
def place(gateway_with, login, tmp_path_factory) -> Place:
    secrets = tmp_path_factory.mktemp("secrets")
    gateway = gateway_with({"object_store": {"static_keys": [WRITER.setting(secrets), READER.setting(secrets)]}})
    fleet = Fleet.create(login(gateway))
    verified = completed(fleet.uploader(), content(1000))
    s3.client(WRITER.credentials(gateway)).put_object(Bucket="data", Key=ANOTHER, Body=b"another")
    return Place(gateway, fleet, verified)


def issued(place: Place, kind: str) -> Credentials:
    if kind == "a device's, of an upload under way":
        return Upload.create(place.fleet.uploader()).put(content(10)).credentials
    return place.verified.credentials


def outcome(call, client, name) -> tuple[int, str]:
    try:
        return call(client, name)["ResponseMetadata"]["HTTPStatusCode"], ""
    except ClientError as error:
        response = error.response
        return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


@pytest.mark.parametrize("kind", ["a device's, of an upload under way", "a device's, of a finished upload"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_credentials_that_are_issued_open_no_operation(place, operation, kind):
    credentials = issued(place, kind)
    client, name = s3.client(credentials), {"Bucket": credentials.bucket, "Key": credentials.key}
    before = client.get_object(**name)["Body"].read()
    status, code = outcome(OPERATIONS[operation], client, name)
    assert (status, code) in [(403, "AccessDenied"), (403, "403"), (501, "NotImplemented")], (status, code)
    assert client.get_object(**name)["Body"].read() == before
    another = s3.client(READER.credentials(place.gateway)).get_object(Bucket="data", Key=ANOTHER)
    assert another["Body"].read() == b"another"


@pytest.mark.parametrize("version", [oss2.AUTH_VERSION_1, oss2.AUTH_VERSION_4])
@pytest.mark.parametrize("operation", OSS_OPERATIONS)
def test_credentials_that_are_issued_open_no_operation_of_oss(place, operation, version):
    for kind in ("a device's, of an upload under way", "a device's, of a finished upload"):
        credentials = issued(place, kind)
        auth = oss2.StsAuth(credentials.access_key_id, credentials.secret, credentials.token, version)
        bucket = oss2.Bucket(auth, credentials.endpoint, credentials.bucket, region=credentials.region or "local")
        before = bucket.get_object(credentials.key).read()
        with pytest.raises(oss2.exceptions.ServerError) as refusal:
            OSS_OPERATIONS[operation](bucket, credentials.key)
        code = (refusal.value.status, refusal.value.code)
        assert code in [(403, "AccessDenied"), (501, "NotImplemented")], code
        assert bucket.get_object(credentials.key).read() == before
    owner = s3.client(WRITER.credentials(place.gateway))
    found = owner.list_objects_v2(Bucket="data", Prefix="tools/")["Contents"]
    assert [entry["Key"] for entry in found if entry["Key"] != "tools/own"] == [ANOTHER]
    assert owner.get_object(Bucket="data", Key=ANOTHER)["Body"].read() == b"another"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_key_that_reads_changes_nothing(place, operation):
    client = s3.client(READER.credentials(place.gateway))
    status, code = outcome(OPERATIONS[operation], client, {"Bucket": "data", "Key": ANOTHER})
    if operation in WRITES or operation == "DeleteBucket":
        assert (status, code) in [(403, "AccessDenied"), (400, "InvalidRequest")], (status, code)
    else:
        assert status == 200 or code in ABSENT, (status, code)
    assert client.get_object(Bucket="data", Key=ANOTHER)["Body"].read() == b"another"


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - {"DeleteObject", "DeleteObjects", "DeleteBucket"}))
def test_a_key_that_writes_may_ask_for_all(place, operation):
    client = s3.client(WRITER.credentials(place.gateway))
    client.put_object(Bucket="data", Key="tools/own", Body=b"own")
    status, code = outcome(OPERATIONS[operation], client, {"Bucket": "data", "Key": "tools/own"})
    assert status == 200 or status == 204 or code in ABSENT | {"NoSuchUpload"}, (status, code)
    client.put_object(Bucket="data", Key=ANOTHER, Body=b"another")
