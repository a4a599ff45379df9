"""What belongs to a static key: its organization in the audit log, its quota, its retention, and the scrubber's care."""

import json
import sqlite3

import pytest
from botocore.exceptions import ClientError
from support import s3
from support.gateway import eventually
from support.monitoring import logged
from support.static_keys import StaticKey
from support.uploads import content

TOOLS = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")
OWNER = StaticKey("OWNER", "a secret of the owner", "write")
MIB = 1024 * 1024


class Place:
    def __init__(self, gateway):
        self.gateway = gateway

    def client(self, key=TOOLS):
        return s3.client(key.credentials(self.gateway, part_size=8 * MIB))

    def database(self, sql: str) -> list[tuple]:
        connection = sqlite3.connect(f"file:{self.gateway.data / 'gateway.db'}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


@pytest.fixture
def place(gateway_with, tmp_path) -> Place:
    keys = [TOOLS.setting(tmp_path, organization="system", quota_bytes=10_000), OWNER.setting(tmp_path)]
    return Place(gateway_with({"object_store": {"static_keys": keys}}))


def test_the_audit_log_has_writes_and_deletions(place):
    client = place.client()
    client.put_object(Bucket="data", Key="tools/a", Body=b"x")
    client.copy_object(Bucket="data", Key="tools/b", CopySource="data/tools/a")
    client.put_object_tagging(Bucket="data", Key="tools/b", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    begun = client.create_multipart_upload(Bucket="data", Key="tools/c")["UploadId"]
    part = {"Bucket": "data", "Key": "tools/c", "UploadId": begun}
    etag = client.upload_part(**part, PartNumber=1, Body=b"1")["ETag"]
    client.complete_multipart_upload(**part, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
    client.get_object(Bucket="data", Key="tools/c")
    client.delete_object(Bucket="data", Key="tools/a")
    client.delete_objects(Bucket="data", Delete={"Objects": [{"Key": f"tools/{name}"} for name in "bcd"]})
    lines = place.database(
        "SELECT action, target, peer, result FROM audit WHERE actor = 'static_key:TOOLS' ORDER BY id"
    )
    assert lines == [
        ("PutObject", "data/tools/a", "127.0.0.1", "OK"),
        ("CopyObject", "data/tools/b", "127.0.0.1", "OK"),
        ("PutObjectTagging", "data/tools/b", "127.0.0.1", "OK"),
        ("CompleteMultipartUpload", "data/tools/c", "127.0.0.1", "OK"),
        ("DeleteObject", "data/tools/a", "127.0.0.1", "OK"),
        ("DeleteObjects", "data", "127.0.0.1", "OK"),
    ]


def test_a_misspelled_organization_is_reported(gateway_with, tmp_path):
    keys = [TOOLS.setting(tmp_path, organization="sistem"), OWNER.setting(tmp_path, organization="system")]
    gateway = gateway_with({"object_store": {"static_keys": keys}})
    line = logged(gateway, level="warning", organization="sistem")
    assert line["id"] == "TOOLS" and "object_store.static_keys" in line["event"]


def test_a_quota_counts_what_the_key_stored_last(place):
    client, owner = place.client(), place.client(OWNER)

    def refused(step, **named):
        with pytest.raises(ClientError) as refusal:
            step(Bucket="data", **named)
        return refusal.value.response["Error"]["Code"]

    client.put_object(Bucket="data", Key="tools/a", Body=content(6000))
    assert refused(client.put_object, Key="tools/b", Body=content(4001)) == "QuotaExceeded"
    assert refused(client.copy_object, Key="tools/b", CopySource="data/tools/a") == "QuotaExceeded"
    client.put_object(Bucket="data", Key="tools/a", Body=content(10_000))
    # What another key writes over is that one's.
    owner.put_object(Bucket="data", Key="tools/a", Body=content(20_000))
    begun = client.create_multipart_upload(Bucket="data", Key="tools/c")["UploadId"]
    part = {"Key": "tools/c", "UploadId": begun}
    client.upload_part(Bucket="data", **part, PartNumber=1, Body=content(9000))
    assert refused(client.upload_part, **part, PartNumber=2, Body=content(1001)) == "QuotaExceeded"
    client.abort_multipart_upload(Bucket="data", **part)
    client.put_object(Bucket="data", Key="tools/b", Body=content(10_000))
    client.delete_object(Bucket="data", Key="tools/b")
    client.put_object(Bucket="data", Key="tools/b", Body=content(10_000))
    used = dict(place.database("SELECT owner, bytes FROM store_owner_usage"))
    assert used == {"TOOLS": 10_000, "OWNER": 20_000}


def test_the_scrubber_reads_what_tools_stored(gateway_with, tmp_path):
    config = {"object_store": {"static_keys": [TOOLS.setting(tmp_path)]}, "scrub": {"bytes_per_second": 0}}
    place = Place(gateway_with(config))
    place.client().put_object(Bucket="data", Key="tools/a", Body=content(100_000))
    place.client().put_object(Bucket="data", Key="tools/b", Body=content(100_000))
    ((file_id,),) = place.database("SELECT file_id FROM store_objects WHERE object_key = 'tools/a'")
    path = place.gateway.data / "store/data" / file_id[:2] / file_id
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(5000)
        file.write(b"other bytes")
    path.chmod(0o400)
    config["scrub"] = {"bytes_per_second": 1 << 30, "interval_seconds": 1}
    place.gateway.config.write_text(json.dumps(json.loads(place.gateway.config.read_text()) | config))
    place.gateway.kill()
    place.gateway.start()
    assert logged(place.gateway, event="object is corrupted")["object"] == "data/tools/a"
    marked = "SELECT object_key FROM store_objects WHERE bad_at IS NOT NULL"
    assert eventually(lambda: place.database(marked)) == [("tools/a",)]
    assert place.database("SELECT target FROM audit WHERE action = 'MarkBad'") == [("data/tools/a",)]
