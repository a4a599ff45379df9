"""Tests of the forms that HTTP/1.1 allows and some clients use: targets, dates, bodies of GET, and challenges."""

import datetime
import json

import pytest
import requests
from support.raw import fetch, fetch_url
from support.waiting import WAIT_SECONDS

BUCKET = "data"


def absolute(url: str, method: str = "GET", body: bytes | None = None, **headers):
    """Sends a request whose target is the whole URL."""
    address = url.split("/")[2]
    return fetch(address, method, url, body, {"Host": address} | headers)


def test_targets_in_absolute_form_at_every_listener(store):
    listeners = store.gateway.listeners
    for name, path, status in (("web", "/openapi.json", 200), ("ops", "/metrics", 200), ("web", "/v1/sites", 401)):
        assert absolute(f"http://{listeners[name]}{path}").status == status
    assert absolute(f"http://{listeners['web']}/v1/sites", Authorization=f"Bearer {store.admin.token}").status == 200
    s3 = store.client()
    for method, call, body in (
        ("PUT", "put_object", b"hello"),
        ("GET", "get_object", None),
        ("HEAD", "head_object", None),
    ):
        url = s3.generate_presigned_url(call, Params={"Bucket": BUCKET, "Key": "absolute/ü a"})
        response = absolute(url, method, body)
        assert response.status == 200, response.body
        assert method != "GET" or response.body == b"hello"
    signed = store.oss().sign_url("GET", "absolute/ü a", 60, slash_safe=True)
    assert absolute(signed).body == b"hello"
    for target in ("ftp://x/data/t", "http:///data/t", "http://user@x/data/t", "*"):
        assert fetch(listeners["object-store"], "GET", target, headers={"Host": "x"}).status == 400


def test_the_host_of_the_target_is_the_one_that_counts(store):
    s3 = store.client()
    s3.put_object(Bucket=BUCKET, Key="host", Body=b"x")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "host"})
    address = store.gateway.object_store
    # The signature covers the host.
    assert fetch(address, "GET", url, headers={"Host": "other.example"}).status == 200
    path = url.removeprefix(f"http://{address}")
    assert fetch(address, "GET", f"http://other.example{path}", headers={"Host": address}).status == 403


FORMS = {
    "preferred": "%a, %d %b %Y %H:%M:%S GMT",
    "RFC 850": "%A, %d-%b-%y %H:%M:%S GMT",
    "asctime": "%a %b %e %H:%M:%S %Y",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_conditions_have_dates_of_every_form(store, form):
    s3, bucket = store.client(), store.oss()
    s3.put_object(Bucket=BUCKET, Key="dated", Body=b"x")
    now = datetime.datetime.now(datetime.UTC)
    past = (now - datetime.timedelta(days=400)).strftime(form)
    future = (now + datetime.timedelta(days=400)).strftime(form)
    for field, date, status in (
        ("If-Modified-Since", past, 200),
        ("If-Modified-Since", future, 304),
        ("If-Unmodified-Since", past, 412),
        ("If-Unmodified-Since", future, 200),
    ):
        for method in ("GET", "HEAD"):
            assert store.send(method, f"/{BUCKET}/dated", headers={field: date}).status == status
            signed = bucket.sign_url(method, "dated", 60)
            assert fetch_url(signed, method, headers={field: date}).status == status
    source = {"x-amz-copy-source": f"{BUCKET}/dated", "x-amz-copy-source-if-unmodified-since": past}
    assert store.send("PUT", f"/{BUCKET}/copied", headers=source).status == 412
    source["x-amz-copy-source-if-unmodified-since"] = future
    assert store.send("PUT", f"/{BUCKET}/copied", headers=source).status == 200


def test_empty_expectation_is_ignored(store):
    response = store.send("PUT", f"/{BUCKET}/expect", b"x", headers={"Expect": ""})
    assert response.status == 200
    assert fetch(store.gateway.listeners["web"], "GET", "/openapi.json", headers={"Expect": ""}).status == 200


# Calls


LIST = "/archebase.auth.v1.AdminAuthService/ListSites"
GET = f"{LIST}?connect=v1&encoding=json&message=%7B%7D"


@pytest.mark.parametrize("body", [b"{}", b" ", b"\x08\x02"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_call_by_get_has_no_body(store, body, framing):
    headers = {"Authorization": f"Bearer {store.admin.token}"}
    url = f"http://{store.gateway.listeners['web']}{GET}"
    assert requests.get(url, headers=headers, timeout=WAIT_SECONDS).status_code == 200
    data = body if framing == "length" else iter([body[:1], body[1:]])
    response = requests.get(url, headers=headers, data=data, timeout=WAIT_SECONDS)
    assert response.status_code == 400 and "a GET must not have a body" in response.json()["message"]


def test_every_401_has_a_challenge(store):
    web = store.gateway.listeners["web"]
    json_body = {"Content-Type": "application/json"}
    for method, path, headers, body in (
        ("GET", "/v1/sites", {}, None),
        ("HEAD", "/v1/sites", {}, None),
        ("GET", "/v1/sites", {"Authorization": "Bearer x"}, None),
        ("POST", "/v1/sites", json_body, json.dumps({"name": "x"}).encode()),
        ("POST", LIST, json_body, b"{}"),
        ("POST", LIST, json_body | {"Authorization": "Bearer x"}, b"{}"),
        ("POST", LIST, json_body | {"Authorization": "Basic eDp5"}, b"{}"),
        ("POST", LIST, {"Content-Type": "application/proto"}, b""),
        ("GET", GET, {}, None),
    ):
        response = fetch(web, method, path, body, headers)
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer"), (method, path)
        assert len(response.headers.get_all("WWW-Authenticate")) == 1


def test_a_deadline_that_has_passed_ends_every_call(store):
    headers = {"Authorization": f"Bearer {store.admin.token}", "Content-Type": "application/json"}
    for _ in range(20):
        response = fetch(store.gateway.listeners["web"], "POST", LIST, b"{}", headers | {"Connect-Timeout-Ms": "0"})
        assert json.loads(response.body)["code"] == "deadline_exceeded"
