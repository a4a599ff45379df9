"""What belongs to a static key: its organization in the audit log, its quota, its retention, and the scrubber's care."""

import json

import pytest
from botocore.exceptions import ClientError
from support import s3
from support.database import change, rows
from support.gateway import eventually
from support.monitoring import logged
from support.refusal import refused as refusal_of
from support.static_keys import OWNER, TOOLS
from support.uploads import MIB, content


class Place:
    def __init__(self, gateway):
        self.gateway = gateway

    def client(self, key=TOOLS):
        return s3.client(key.credentials(self.gateway, part_size=8 * MIB))

    def database(self, sql: str) -> list[tuple]:
        return rows(self.gateway, sql)


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
    # Lines separate ids by spaces: a key must not pass for several.
    client.put_object(Bucket="data", Key="tools/e tools/f", Body=b"x")
    client.copy_object(Bucket="data", Key="tools/g", CopySource="data/tools/e tools/f")
    client.delete_objects(Bucket="data", Delete={"Objects": [{"Key": "tools/e tools/f"}, {"Key": "tools/g"}]})
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
        ("PutObject", "data/tools/e tools/f", "127.0.0.1", "OK"),
        ("CopyObject", "data/tools/g", "127.0.0.1", "OK"),
        ("DeleteObjects", "data", "127.0.0.1", "OK"),
    ]
    several = place.database("SELECT action, ids, count FROM audit WHERE actor = 'static_key:TOOLS' AND ids <> ''")
    assert [(action, ids.split(), count) for action, ids, count in several] == [
        ("CopyObject", ["data/tools/a"], 1),
        ("DeleteObjects", ["tools/b", "tools/c"], 2),
        ("CopyObject", ["data/tools/e%20tools/f"], 1),
        ("DeleteObjects", ["tools/e%20tools/f", "tools/g"], 2),
    ]
    assert logged(place.gateway, event="request", source="data/tools/a")["operation"] == "CopyObject"


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


@pytest.mark.directory
def test_a_retention_deletes_what_the_key_stored_and_nothing_else(gateway_with, tmp_path):
    keys = [TOOLS.setting(tmp_path, organization="system", retention_days=30), OWNER.setting(tmp_path)]
    place = Place(gateway_with({"object_store": {"static_keys": keys}}))
    client, owner = place.client(), place.client(OWNER)
    for name in ("old", "new", "copied", "taken over"):
        client.put_object(Bucket="data", Key=f"tools/{name}", Body=name.encode())
    owner.put_object(Bucket="data", Key="tools/of another", Body=b"x")
    owner.put_object(Bucket="data", Key="tools/taken over", Body=b"x")
    owner.copy_object(Bucket="data", Key="kept/copy", CopySource="data/tools/copied")
    assert place.gateway.stop() == 0
    change(
        place.gateway,
        "UPDATE store_objects SET created_at = created_at - 31 * 86400000000 WHERE object_key <> 'tools/new'",
    )
    place.gateway.start()
    listed = "SELECT object_key FROM store_objects ORDER BY object_key"
    kept = [("kept/copy",), ("tools/new",), ("tools/of another",), ("tools/taken over",)]
    assert eventually(lambda: place.database(listed) == kept)
    line = "SELECT actor, target, organization, count FROM audit WHERE action = 'DeleteExpiredObjects'"
    assert place.database(line) == [("gateway", "static_key:TOOLS", "system", 2)]
    assert place.client(OWNER).get_object(Bucket="data", Key="kept/copy")["Body"].read() == b"copied"
    files = [file for file in (place.gateway.data / "store/data").rglob("*") if file.is_file()]
    assert eventually(lambda: len([file for file in files if file.exists()]) == len(kept))


@pytest.mark.directory
def test_the_scrubber_reads_what_tools_stored(gateway_with, login, stubs, tmp_path):
    config = {"object_store": {"static_keys": [TOOLS.setting(tmp_path)]}, "scrub": {"bytes_per_second": 0}}
    config["listeners"] = {"internal": "127.0.0.1:0"}
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
    # Its bytes are not served, and nothing is made of them; it can still be found and replaced.
    client, name = place.client(), {"Bucket": "data", "Key": "tools/a"}
    upload = {"Bucket": "data", "Key": "tools/c"}
    part = upload | {"UploadId": client.create_multipart_upload(**upload)["UploadId"], "PartNumber": 1}
    for step, named in [
        (client.get_object, name),
        (client.get_object, name | {"Range": "bytes=0-9"}),
        (client.copy_object, upload | {"CopySource": name}),
        (client.upload_part_copy, part | {"CopySource": name, "CopySourceRange": "bytes=0-9"}),
    ]:
        with pytest.raises(ClientError, match="The object is corrupted") as refusal:
            step(**named)
        response = refusal.value.response
        assert (response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]) == (
            403,
            "InvalidObjectState",
        )
    admin = login(place.gateway)
    for method, fields in [
        ("ReadObject", {"max_bytes": 1 << 20}),
        ("PresignObject", {"access_mode": 1, "expires_in_seconds": 60}),
    ]:
        with refusal_of(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as error:
            admin.internal(method, "data", "tools/a", **fields)
        assert "the object is corrupted" in error.message
    assert client.head_object(**name)["ContentLength"] == 100_000
    assert client.list_objects_v2(Bucket="data", Prefix="tools/")["KeyCount"] == 2
    assert client.get_object(Bucket="data", Key="tools/b")["Body"].read() == content(100_000)
    client.put_object(**name, Body=b"again")
    assert client.get_object(**name)["Body"].read() == b"again"
    assert place.database(marked) == []
