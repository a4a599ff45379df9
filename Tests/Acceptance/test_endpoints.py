"""Clients find the bucket: in the path or in the host name, depending on the endpoint that they were given."""

import json
import socket

import pytest
from support.oss import CLIENTS
from support.parties import Fleet
from support.uploads import Upload, content

ENDPOINTS = {
    # An address: path style, no region.
    "http://127.0.0.1:{port}": "",
    # A name in OSS's own form: the bucket is in the host name, and the region is in the signature's scope.
    "http://oss-cn-testing.example.test:{port}": "cn-testing",
    # Any other name: the bucket is in the host name; no region.
    "http://store.example.test:{port}": "",
    # One SDK puts the bucket into the host name here, the other one into the path.
    "http://localhost:{port}": "",
}


@pytest.fixture
def names_lead_here(monkeypatch):
    """Every name below example.test and localhost resolves to this machine."""
    resolve = socket.getaddrinfo

    def here(host, *arguments, **options):
        name = host.decode() if isinstance(host, bytes) else host
        ours = isinstance(name, str) and name.endswith((".example.test", ".localhost", "localhost"))
        return resolve("127.0.0.1" if ours else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)


@pytest.fixture(scope="module", params=ENDPOINTS)
def fleet(request, gateway_with, login) -> tuple[Fleet, str, str]:
    """Devices of a gateway whose clients get that endpoint; the endpoint, and its region."""
    gateway = gateway_with({"uploads": {"part_size_bytes": 65536}})
    gateway.stop()
    endpoint = request.param.format(port=gateway.object_store.rsplit(":", 1)[1])
    config = {"uploads": {"part_size_bytes": 65536}, "object_store": {"public_endpoint": endpoint}}
    gateway.config.write_text(json.dumps(config))
    gateway.start()
    return Fleet.create(login(gateway)), endpoint, ENDPOINTS[request.param]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_reaches_its_bucket(fleet, names_lead_here, client):
    devices, endpoint, region = fleet
    upload = Upload.create(devices.uploader(), client)
    assert (upload.credentials.endpoint, upload.credentials.region) == (endpoint, region)
    data = content(2 * 65536 + 10)
    upload.multipart(data).complete()
    assert upload.store.get() == data
    upload.credentials = upload.reissued()
    assert upload.store.head().etag == upload.etag
