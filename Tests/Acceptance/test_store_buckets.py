"""Tests of buckets in the store: their lists, regions, names and versions, and of the tags and fields of their objects."""

import datetime

import boto3
import oss2
import pytest
import requests
from botocore.exceptions import ClientError
from support import s3 as s3_clients
from support.operators_store import ORIGIN, READER, Store, oss_refused
from support.s3 import refused
from support.static_keys import OWNER, TOOLS
from support.waiting import WAIT_SECONDS

BUCKET = "data"
BUCKETS = {f"many-{number:04}": {} for number in range(150)} | {
    "with.dots.in-name": {},
    "maps": {"prefix": "tools/maps/"},
}


@pytest.fixture(scope="module")
def store(gateway_with, login, tmp_path_factory) -> Store:
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in (OWNER, TOOLS, READER)]
    gateway = gateway_with({"object_store": {"static_keys": keys, "buckets": BUCKETS, "cors_origins": [ORIGIN]}})
    return Store(gateway, login(gateway))


@pytest.fixture(scope="module")
def s3(store):
    return store.client()


def put(s3, *keys: str, bucket: str = BUCKET) -> None:
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())


# Buckets


def test_buckets_are_listed_by_pages_and_prefixes(s3):
    everything = s3.list_buckets()
    names = [bucket["Name"] for bucket in everything["Buckets"]]
    assert names == sorted([*BUCKETS, BUCKET], key=str.encode) and "ContinuationToken" not in everything
    pages = list(s3.get_paginator("list_buckets").paginate(PaginationConfig={"PageSize": 40}))
    assert [len(page["Buckets"]) for page in pages] == [40, 40, 40, 33]
    assert [bucket["Name"] for page in pages for bucket in page["Buckets"]] == names
    found = s3.list_buckets(Prefix="many-01", MaxBuckets=7)
    assert found["Prefix"] == "many-01" and len(found["Buckets"]) == 7 and found["ContinuationToken"]
    assert s3.list_buckets(Prefix="zzz")["Buckets"] == []
    assert s3.list_buckets(BucketRegion="eu-west-1")["Buckets"] == []
    assert len(s3.list_buckets(BucketRegion="us-east-1")["Buckets"]) == len(names)


@pytest.mark.parametrize(
    "query", ["max-buckets=0", "max-buckets=10001", "max-buckets=%2B1", "max-buckets=x", "continuation-token=%21"]
)
def test_invalid_pages_of_buckets_are_refused(store, query):
    assert store.send("GET", f"/?{query}").error() == (400, "InvalidArgument")


def test_buckets_are_listed_by_pages_in_oss(store):
    service = oss2.Service(oss2.AuthV4(OWNER.id, OWNER.secret), f"http://{store.gateway.object_store}", region="local")
    page = service.list_buckets(prefix="many-", max_keys=100)
    assert (len(page.buckets), page.is_truncated, page.next_marker) == (100, True, "many-0099")
    names = [bucket.name for bucket in oss2.BucketIterator(service, prefix="many-", max_keys=60)]
    assert names == sorted(name for name in BUCKETS if name.startswith("many-"))


def test_creation_dates_of_buckets_stay(store, s3):
    def dates():
        return {bucket["Name"]: bucket["CreationDate"] for bucket in store.client().list_buckets()["Buckets"]}

    before = dates()
    now = datetime.datetime.now(datetime.UTC)
    assert all(now - datetime.timedelta(days=1) < date <= now for date in before.values())
    store.gateway.stop()
    store.gateway.start()
    assert dates() == before
    created = store.oss().get_bucket_info().creation_date
    assert datetime.datetime.fromisoformat(created) == before[BUCKET]


def test_region_of_a_bucket_is_named(store):
    for region in ("us-east-1", "eu-central-1", "local"):
        client = boto3.client(
            "s3",
            endpoint_url=f"http://{store.gateway.object_store}",
            region_name=region,
            aws_access_key_id=OWNER.id,
            aws_secret_access_key=OWNER.secret,
        )
        assert client.head_bucket(Bucket=BUCKET)["BucketRegion"] == "us-east-1"
        assert client.get_bucket_location(Bucket=BUCKET)["LocationConstraint"] is None
    # Clients look for the region before they sign.
    for target in (f"/{BUCKET}", f"/{BUCKET}/", "/absent"):
        response = requests.head(f"http://{store.gateway.object_store}{target}", timeout=WAIT_SECONDS)
        assert (response.status_code, response.headers["x-amz-bucket-region"]) == (403, "us-east-1")
    listed = store.send("GET", f"/{BUCKET}?list-type=2")
    assert listed.headers["x-amz-bucket-region"] == "us-east-1"
    assert "x-amz-bucket-region" not in store.send("GET", f"/{BUCKET}/absent").headers


def test_bucket_names_may_have_dots(store, s3):
    put(s3, "dotted", bucket="with.dots.in-name")
    assert s3.get_object(Bucket="with.dots.in-name", Key="dotted")["Body"].read() == b"dotted"
    copied = {"Bucket": "with.dots.in-name", "Key": "dotted"}
    s3.copy_object(Bucket=BUCKET, Key="copied", CopySource=copied)
    for name in ("a..b", ".ab", "ab.", "192.168.0.1", "Ab.c"):
        assert store.send("GET", f"/{name}/x").error() == (400, "InvalidBucketName")


# Versions


def test_objects_have_one_version(store, s3):
    keys = ["versions/a", "versions/b/1", "versions/b/2", "versions/c d", "versions/ü"]
    put(s3, *keys)
    listed = s3.list_object_versions(Bucket=BUCKET, Prefix="versions/")
    assert [entry["Key"] for entry in listed["Versions"]] == keys and not listed["IsTruncated"]
    assert {(entry["VersionId"], entry["IsLatest"]) for entry in listed["Versions"]} == {("null", True)}
    assert (
        listed["Versions"][0]["Size"] == 10 and listed["Versions"][0]["Owner"]["ID"] and "DeleteMarkers" not in listed
    )
    paginator = s3.get_paginator("list_object_versions")
    for size in (1, 2, 3):
        pages = list(paginator.paginate(Bucket=BUCKET, Prefix="versions/", PaginationConfig={"PageSize": size}))
        assert [entry["Key"] for page in pages for entry in page["Versions"]] == keys
    pages = paginator.paginate(Bucket=BUCKET, Prefix="versions/", Delimiter="/", PaginationConfig={"PageSize": 1})
    pages = list(pages)
    assert [entry["Key"] for page in pages for entry in page.get("Versions", [])] == [keys[0], *keys[3:]]
    assert [entry["Prefix"] for page in pages for entry in page.get("CommonPrefixes", [])] == ["versions/b/"]
    rest = s3.list_object_versions(Bucket=BUCKET, Prefix="versions/", KeyMarker=keys[2], VersionIdMarker="null")
    assert [entry["Key"] for entry in rest["Versions"]] == keys[3:]
    empty = s3.list_object_versions(Bucket=BUCKET, Prefix="versions/", MaxKeys=0)
    assert "Versions" not in empty and not empty["IsTruncated"]
    result = store.oss().list_object_versions(prefix="versions/")
    assert [(entry.key, entry.versionid, entry.is_latest) for entry in result.versions] == [
        (key, "null", True) for key in keys
    ]


@pytest.mark.parametrize("marker", [{"VersionIdMarker": "null"}, {"KeyMarker": "a", "VersionIdMarker": "1"}])
def test_other_markers_of_versions_are_refused(s3, marker):
    assert refused(s3.list_object_versions, Bucket=BUCKET, **marker) == (400, "InvalidArgument")


def test_lists_of_versions_stay_within_the_prefix_of_a_key(store):
    assert refused(store.client(TOOLS).list_object_versions, Bucket=BUCKET) == (403, "AccessDenied")
    assert store.client(TOOLS).list_object_versions(Bucket=BUCKET, Prefix="tools/none")["ResponseMetadata"]


def test_a_bucket_is_emptied_by_its_versions(store):
    put(store.client(), *(f"emptied/{number}" for number in range(20)))
    resource = boto3.resource(
        "s3",
        endpoint_url=f"http://{store.gateway.object_store}",
        region_name=s3_clients.REGION,
        aws_access_key_id=OWNER.id,
        aws_secret_access_key=OWNER.secret,
    )
    versions = resource.Bucket(BUCKET).object_versions.filter(Prefix="emptied/")
    deleted = [entry for response in versions.delete() for entry in response["Deleted"]]
    assert len(deleted) == 20 and {entry["VersionId"] for entry in deleted} == {"null"}
    assert "Contents" not in store.client().list_objects_v2(Bucket=BUCKET, Prefix="emptied/")


def test_null_is_the_version_of_every_object(s3):
    put(s3, "null/a")
    name = {"Bucket": BUCKET, "Key": "null/a"}
    assert s3.get_object(**name, VersionId="null")["Body"].read() == b"null/a"
    assert s3.head_object(**name, VersionId="null")["ContentLength"] == 6
    s3.put_object_tagging(**name, VersionId="null", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    assert s3.get_object_tagging(**name, VersionId="null")["TagSet"] == [{"Key": "a", "Value": "b"}]
    s3.copy_object(Bucket=BUCKET, Key="null/b", CopySource=name | {"VersionId": "null"})
    assert refused(s3.get_object, **name, VersionId="1") == (404, "NoSuchVersion")
    assert refused(s3.delete_object, **name, VersionId="1") == (404, "NoSuchVersion")
    result = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "null/a", "VersionId": "1"}]})
    assert [(error["Code"], error["VersionId"]) for error in result["Errors"]] == [("NoSuchVersion", "1")]
    s3.delete_object(**name, VersionId="null")
    assert refused(s3.head_object, **name) == (404, "404")


# Lists


def test_tokens_and_prefixes_are_echoed_as_clients_read_them(store, s3):
    put(s3, "echo/ü a")
    empty = s3.list_objects_v2(Bucket=BUCKET, ContinuationToken="")
    assert empty["ContinuationToken"] == ""
    put(s3, "echo/1", "echo/2", "echo/3")
    first = s3.list_objects_v2(Bucket=BUCKET, Prefix="echo/", StartAfter="echo/1", MaxKeys=1)
    token = first["NextContinuationToken"]
    both = s3.list_objects_v2(Bucket=BUCKET, Prefix="echo/", StartAfter="echo/1", ContinuationToken=token, MaxKeys=1)
    assert (both["StartAfter"], both["ContinuationToken"], both["Contents"][0]["Key"]) == ("echo/1", token, "echo/3")
    assert s3.list_objects(Bucket=BUCKET, Prefix="echo/ü ")["Prefix"] == "echo/ü "
    assert s3.list_objects_v2(Bucket=BUCKET, Prefix="echo/ü ")["Prefix"] == "echo/ü "
    assert s3.list_object_versions(Bucket=BUCKET, Prefix="echo/ü ")["Prefix"] == "echo/ü "
    listed = s3.list_objects(Bucket=BUCKET, Prefix="echo/", Marker="echo/ü", Delimiter=" ")
    assert (listed["Marker"], listed["Delimiter"]) == ("echo/ü", " ")
    assert [entry["Prefix"] for entry in listed["CommonPrefixes"]] == ["echo/ü "]


# Attributes, metadata and tags


def test_attributes_count_the_parts(s3):
    name = {"Bucket": BUCKET, "Key": "counted"}
    upload = name | {"UploadId": s3.create_multipart_upload(**name)["UploadId"]}
    etags = [s3.upload_part(**upload, PartNumber=number, Body=b"x")["ETag"] for number in (1, 2, 3)]
    parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    found = s3.get_object_attributes(**name, ObjectAttributes=["ObjectParts"], MaxParts=2)["ObjectParts"]
    assert (found["TotalPartsCount"], found["IsTruncated"], found["NextPartNumberMarker"]) == (3, True, 2)
    rest = s3.get_object_attributes(**name, ObjectAttributes=["ObjectParts"], PartNumberMarker=2)["ObjectParts"]
    assert [part["PartNumber"] for part in rest["Parts"]] == [3]


def test_metadata_without_a_value_is_kept(store, s3):
    metadata, name = {"empty": "", "full": "v"}, {"Bucket": BUCKET, "Key": "metadata/a"}
    s3.put_object(**name, Body=b"x", Metadata=metadata)
    assert s3.head_object(**name)["Metadata"] == metadata == s3.get_object(**name)["Metadata"]
    s3.copy_object(Bucket=BUCKET, Key="metadata/b", CopySource=name)
    s3.copy_object(**name, CopySource=name, MetadataDirective="REPLACE", Metadata={"full": ""})
    upload = {"Bucket": BUCKET, "Key": "metadata/c"}
    upload["UploadId"] = s3.create_multipart_upload(**upload, Metadata=metadata)["UploadId"]
    etag = s3.upload_part(**upload, PartNumber=1, Body=b"x")["ETag"]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
    found = [s3.head_object(Bucket=BUCKET, Key=f"metadata/{key}")["Metadata"] for key in "abc"]
    assert found == [{"full": ""}, metadata, metadata]
    bucket = store.oss()
    assert "x-oss-meta-empty" in bucket.head_object("metadata/b").headers
    bucket.put_object("metadata/d", b"x", headers={"x-oss-meta-empty": ""})
    assert s3.head_object(Bucket=BUCKET, Key="metadata/d")["Metadata"] == {"empty": ""}
    post = s3.generate_presigned_post(BUCKET, "metadata/e", {"x-amz-meta-empty": ""}, [{"x-amz-meta-empty": ""}])
    requests.post(post["url"], post["fields"], files={"file": b"x"}, timeout=WAIT_SECONDS).raise_for_status()
    assert s3.head_object(Bucket=BUCKET, Key="metadata/e")["Metadata"] == {"empty": ""}


def test_fields_without_a_value_are_as_if_absent(s3):
    fields = {"CacheControl": "", "ContentDisposition": "", "ContentLanguage": "", "ContentType": ""}
    s3.put_object(Bucket=BUCKET, Key="fields", Body=b"x", **fields)
    found = s3.head_object(Bucket=BUCKET, Key="fields")
    assert found["ContentType"] == "application/octet-stream" and "CacheControl" not in found


LIMITS = [("k" * 128, "v" * 256), ("\U0001f600" * 128, "ü" * 256), ("a:b/c=d+e@f._-", " "), ("x", "")]
INVALID = [("k" * 129, "v"), ("k", "v" * 257), ("aws:k", "v"), ("AWS:k", "v"), ("ü" * 129, "v")]


def test_tags_within_the_limits_are_kept(store, s3):
    name = {"Bucket": BUCKET, "Key": "tags/kept"}
    s3.put_object(**name, Body=b"x", Tagging="foo=bar&bar")
    assert s3.get_object_tagging(**name)["TagSet"] == [{"Key": "bar", "Value": ""}, {"Key": "foo", "Value": "bar"}]
    tags = sorted(({"Key": key, "Value": value} for key, value in LIMITS), key=lambda tag: tag["Key"].encode())
    s3.put_object_tagging(**name, Tagging={"TagSet": tags})
    assert s3.get_object_tagging(**name)["TagSet"] == tags
    assert store.oss().get_object_tagging("tags/kept").tag_set.tagging_rule == dict(LIMITS)


@pytest.mark.parametrize(("key", "value"), INVALID)
def test_tags_beyond_the_limits_are_refused(store, s3, key, value):
    name = {"Bucket": BUCKET, "Key": "tags/refused"}
    s3.put_object(**name, Body=b"x", Tagging="old=1")
    pair = requests.compat.urlencode({key: value})
    assert refused(s3.put_object_tagging, **name, Tagging={"TagSet": [{"Key": key, "Value": value}]}) == (
        400,
        "InvalidTag",
    )
    assert refused(s3.put_object, **name, Body=b"y", Tagging=pair) == (400, "InvalidTag")
    assert refused(s3.create_multipart_upload, **name, Tagging=pair) == (400, "InvalidTag")
    copy = {"CopySource": name, "TaggingDirective": "REPLACE", "Tagging": pair}
    assert refused(s3.copy_object, **name, **copy) == (400, "InvalidTag")
    headers = {"x-oss-tagging": pair}
    assert oss_refused(store.oss().put_object, "tags/refused", b"y", headers=headers) == (400, "InvalidTag")
    assert s3.get_object(**name)["Body"].read() == b"x"
    assert s3.get_object_tagging(**name)["TagSet"] == [{"Key": "old", "Value": "1"}]


def test_tags_have_a_key(store, s3):
    document = b"<Tagging><TagSet><Tag><Key></Key><Value>v</Value></Tag></TagSet></Tagging>"
    put(s3, "tags/nameless")
    assert store.send("PUT", f"/{BUCKET}/tags/nameless?tagging", document).error() == (400, "InvalidTag")
    headers = {"x-amz-tagging": "=v"}
    assert store.send("PUT", f"/{BUCKET}/tags/nameless", b"x", headers=headers).error() == (400, "InvalidTag")


def test_sets_of_tags_have_distinct_keys_and_ten_at_most(s3):
    name = {"Bucket": BUCKET, "Key": "tags/sets"}
    s3.put_object(**name, Body=b"x", Tagging="&".join(f"{number}=x" for number in range(10)))
    twice = [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]
    assert refused(s3.put_object_tagging, **name, Tagging={"TagSet": twice}) == (400, "InvalidTag")
    eleven = [{"Key": str(number), "Value": ""} for number in range(11)]
    with pytest.raises(ClientError, match="at most 10 tags"):
        s3.put_object_tagging(**name, Tagging={"TagSet": eleven})
    assert refused(s3.put_object, **name, Body=b"y", Tagging="%zz=1") == (400, "InvalidArgument")
    assert len(s3.get_object_tagging(**name)["TagSet"]) == 10


# Browsers


def vary(response) -> set[str]:
    return {name.strip().lower() for name in response.headers.get("Vary", "").split(",") if name.strip()}


def test_answers_vary_by_the_origin(store, s3):
    s3.put_object(Bucket=BUCKET, Key="vary", Body=b"hello", Metadata={"robot": "r1"}, ChecksumAlgorithm="SHA256")
    params = {"Bucket": BUCKET, "Key": "vary", "ChecksumMode": "ENABLED"}
    url = s3.generate_presigned_url("get_object", Params=params)
    headers = {"x-amz-checksum-mode": "ENABLED"}
    plain, other, permitted, part, same, absent = (
        requests.get(target, headers=headers | more, timeout=WAIT_SECONDS)
        for target, more in (
            (url, {}),
            (url, {"Origin": "https://other.example"}),
            (url, {"Origin": ORIGIN}),
            (url, {"Origin": ORIGIN, "Range": "bytes=0-1"}),
            (url, {"Origin": ORIGIN, "If-None-Match": s3.head_object(Bucket=BUCKET, Key="vary")["ETag"]}),
            (url.replace("/vary?", "/absent?"), {"Origin": ORIGIN}),
        )
    )
    responses = (plain, other, permitted, part, same, absent)
    assert [response.status_code for response in responses] == [200, 200, 200, 206, 304, 403]
    assert all(vary(response) == {"origin"} for response in responses)
    for response in (plain, other):
        assert "Access-Control-Allow-Origin" not in response.headers
    for response in (permitted, part, same, absent):
        assert response.headers["Access-Control-Allow-Origin"] == ORIGIN
        exposed = {name.strip().lower() for name in response.headers["Access-Control-Expose-Headers"].split(",")}
        own = {name.lower() for name in response.headers if name.lower().startswith(("x-amz-", "x-oss-"))}
        assert own <= exposed and {"etag", "content-range"} <= exposed
    exposed = permitted.headers["Access-Control-Expose-Headers"].lower()
    assert "x-amz-checksum-sha256" in exposed and "x-amz-meta-robot" in exposed


def test_preflights_vary_by_what_they_ask(store):
    url = f"http://{store.gateway.object_store}/{BUCKET}/x"
    asks = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "content-type"}
    permitted = requests.options(url, headers={"Origin": ORIGIN} | asks, timeout=WAIT_SECONDS)
    assert permitted.status_code == 200
    assert vary(permitted) == {"origin", "access-control-request-method", "access-control-request-headers"}
    refusal = requests.options(url, headers={"Origin": "https://other.example"} | asks, timeout=WAIT_SECONDS)
    assert refusal.status_code == 403 and vary(refusal) >= {"origin"}
    assert "Access-Control-Allow-Origin" not in refusal.headers


def test_all_origins_are_permitted_in_every_answer(gateway_with, login, tmp_path):
    keys = [OWNER.setting(tmp_path)]
    gateway = gateway_with({"object_store": {"static_keys": keys, "cors_origins": ["*"]}})
    response = requests.get(f"http://{gateway.object_store}/{BUCKET}/x", timeout=WAIT_SECONDS)
    assert response.headers["Access-Control-Allow-Origin"] == "*" and not vary(response)
