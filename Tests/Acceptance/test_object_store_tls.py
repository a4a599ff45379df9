"""TLS at the object store's listener: SDKs over https, curl, and a certificate change during a transfer."""

import http.client
import signal
import socket
import ssl
import subprocess
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from support.certificates import Authority
from support.gateway import eventually
from support.oss import CLIENTS
from support.parties import Fleet
from support.process_usage import memory
from support.uploads import MIB, Upload, completed, content

PART_SIZE = MIB


@pytest.fixture(scope="module")
def secured(gateway_with, authority):
    tls = authority.tls("object-store", addresses=("127.0.0.1",))
    return gateway_with({"tls": tls, "uploads": {"part_size_bytes": PART_SIZE}})


@pytest.fixture(scope="module")
def secured_fleet(secured, login):
    return Fleet.create(login(secured))


@pytest.fixture
def trusting(monkeypatch, authority):
    """The SDKs' setting for private authorities: both use `requests`."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.path))


def connect(gateway, context) -> ssl.SSLSocket:
    host, port = gateway.object_store.rsplit(":", 1)
    return context.wrap_socket(socket.create_connection((host, int(port)), timeout=20), server_hostname=host)


def served(gateway) -> int:
    """Returns the serial number of the presented certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with connect(gateway, context) as secure:
        return x509.load_der_x509_certificate(secure.getpeercert(binary_form=True)).serial_number


@pytest.mark.parametrize("client", CLIENTS)
def test_the_sdks_upload_and_download(secured_fleet, trusting, client):
    upload = Upload.create(secured_fleet.uploader(), client)
    assert upload.credentials.endpoint.startswith("https://127.0.0.1:")
    data = content(2 * PART_SIZE + 12345)
    upload.multipart(data)
    assert upload.store.get("bytes=1048000-1049000") == data[1048000:1049001]
    upload.complete({"tls": client})
    assert upload.store.get() == data


def test_client_without_the_authority_sends_nothing(secured_fleet):
    upload = Upload.create(secured_fleet.uploader(), "oss2-v4")
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        upload.put(b"secret")


def test_curl_downloads_whole_objects_and_ranges(secured, secured_fleet, trusting, authority, tmp_path):
    data = content(4 * MIB + 1)
    completed(secured_fleet.uploader(), data, {"by": "curl"})
    user = secured_fleet.user
    file_id = user.objects("ListObjects", filter="raw_tags.by=curl").objects[0].file_id
    url = user.objects("RequestDownload", file_ids=[file_id]).files[0].read.uri
    assert url.startswith(f"https://{secured.object_store}/")
    command = ["curl", "-sS", "--fail", "--cacert", authority.path, "-o", tmp_path / "whole", url]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "whole").read_bytes() == data
    command[-3:] = ["-o", tmp_path / "range", "-r", "4194303-", url]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "range").read_bytes() == data[4194303:]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_tls_versions_are_served(secured, authority, version):
    context = ssl.create_default_context(cafile=authority.path)
    context.minimum_version = context.maximum_version = version
    with connect(secured, context) as secure:
        assert secure.version() == version.name.replace("_", ".")
        assert "GCM" in secure.cipher()[0] or "CHACHA20" in secure.cipher()[0]
        secure.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert secure.recv(12) == b"HTTP/1.1 403"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1")
def test_older_versions_are_refused(secured, authority):
    context = ssl.create_default_context(cafile=authority.path)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_2
    connect(secured, context).close()
    # The client would accept; libmicrohttpd closes without an alert.
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match="(?i)protocol"):
        connect(secured, context)


@pytest.mark.parametrize("cipher", ["AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA"], ids=["no ECDHE", "no AEAD"])
def test_weak_suites_are_refused(secured, authority, cipher):
    context = ssl.create_default_context(cafile=authority.path)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(f"{cipher}:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError):
        connect(secured, context)


def test_memory_does_not_grow_with_the_object(secured, secured_fleet, trusting):
    data = content(96 * MIB)
    before = memory(secured.process.pid, "VmHWM")
    upload = completed(secured_fleet.uploader(), data)
    assert upload.store.get() == data
    after = memory(secured.process.pid, "VmHWM")
    assert after // MIB - before // MIB < 48, f"{before} bytes, then {after}"


def test_sighup_shows_the_new_certificate_and_drops_no_transfer(gateway_with, tmp_path, login, monkeypatch):
    authority = Authority(tmp_path, "authority")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.path))
    certificate, key, first = authority.issue("server", addresses=("127.0.0.1",))
    tls = {"certificate": str(certificate), "key": str(key), "listeners": ["object-store"]}
    gateway = gateway_with({"tls": tls})
    fleet = Fleet.create(login(gateway))
    data = content(32 * MIB)
    upload = completed(fleet.uploader(), data)
    url = urlsplit(upload.store.presign_get(600))
    assert served(gateway) == first

    context = ssl.create_default_context(cafile=authority.path)
    connection = http.client.HTTPSConnection(url.netloc, timeout=20, context=context)
    connection.request("GET", f"{url.path}?{url.query}")
    reply = connection.getresponse()
    received = reply.read(MIB)

    key.write_text("no key")
    gateway.process.send_signal(signal.SIGHUP)
    eventually(lambda: "reload failed" in gateway.stderr)
    assert served(gateway) == first

    second = authority.issue("server", addresses=("127.0.0.1",))[2]
    gateway.process.send_signal(signal.SIGHUP)
    eventually(lambda: served(gateway) == second)
    # The earlier transfer continues, and its connection accepts another request.
    assert received + reply.read() == data
    connection.request("HEAD", f"{url.path}?{url.query}")
    assert connection.getresponse().status in (200, 403)
    connection.close()


def test_http_endpoint_is_refused_where_the_listener_uses_tls(gateway_with, authority):
    config = {"tls": authority.tls("object-store"), "object_store": {"public_endpoint": "http://store.example.com"}}
    with pytest.raises(AssertionError, match="object_store.public_endpoint begins with http://"):
        gateway_with(config)
