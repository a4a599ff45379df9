"""Requests to the store whose numbers are as large as numbers can be: refused, and the gateway continues."""

import http.client

import pytest
from support.parties import Fleet
from support.raw import RawStore
from support.static_keys import StaticKey
from support.uploads import Upload

WRITER = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")
LARGEST = 2**63 - 1


@pytest.fixture(scope="module")
def gateway(gateway_with, tmp_path_factory):
    setting = WRITER.setting(tmp_path_factory.mktemp("secrets"))
    return gateway_with({"object_store": {"static_keys": [setting]}})


def announced(store: RawStore, method: str, query: list[tuple[str, str]], length: int) -> int:
    """Sends a header section that announces a body, and returns the status without sending any of it."""
    connection = http.client.HTTPConnection(store.address, timeout=20)
    try:
        target, headers = store.head(method, query)
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in (headers | {"Content-Length": str(length), "Expect": "100-continue"}).items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("length", [2**48, 2**48 + 1, LARGEST - 1, LARGEST, 2**64])
def test_announced_lengths_are_refused(gateway, login, length):
    device = RawStore(Upload.create(Fleet.create(login(gateway)).uploader()).credentials)
    tools = RawStore(WRITER.credentials(gateway, f"tools/{length}"))
    multipart = device.request("POST", [("uploads", "")]).text("UploadId")
    part = [("partNumber", "1"), ("uploadId", multipart)]
    assert device.request("PUT", part, b"x").status == 200
    assert announced(device, "PUT", [("partNumber", "2"), ("uploadId", multipart)], length) in (400, 413)
    assert tools.request("POST", [("append", ""), ("position", "0")], b"x").status == 200
    assert announced(tools, "POST", [("append", ""), ("position", "1")], length) in (400, 413)
    assert announced(tools, "PUT", [], length) in (400, 413)
    # The part and the object are what they were.
    assert device.request("GET", [("uploadId", multipart)]).status == 200
    assert tools.request("GET").body == b"x"


@pytest.mark.parametrize("last", [LARGEST - 1, LARGEST, 2**64])
def test_ranges_of_a_copy_are_refused(gateway, last):
    source = RawStore(WRITER.credentials(gateway, "tools/source"))
    assert source.request("PUT", body=b"content").status == 200
    target = RawStore(WRITER.credentials(gateway, "tools/target"))
    multipart = target.request("POST", [("uploads", "")]).text("UploadId")
    headers = {"x-oss-copy-source": "/data/tools/source", "x-oss-copy-source-range": f"bytes=0-{last}"}
    response = target.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], headers=headers)
    assert response.status == 400
    position = target.request("POST", [("append", ""), ("position", str(last))], b"x")
    assert position.status in (400, 409)
    assert source.request("GET", headers={"Range": f"bytes=0-{last}"}).body == b"content"
