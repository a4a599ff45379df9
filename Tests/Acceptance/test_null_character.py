"""The character U+0000, which no text of a request may have: it is refused before anything is done, whatever the protocol."""

import base64
import json

import grpc
import pytest
from support import null_texts
from support.apps import App, enabled
from support.operators_store import oss_refused
from support.parties import unique
from support.refusal import Refusal
from support.s3 import refused
from support.services import LISTENERS
from support.waiting import WAIT_SECONDS

RULE = "must not contain the character U+0000"
BUCKET = "data"


@pytest.fixture(scope="module")
def services(stubs, protos, tmp_path_factory):
    return null_texts.services(protos, tmp_path_factory.mktemp("descriptors"))


@pytest.mark.parametrize("service", [*LISTENERS, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"])
def test_each_text_of_each_method_is_refused(gateway, admin, uploader, stubs, services, service):
    """Also texts in nested messages, in lists and in maps; the refusal names the field and the rule."""
    channel = gateway.channel(LISTENERS.get(service, "auth"))
    token = uploader.token if service.endswith(".DataGatewayService") else admin.token
    problems, count = [], 0
    for method in services[service].methods:
        call = channel.stream_stream(f"/{service}/{method.name}")
        for path, message in null_texts.requests(method.input_type):
            count += 1
            try:
                next(call(iter([message]), metadata=[("authorization", f"Bearer {token}")], timeout=WAIT_SECONDS))
                problems.append(f"{method.name}: {path} is accepted")
            except (grpc.RpcError, StopIteration) as error:
                refusal = str(Refusal().read(stubs, error)) if isinstance(error, grpc.RpcError) else "no error"
                if not refusal.startswith("INVALID_ARGUMENT") or not refusal.endswith(f": {path} {RULE}"):
                    problems.append(f"{method.name}: {path}: {refusal}")
    assert not problems
    # Some services have requests without texts only.
    assert count or not any(list(null_texts.requests(method.input_type)) for method in services[service].methods)


def test_each_text_of_the_apps_is_refused(gateway_with, login, services):
    gateway = gateway_with(enabled())
    # Who is not signed in may be refused for that first.
    app, token, problems, count = App(gateway), login(gateway).token, [], 0
    for service in services.values():
        if not service.full_name.startswith("archebase.apps."):
            continue
        for method in service.methods:
            for path, message in null_texts.requests(method.input_type):
                count += 1
                is_stream = method.client_streaming or method.server_streaming
                body = b"\0" + len(message).to_bytes(4) + message if is_stream else message
                kind = "application/connect+proto" if is_stream else "application/proto"
                reply = app.post(f"/{service.full_name}/{method.name}", body, token, content_type=kind)
                error = reply.json if reply.status != 200 else json.loads(reply.body[5:])["error"]
                if (error["code"], error["message"]) != ("invalid_argument", f"{path} {RULE}"):
                    problems.append(f"{method.full_name}: {path}: {error}")
    assert not problems
    assert count > 20


@pytest.mark.parametrize("method, path, body, field", [
    ("POST", "/v1/sites", {"name": "a\0b"}, "name"),
    ("POST", "/v1/devices", {"device_id": "a\0b"}, "device_id"),
    ("PATCH", "/v1/sites/1", {"name": "a\0b"}, "name"),
    ("GET", "/v1/objects?filter=a%00b", None, "filter"),
    ("GET", "/v1/objects?page_token=%00", None, "page_token"),
    ("GET", "/v1/objects/a%00b", None, "file_id"),
    ("DELETE", "/v1/users/%00", None, "user_name"),
    ("GET", "/v1/devices/a%00b", None, "name"),
])  # fmt: skip
def test_rest_refuses_it_in_body_query_and_path(gateway, admin, method, path, body, field):
    reply = App(gateway, "web").send(method, path, body, admin.token)
    error = reply.json["error"]
    assert (reply.status, error["status"], error["message"]) == (400, "INVALID_ARGUMENT", f"{field} {RULE}")
    assert error["details"][0]["reason"] == "DATA_GATEWAY_INVALID_ARGUMENT"


def test_a_refused_request_changes_nothing(gateway, admin):
    name = unique("site")
    reply = App(gateway, "web").post("/v1/sites", {"name": f"{name}\0"}, admin.token)
    assert reply.status == 400
    sites = App(gateway, "web").get("/v1/sites", admin.token).json["sites"]
    assert not any(name in site["name"] for site in sites)


def token(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("method, target", [
    ("GET", f"/{BUCKET}?prefix=%00"),
    ("GET", f"/{BUCKET}?delimiter=a%00b"),
    ("GET", f"/{BUCKET}?marker=%00"),
    ("GET", f"/{BUCKET}?list-type=2&start-after=a%00"),
    ("GET", f"/{BUCKET}?list-type=2&continuation-token={token('a')[:2]}%00"),
    ("GET", f"/{BUCKET}?list-type=2&continuation-token={token(null_texts.TEXT)}"),
    ("GET", f"/{BUCKET}?versions&key-marker=%00"),
    ("GET", f"/{BUCKET}?uploads&key-marker=%00"),
    ("GET", f"/{BUCKET}?uploads&key-marker=a&upload-id-marker=%00"),
    ("GET", f"/{BUCKET}/key?uploadId=%00"),
    ("PUT", f"/{BUCKET}/key?partNumber=1&uploadId=%00"),
    ("DELETE", f"/{BUCKET}/key?uploadId=a%00b"),
    ("GET", f"/{BUCKET}/key?response-content-type=a%00b"),
    ("GET", "/?marker=%00"),
    ("GET", f"/{BUCKET}?%00=a"),
])  # fmt: skip
def test_the_store_refuses_it_in_parameters(store, method, target):
    assert store.send(method, target).error() == (400, "InvalidArgument")


def test_the_store_refuses_it_in_tags_keys_and_copies(store):
    s3, oss = store.client(), store.oss()
    put = {"Bucket": BUCKET, "Key": "tagged", "Body": b"x"}
    assert refused(s3.put_object, **put, Tagging="a=%00") == (400, "InvalidTag")
    assert oss_refused(oss.put_object, "tagged", b"x", {"x-oss-tagging": "%00=a"}) == (400, "InvalidTag")
    assert refused(s3.put_object, Bucket=BUCKET, Key="a\0b", Body=b"x") == (400, "InvalidURI")
    assert oss_refused(oss.put_object, "a\0b", b"x") == (400, "InvalidObjectName")
    source = {"x-amz-copy-source": f"/{BUCKET}/a%00b"}
    assert store.send("PUT", f"/{BUCKET}/copy", headers=source).error() == (400, "InvalidURI")
    assert oss_refused(oss.list_objects, prefix="\0") == (400, "InvalidArgument")
    tags = b"<Tagging><TagSet><Tag><Key>a</Key><Value>&#0;</Value></Tag></TagSet></Tagging>"
    s3.put_object(**put)
    assert store.send("PUT", f"/{BUCKET}/tagged?tagging", tags).error() == (400, "MalformedXML")
    assert s3.get_object_tagging(Bucket=BUCKET, Key="tagged")["TagSet"] == []
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == ["tagged"]
