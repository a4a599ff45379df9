"""The rights of `deploy/scale-out/bucket-policy.json`: a gateway works with them, and its credentials can do nothing else (Ceph's RGW)."""

import json

import pytest
from botocore.exceptions import ClientError
from support.buckets import KEY, Bucket, write_credentials
from support.client import SignedIn
from support.commands import OK
from support.engines import RadosGateway
from support.gateway import Gateway, eventually
from support.oss import Credentials
from support.parties import Fleet
from support.process import run
from support.replicas import ROOT
from support.s3 import client
from support.uploads import MIB, Upload, content, download

POLICY = ROOT / "deploy/scale-out/bucket-policy.json"
#: The bucket, the prefix and the role in the file.
BUCKET, PREFIX, ROLE = "robots", "gateway", "arn:aws:iam::123456789012:role/data-gateway"
LIMITED = ("LIMITED", "a secret of the gateways")

pytestmark = [
    pytest.mark.directory,
    pytest.mark.sqlite,
    pytest.mark.skipif(not RadosGateway.exists(), reason="RGW is not installed"),
]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory) -> Bucket:
    """The file's bucket, whose owner has set the policy for a user of the engine."""
    bucket = Bucket.start_rados(tmp_path_factory.mktemp("bucket"), [KEY], in_memory=True)
    try:
        bucket.rados.make_bucket(BUCKET)
        bucket.rados.add_user("limited", *LIMITED)
        policy = POLICY.read_text().replace(ROLE, "arn:aws:iam:::user/limited")
        bucket.rados.s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)
        write_credentials(bucket.credentials, *LIMITED)
        bucket.name = BUCKET
        yield bucket
    finally:
        bucket.stop()


@pytest.fixture(scope="module")
def limited(bucket):
    """A client of S3 with the gateway's credentials."""
    return client(Credentials(BUCKET, f"http://{bucket.address}", "", *LIMITED, None, "", MIB))


@pytest.fixture(scope="module")
def server(bucket, gateway_with) -> Gateway:
    settings = bucket.settings(PREFIX)
    return gateway_with({"objects": settings, "uploads": {"part_size_bytes": MIB}})


def test_the_gateway_stores_serves_and_removes_objects(server, login, binary, bucket, tmp_path):
    boss = login(server)
    data = content(2 * MIB + 5)
    upload = Upload.create(Fleet.create(boss).uploader()).multipart(data)
    upload.complete()
    (entry,) = boss.list_all()
    assert download(boss, entry.file_id) == data
    boss.delete_permanently(entry.file_id)
    # The sweep runs at a start, and once a minute.
    assert server.stop() == 0
    server.start()
    stored = client(owner(bucket))
    eventually(lambda: not stored.list_objects_v2(Bucket=BUCKET, Prefix=f"{PREFIX}/data/").get("Contents"))
    assert SignedIn(binary, server, tmp_path).done("status")


def owner(bucket: Bucket) -> Credentials:
    return Credentials(BUCKET, f"http://{bucket.address}", "", KEY.id, KEY.secret, None, "", MIB)


def test_the_examination_finds_every_right(server, binary):
    run(binary, "config", "check", "--config", server.config, code=OK)


@pytest.mark.parametrize(
    "request_of",
    [
        lambda s3: s3.put_object(Bucket=BUCKET, Key="elsewhere/x", Body=b"x"),
        lambda s3: s3.get_object(Bucket=BUCKET, Key="elsewhere/of-others"),
        lambda s3: s3.delete_object(Bucket=BUCKET, Key="elsewhere/of-others"),
        lambda s3: s3.put_bucket_policy(Bucket=BUCKET, Policy=POLICY.read_text()),
        lambda s3: s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"}),
        lambda s3: s3.delete_bucket(Bucket=BUCKET),
    ],
    ids=["write", "read", "remove", "policy", "versioning", "bucket"],
)
def test_everything_else_is_refused(bucket, limited, request_of):
    client(owner(bucket)).put_object(Bucket=BUCKET, Key="elsewhere/of-others", Body=b"of others")
    with pytest.raises(ClientError) as refusal:
        request_of(limited)
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_a_batch_removes_nothing_elsewhere(bucket, limited):
    (others := client(owner(bucket))).put_object(Bucket=BUCKET, Key="elsewhere/of-others", Body=b"of others")
    reply = limited.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "elsewhere/of-others"}]})
    assert [each["Code"] for each in reply["Errors"]] == ["AccessDenied"]
    assert others.head_object(Bucket=BUCKET, Key="elsewhere/of-others")


def test_the_page_has_the_same_rights():
    page = (ROOT / "docs/object-engines.md").read_text()
    (block,) = [each for each in page.split("```json\n")[1:] if "s3:PutObject" in each]
    page_policy = json.loads(block.split("```")[0])

    def rights(policy: dict) -> set[tuple[str, str]]:
        actions = lambda each: [each] if isinstance(each, str) else each
        return {(action, each["Resource"]) for each in policy["Statement"] for action in actions(each["Action"])}

    assert rights(page_policy) == rights(json.loads(POLICY.read_text()))
