"""XML that no regular client of the store sends: each document is refused, and the gateway is not affected."""

import http.client
import random
from dataclasses import dataclass

import pytest
from support.gateway import Gateway
from support.mutations import Mutations
from support.parties import Fleet, Uploader
from support.raw import RawStore, Response
from support.static_keys import StaticKey
from support.uploads import MIB, Upload, content

REQUESTS, FULL_REQUESTS = 2000, 60_000
SEED = 20261122
WRITER = StaticKey("WRITER", "a secret of the writer", "write")
READER = StaticKey("READER", "a secret of the reader", "read")
PART = b'<Part><PartNumber>1</PartNumber><ETag>"AA"</ETag></Part>'


def completion(inner: bytes) -> bytes:
    return b"<CompleteMultipartUpload>" + inner + b"</CompleteMultipartUpload>"


#: A byte that is not UTF-8 at each possible place, processing instructions, document types in several encodings, and
#: documents that are costly to read. A general parser trapped at six of them.
HOSTILE = {
    "element name": completion(b"<a\xff/>"),
    "attribute name": completion(b"<a \xff='1'/>"),
    "prefix": completion(b"<\xff:a/>"),
    "prefix of an attribute": completion(b"<a \xff:b='1'/>"),
    "comment": completion(b"<!-- \xff -->"),
    "root name": b"<CompleteMultipartUpload\xff/>",
    "text": completion(b"\xff"),
    "attribute value": completion(b"<a b='\xff'/>"),
    "section": completion(b"<![CDATA[\xff]]>"),
    "instruction with data": completion(b"<?x \xff?>"),
    "instruction": completion(b"<?x?>"),
    "instruction before the root": b"<?x?><CompleteMultipartUpload/>",
    "instruction behind the root": b"<CompleteMultipartUpload/><?x?>",
    "end tag": b"<CompleteMultipartUpload></CompleteMultipartUpload\xff>",
    "before the root": b"\xff<CompleteMultipartUpload/>",
    "surrogate": completion(b"<a\xed\xa0\x80/>"),
    "type": b'<!DOCTYPE a [<!ENTITY b "c">]>' + completion(b"&b;"),
    "type in another encoding": "<?xml version='1.0' encoding='IBM037'?><!DOCTYPE a><a/>".encode("cp037"),
    "type in UTF-7": b"<?xml version='1.0' encoding='UTF-7'?>+ADwAIQ-DOCTYPE a+AD4APA-a/+AD4-",
    "attributes": completion(b"<a" + b"".join(b" b%d=''" % number for number in range(200_000)) + b"/>"),
    "depth": b"<CompleteMultipartUpload>" + b"<a>" * 500_000,
    "a long name": completion(b"<" + b"a" * MIB + b"/>"),
    "a long comment": completion(b"<!--" + b"-a" * MIB),
}
#: The pieces that are inserted into documents.
PIECES = [
    b"<", b">", b"/>", b"</", b"<!--", b"-->", b"--", b"<?x?>", b"<?xml version='1.0'?>", b"<![CDATA[", b"]]>", b"&",
    b"&lt;", b"&#0;", b"&#x41;", b"&#xD800;", b"&b;", b";", b"xmlns:a='b'", b"a:", b" a='1'", b"'", b'"', b"=",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"\xff", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xef\xbb\xbf", b"\0", b"\r\n", b"<Part>",
]  # fmt: skip
HOSTILE_IDS = [name.replace(" ", "-") for name in HOSTILE]


@dataclass
class Store:
    """A gateway with two static keys, one of which may only read."""

    gateway: Gateway
    fleet: Fleet

    def uploader(self) -> Uploader:
        return self.fleet.uploader()

    def static(self, key: StaticKey, name: str) -> RawStore:
        """Returns a client for an object with a static key."""
        return RawStore(key.credentials(self.gateway, name))

    @property
    def is_alive(self) -> bool:
        return self.gateway.process.poll() is None


@pytest.fixture(scope="module")
def store(gateway_with, login, tmp_path_factory) -> Store:
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in (WRITER, READER)]
    config = {"uploads": {"part_size_bytes": MIB}, "object_store": {"static_keys": keys}}
    gateway = gateway_with(config)
    return Store(gateway, Fleet.create(login(gateway)))


def initiated(raw: RawStore) -> str:
    return raw.request("POST", [("uploads", "")]).text("UploadId")


def complete(raw: RawStore, multipart: str, body: bytes) -> Response:
    return raw.request("POST", [("uploadId", multipart)], body)


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE_IDS)
def test_a_device_gets_400(store, body):
    raw = RawStore(Upload.create(store.uploader()).credentials)
    assert complete(raw, initiated(raw), body).error() == (400, "MalformedXML")
    assert complete(raw, "NOPE", body).error() == (404, "NoSuchUpload")
    assert store.is_alive


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE_IDS)
def test_credentials_that_only_read_get_no_further_than_the_upload(store, body):
    upload = Upload.create(store.uploader())
    raw = RawStore(upload.credentials)
    upload.size = 1000
    multipart = initiated(raw)
    upload.parts = [upload.store.upload_part(multipart, 1, content(1000))]
    upload.etag = upload.store.complete(multipart, upload.parts)
    upload.complete()
    # A completed upload can be completed again, so its document is evaluated.
    assert complete(raw, multipart, body).error() == (400, "MalformedXML")
    assert complete(raw, "NOPE", body).error() == (404, "NoSuchUpload")
    assert store.is_alive


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE_IDS)
def test_a_static_key_that_only_reads_is_denied(store, body):
    name = "tools/object"
    multipart = initiated(store.static(WRITER, name))
    assert complete(store.static(READER, name), multipart, body).error() == (403, "AccessDenied")
    assert complete(store.static(READER, name), "NOPE", body).error() == (404, "NoSuchUpload")
    assert store.is_alive


def test_refusals_do_not_wait_for_the_body(store):
    """A client that asks before sending does not get `100 Continue`: the checks of upload and rights need no document."""
    name = "tools/refused"
    multipart = initiated(store.static(WRITER, name))
    for upload, size, expected in (
        ("NOPE", 1000, (404, "NoSuchUpload")),
        (multipart, 1000, (403, "AccessDenied")),
    ):
        assert header_only(store.static(READER, name), upload, size).error() == expected
    assert header_only(store.static(WRITER, name), multipart, 5 * MIB).error() == (400, "MalformedXML")


def header_only(raw: RawStore, multipart: str, size: int) -> Response:
    """Returns the response to a Complete whose body waits for `100 Continue`."""
    target, headers = raw.head("POST", [("uploadId", multipart)])
    connection = http.client.HTTPConnection(raw.address, timeout=20)
    try:
        connection.putrequest("POST", target)
        for name, value in (headers | {"Content-Length": str(size), "Expect": "100-continue"}).items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        return Response(reply.status, reply.headers, reply.read())
    finally:
        connection.close()


def test_changed_documents_never_fail_the_server(store, is_full):
    """No response is a server error, and the process lives."""
    device = RawStore(Upload.create(store.uploader()).credentials)
    multipart = initiated(device)
    etag = device.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], content(1000)).headers["ETag"].encode()
    right = completion(b"<Part><PartNumber>1</PartNumber><ETag>" + etag + b"</ETag></Part>")
    documents = [
        b'<?xml version="1.0" encoding="UTF-8"?>\n' + right,
        b"<s:CompleteMultipartUpload xmlns:s='urn:s3'><!-- one --><s:Part a='1'><s:PartNumber>1</s:PartNumber><s:ETag>"
        b"&quot;&#65;&#x41;&quot;</s:ETag><s:ChecksumCRC32>AAAAAA==</s:ChecksumCRC32></s:Part></s:CompleteMultipartUpload>",
        completion(PART * 20),
        *(body for body in HOSTILE.values() if len(body) < 1000),
    ]
    writer, reader = (store.static(key, "tools/changed") for key in (WRITER, READER))
    own = initiated(writer)
    heads = [
        *[device.head("POST", [("uploadId", multipart)])] * 4,
        writer.head("POST", [("uploadId", own)]),
        reader.head("POST", [("uploadId", own)]),
        device.head("POST", [("uploadId", "NOPE")]),
        device.head("PUT", [("tagging", "")]),
    ]
    mutations = Mutations(random.Random(SEED), documents, PIECES)
    connection = http.client.HTTPConnection(device.address, timeout=20)
    seen: dict[int, int] = {}
    for number in range(FULL_REQUESTS if is_full else REQUESTS):
        body, (target, headers) = mutations.next(), mutations.random.choice(heads)
        try:
            connection.request("PUT" if "tagging" in target else "POST", target, body, headers)
            reply = connection.getresponse()
            status = reply.status
            reply.read()
        except (http.client.HTTPException, OSError) as error:
            # A refusal at the header may close the connection before the body was sent.
            connection.close()
            assert store.is_alive, f"request {number}: {body!r}: {error}"
            continue
        assert status < 500 or status in (501, 503), f"request {number}: {status} for {body!r}"
        seen[status] = seen.get(status, 0) + 1
    connection.close()
    assert store.is_alive
    # All documents were evaluated: some were accepted, some refused, and none was lost.
    assert {200, 400, 403, 404, 501} <= seen.keys(), seen
    assert sum(seen.values()) > 0.99 * (FULL_REQUESTS if is_full else REQUESTS), seen
