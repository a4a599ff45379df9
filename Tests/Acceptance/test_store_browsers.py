"""What browsers do with the store: scripts of configured origins, forms, and addresses with the bucket's name."""

import base64
import datetime
import hmac
import json
import socket

import oss2
import requests
from support import s3
from support.operators_store import ORIGIN, Store
from support.s3 import refused
from support.static_keys import OWNER
from support.uploads import MIB, content
from support.waiting import WAIT_SECONDS


def test_scripts_of_configured_origins_read(store):
    client = store.client()
    client.put_object(Bucket="data", Key="viewer", Body=content(1000))
    url = client.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "viewer"}, ExpiresIn=60)
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"}
    preflight = requests.options(url, headers=asks, timeout=WAIT_SECONDS)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert preflight.headers["access-control-allow-headers"] == "range"
    response = requests.get(url, headers={"Origin": ORIGIN, "Range": "bytes=1-2"}, timeout=WAIT_SECONDS)
    assert (response.status_code, response.content) == (206, content(1000)[1:3])
    assert "Content-Range" in response.headers["access-control-expose-headers"]
    other = requests.options(url, headers=asks | {"Origin": "https://other.example.com"}, timeout=WAIT_SECONDS)
    assert other.status_code == 403 and "object_store.cors_origins" in other.text
    assert (
        "access-control-allow-origin" not in requests.get(url, headers={"Origin": "null"}, timeout=WAIT_SECONDS).headers
    )


def form(store: Store, key: str, data: bytes, conditions=(), fields=None, **post):
    """A form's answer, signed by boto3."""
    signed = store.client().generate_presigned_post("data", key, Fields=fields, Conditions=list(conditions), **post)
    return requests.post(signed["url"], data=signed["fields"], files={"file": ("name.txt", data)}, timeout=WAIT_SECONDS)


def test_browsers_upload_by_forms(store):
    client = store.client()
    data = content(3 * MIB)
    assert form(store, "forms/${filename}", data).status_code == 204
    assert client.get_object(Bucket="data", Key="forms/name.txt")["Body"].read() == data
    kept = {"x-amz-meta-color": "red", "success_action_status": "201"}
    response = form(store, "forms/kept", b"x", [{name: value} for name, value in kept.items()], kept)
    assert response.status_code == 201 and "<Key>forms/kept</Key>" in response.text
    assert client.head_object(Bucket="data", Key="forms/kept")["Metadata"] == {"color": "red"}
    assert form(store, "forms/long", data, [["content-length-range", 0, 1000]]).status_code == 400
    assert form(store, "forms/late", b"x", ExpiresIn=-10).status_code == 403
    assert form(store, "forms/acl", b"x", [{"acl": "public-read"}], {"acl": "public-read"}).status_code == 501
    unsigned = requests.post(f"http://{store.gateway.object_store}/data", files={"file": b"x"}, timeout=WAIT_SECONDS)
    assert unsigned.status_code == 403 and "PostObject" in unsigned.text
    version_2 = {"key": "forms/a", "policy": "e30=", "AWSAccessKeyId": "TOOLS", "signature": "c2lnbmF0dXJl"}
    older = requests.post(unsigned.url, data=version_2, files={"file": b"x"}, timeout=WAIT_SECONDS)
    assert older.status_code == 400 and "signature_version" in older.text
    signed = store.client().generate_presigned_post("data", "forms/a")
    tampered = signed["fields"] | {"key": "forms/b"}
    assert requests.post(signed["url"], data=tampered, files={"file": b"x"}, timeout=WAIT_SECONDS).status_code == 403
    assert [entry["Key"] for entry in client.list_objects_v2(Bucket="data", Prefix="forms/")["Contents"]] == [
        "forms/kept",
        "forms/name.txt",
    ]
    conditional = requests.post(
        signed["url"], data=signed["fields"], files={"file": b"x"}, headers={"If-None-Match": "*"}, timeout=WAIT_SECONDS
    )
    assert conditional.status_code == 501 and "if-none-match" in conditional.text
    # OSS, version 1.
    policy = base64.b64encode(
        b'{"expiration": "2099-01-01T00:00:00.000Z", "conditions": [["starts-with", "$key", "forms/"]]}'
    ).decode()
    signature = base64.b64encode(hmac.digest(OWNER.secret.encode(), policy.encode(), "sha1")).decode()
    fields = {"key": "forms/oss", "OSSAccessKeyId": OWNER.id, "policy": policy, "Signature": signature}
    url = f"http://{store.gateway.object_store}/data"
    assert requests.post(url, data=fields, files={"file": b"oss"}, timeout=WAIT_SECONDS).status_code == 204
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
    return requests.post(
        url, data=fields | signing | {"policy": policy}, files={"file": ("a.txt", data)}, timeout=WAIT_SECONDS
    )


def test_forms_of_oss_version_4_are_accepted(store):
    """As in OSS, only the fields that the policy names have to fulfill it."""
    bucket = store.oss()
    limits = ["content-length-range", 1, 10]
    fields = {
        "key": "forms4/${filename}",
        "success_action_status": "200",
        "x-oss-meta-color": "red",
        "x-oss-content-type": "text/csv",
    }
    response = oss_form(store, [{"bucket": "data"}, limits], fields)
    assert response.status_code == 200, response.text
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
        ([limits], {"key": "forms4/" + "k" * 1024}, 400),
        ([["content-length-range", 4, 10]], {"key": "forms4/d"}, 400),
        ([["content-length-range", -1, 10]], {"key": "forms4/d"}, 400),
        ([["content-length-range", 0, 10**30]], {"key": "forms4/d"}, 400),
    ]:
        response = oss_form(store, conditions, refusal)
        assert response.status_code == status, (conditions, refusal, response.status_code, response.text)
    assert [entry.key for entry in oss2.ObjectIterator(bucket, prefix="forms4/")] == ["forms4/a.txt", "forms4/b"]


def test_fields_without_an_effect_are_refused(store):
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
        response = requests.post(
            signed["url"], data=signed["fields"], files={"file": b"x"}, headers=header, timeout=WAIT_SECONDS
        )
        assert response.status_code == 501, (fields, header, response.status_code, response.text)
        assert next(iter(fields | header)).lower() in response.text
    assert (
        form(store, "nothing", b"x" * 5, [["content-length-range", 5, 9], ["content-length-range", 1, 4]]).status_code
        == 400
    )
    assert refused(client.head_object, Bucket="data", Key="nothing")[0] == 404


def test_name_of_the_file_replaces_the_variable(store):
    """The variable stands for the whole name, in any field of S3's form, and the policy decides about the result."""
    client = store.client()
    named = {"x-amz-meta-name": "${filename}"}
    signed = client.generate_presigned_post(
        "data", "named/${filename}", named, [["starts-with", "$x-amz-meta-name", ""]]
    )
    response = requests.post(
        signed["url"], data=signed["fields"], files={"file": ("a;b=c.txt", b"x")}, timeout=WAIT_SECONDS
    )
    assert response.status_code == 204, response.text
    assert client.head_object(Bucket="data", Key="named/a;b=c.txt")["Metadata"] == {"name": "a;b=c.txt"}
    forbidden = ["not-in", "$key", ["named/a.txt"]]
    assert oss_form(store, [forbidden], {"key": "named/${filename}"}).status_code == 403
    permitted = ["eq", "$key", "named/a.txt"]
    assert oss_form(store, [permitted], {"key": "named/${filename}"}).status_code == 204


def test_virtual_host_style_of_static_keys_is_accepted(gateway_with, tmp_path, monkeypatch):
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
