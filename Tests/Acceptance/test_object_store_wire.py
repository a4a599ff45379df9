"""The object store's responses byte by byte: details that no SDK exposes, and on which some clients depend."""

import base64
import hashlib
import socket
from email.utils import formatdate
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

import pytest
from support.raw import RawStore, authorization_v4_over_date, fetch
from support.uploads import content


@pytest.fixture
def raw(upload) -> RawStore:
    return RawStore(upload.credentials)


def assert_flat(document: ElementTree.Element, *nested: str) -> None:
    """Checks that no child has children (except the named ones), and none is repeated; otherwise the Swift SDK drops
    the response.
    """
    for child in document:
        assert child.tag in nested or len(child) == 0, f"{child.tag} is nested"
    tags = [child.tag for child in document if child.tag not in nested]
    assert len(tags) == len(set(tags)), f"a child is repeated: {tags}"


def initiated(raw: RawStore) -> str:
    return raw.request("POST", [("uploads", "")]).text("UploadId")


def test_every_answer_has_a_request_id(raw):
    responses = [
        raw.request("PUT", body=b"x"),
        raw.request("HEAD"),
        raw.request("GET"),
        raw.request("POST", [("uploads", "")]),
        raw.request("GET", key="another"),
        raw.request("GET", sign=False),
    ]
    ids = [response.headers["x-oss-request-id"] for response in responses]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def test_initiate_answers_with_the_upload_id(raw):
    response = raw.request("POST", [("uploads", "")])
    assert response.status == 200
    assert_flat(response.xml)
    assert response.xml.tag == "InitiateMultipartUploadResult"
    assert response.text("Bucket") == raw.credentials.bucket
    assert response.text("Key") == raw.credentials.key
    assert response.text("UploadId")


def test_upload_part_answers_with_etag_and_checksum(raw):
    multipart = initiated(raw)
    response = raw.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], content(1000))
    assert response.status == 200
    assert response.headers["ETag"] == f'"{hashlib.md5(content(1000)).hexdigest().upper()}"'
    assert response.headers["x-oss-hash-crc64ecma"].isdigit()
    assert response.body == b""


def test_list_parts_answers_page_by_page(raw):
    multipart = initiated(raw)
    for number in (1, 2, 3):
        raw.request("PUT", [("partNumber", str(number)), ("uploadId", multipart)], content(100, seed=number))
    response = raw.request("GET", [("max-parts", "2"), ("part-number-marker", ""), ("uploadId", multipart)])
    assert_flat(response.xml, "Part")
    assert response.xml.tag == "ListPartsResult"
    assert response.text("UploadId") == multipart
    assert response.text("PartNumberMarker") == "0"
    assert response.text("NextPartNumberMarker") == "2"
    assert response.text("MaxParts") == "2"
    assert response.text("IsTruncated") == "true"
    parts = response.xml.findall("Part")
    assert [part.findtext("PartNumber") for part in parts] == ["1", "2"]
    for part in parts:
        assert {child.tag for child in part} >= {"PartNumber", "LastModified", "ETag", "Size", "HashCrc64ecma"}
    rest = raw.request("GET", [("part-number-marker", "2"), ("uploadId", multipart)])
    assert rest.text("IsTruncated") == "false"
    assert [part.findtext("PartNumber") for part in rest.xml.findall("Part")] == ["3"]


@pytest.mark.parametrize("quotes", ['"{}"', "&quot;{}&quot;", "{}"], ids=["raw", "escaped", "none"])
def test_complete_answers_with_the_object(raw, quotes):
    multipart = initiated(raw)
    etag = raw.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], content(1000)).headers["ETag"]
    part = f"<Part><PartNumber>1</PartNumber><ETag>{quotes.format(etag.strip(chr(34)))}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
    response = raw.request("POST", [("uploadId", multipart)], body)
    assert response.status == 200
    assert_flat(response.xml)
    assert response.xml.tag == "CompleteMultipartUploadResult"
    assert {child.tag for child in response.xml} >= {"Location", "Bucket", "Key", "ETag"}
    assert response.text("ETag") == response.headers["ETag"]
    assert response.headers["x-oss-hash-crc64ecma"].isdigit()
    assert raw.request("HEAD").headers["ETag"] == response.headers["ETag"]


def test_complete_all_takes_every_part(raw):
    multipart = initiated(raw)
    raw.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], content(1000))
    response = raw.request("POST", [("uploadId", multipart)], b"", {"x-oss-complete-all": "yes"})
    assert response.status == 200
    assert raw.request("GET").body == content(1000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"<CompleteMultipartUpload>",
        b"<CompleteMultipartUpload></CompleteMultipartUpload>",
        b"<Other><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></Other>",
        b"<CompleteMultipartUpload><Part><PartNumber>x</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><CompleteMultipartUpload>&a;</CompleteMultipartUpload>',
    ],
    ids=["empty", "text", "open", "no parts", "other", "number", "entity"],
)
def test_complete_with_a_malformed_body_is_refused(raw, body):
    multipart = initiated(raw)
    raw.request("PUT", [("partNumber", "1"), ("uploadId", multipart)], content(1000))
    assert raw.request("POST", [("uploadId", multipart)], body).error()[0] == 400
    assert raw.request("GET", [("uploadId", multipart)]).status == 200


def test_complete_with_parts_out_of_order_is_refused(raw):
    multipart = initiated(raw)
    etags = [
        raw.request("PUT", [("partNumber", str(number)), ("uploadId", multipart)], data).headers["ETag"]
        for number, data in ((1, content(1024 * 1024)), (2, content(10)))
    ]
    parts = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{etags[number - 1]}</ETag></Part>" for number in (2, 1)
    )
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    assert raw.request("POST", [("uploadId", multipart)], body).error() == (400, "InvalidPartOrder")


def test_error_document_has_its_elements(raw):
    response = raw.request("GET")
    assert response.status == 404
    assert_flat(response.xml)
    assert response.xml.tag == "Error"
    assert {child.tag for child in response.xml} >= {"Code", "Message", "RequestId", "HostId"}
    assert response.text("Code") == "NoSuchKey"
    assert response.text("RequestId") == response.headers["x-oss-request-id"]


@pytest.mark.parametrize("signed, status, code", [(True, 404, "NoSuchKey"), (False, 403, "AccessDenied")])
def test_an_error_of_head_is_in_two_headers(raw, signed, status, code):
    response = raw.request("HEAD", sign=signed)
    assert (response.status, response.body) == (status, b"")
    assert response.headers["x-oss-err"] == response.headers["x-oss-error"]
    document = ElementTree.fromstring(base64.b64decode(response.headers["x-oss-err"]))
    assert (document.tag, document.findtext("Code")) == ("Error", code)


def test_head_answers_with_the_fields_of_the_object(raw):
    raw.request("PUT", body=content(1000))
    response = raw.request("HEAD")
    assert response.status == 200
    assert response.headers["Content-Length"] == "1000"
    assert response.headers["Last-Modified"].endswith(" GMT")
    assert response.headers["ETag"] == f'"{hashlib.md5(content(1000)).hexdigest().upper()}"'
    assert response.headers["x-oss-hash-crc64ecma"].isdigit()


def test_content_md5_is_checked_before_the_part_is_acknowledged(raw):
    multipart = initiated(raw)
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    right = base64.b64encode(hashlib.md5(content(1000)).digest()).decode()
    query = [("partNumber", "1"), ("uploadId", multipart)]
    status, code = raw.request("PUT", query, content(1000), {"Content-MD5": wrong}).error()
    assert status == 400
    assert code in ("InvalidDigest", "BadDigest")
    assert raw.request("PUT", query, content(1000), {"Content-MD5": "nonsense"}).error()[0] == 400
    assert raw.request("GET", [("uploadId", multipart)]).xml.findall("Part") == []
    assert raw.request("PUT", query, content(1000), {"Content-MD5": right}).status == 200


def test_range_past_the_end_is_refused(raw):
    raw.request("PUT", body=content(1000))
    response = raw.request("GET", headers={"Range": "bytes=1000-", "x-oss-range-behavior": "standard"})
    assert response.status == 416


def test_conditions_of_get_are_checked(raw):
    raw.request("PUT", body=content(1000))
    known = raw.request("HEAD").headers
    for method in ["GET", "HEAD"]:
        for condition in [{"If-None-Match": known["ETag"]}, {"If-Modified-Since": known["Last-Modified"]}]:
            response = raw.request(method, headers=condition)
            assert (response.status, response.body, response.headers["ETag"]) == (304, b"", known["ETag"])
        assert raw.request(method, headers={"If-Match": '"another"'}).status == 412
        assert raw.request(method, headers={"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}).status == 412
    assert raw.request("GET", headers={"If-Match": '"another"'}).error() == (412, "PreconditionFailed")
    resumed = {"Range": "bytes=990-", "If-Range": known["ETag"]}
    assert raw.request("GET", headers=resumed).body == content(1000)[990:]
    assert raw.request("GET", headers=resumed | {"If-Range": '"another"'}).body == content(1000)


def test_unknown_operations_are_not_implemented(raw):
    for method, query in [
        ("GET", [("acl", "")]),
        ("PUT", [("tagging", "")]),
        ("POST", [("append", ""), ("position", "0")]),
    ]:
        assert raw.request(method, query, b"" if method != "GET" else None).error() == (501, "NotImplemented")


def test_two_ways_to_authenticate_are_refused(raw):
    query = [("OSSAccessKeyId", "x"), ("Expires", "9999999999"), ("Signature", "x")]
    assert raw.request("GET", query).error()[0] in (400, 403)


@pytest.mark.parametrize("key", ["a\0b", "a\x01b", "\uffff", "k" * 1025])
def test_key_that_cannot_be_listed_is_refused(raw, key):
    target = f"/{raw.credentials.bucket}/{quote(key, safe='/.')}"
    assert fetch(raw.address, "GET", target).status == 400


@pytest.mark.parametrize(
    "head",
    [
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length : 5\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Host: another\r\n",
        "X-Much: " + "x" * 20_000 + "\r\n",
        "".join(f"X-{number}: x\r\n" for number in range(120)),
        "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nX: a\r\n\tb\r\n",
        "Content-Length: 5\x000\r\n",
        "Transfer-Encoding: chunked\0x\r\n",
        "X\0: a\r\nContent-Length: 5\r\n",
        "Content-Length: 5\n",
        "X: a\nContent-Length: 5\r\n",
    ],
    ids=[
        "both lengths",
        "two lengths",
        "space",
        "encoding",
        "two hosts",
        "long",
        "many",
        "folded encoding",
        "folded line",
        "NUL in a length",
        "NUL in an encoding",
        "NUL in a name",
        "bare LF at the end",
        "bare LF",
    ],
)
def test_a_request_that_could_be_smuggled_is_refused_and_the_connection_closed(raw, head):
    host, port = raw.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        request = f"PUT /{raw.credentials.bucket}/k HTTP/1.1\r\nHost: {raw.address}\r\n{head}\r\nhello"
        connection.sendall(request.encode())
        response = b""
        try:
            while chunk := connection.recv(65536):
                response += chunk
        except ConnectionResetError:
            pass
    assert response.startswith(b"HTTP/1.1 4"), response[:200]
    assert response.split(b" ")[1] in (b"400", b"431"), response[:200]


@pytest.mark.parametrize(
    "request_line",
    ["GET /k\0x HTTP/1.1\r\n", "GET /k HTTP/1.1\n", "GET  /k HTTP/1.1\r\n", "GET /k  HTTP/1.1\r\n"],
    ids=["NUL", "bare LF", "two blanks before", "two blanks behind"],
)
def test_a_request_line_that_others_read_differently_is_refused(raw, request_line):
    host, port = raw.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(f"{request_line}Host: {raw.address}\r\n\r\n".encode())
        response = connection.recv(65536)
    # A response of the store would contain an error in XML.
    assert response[9:12] in (b"400", b"") and b"<Code>" not in response


def test_blanks_around_values_and_queries_are_taken(raw):
    host, port = raw.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        lines = f"GET /k?a=b&c=%20&d HTTP/1.1\r\nHost:{raw.address}\r\nA:  \t b \r\nB:\r\nCookie: a=b; c=d\r\n\r\n"
        # Independent of its division into packets.
        for byte in lines.encode():
            connection.sendall(bytes([byte]))
        # The store's own error.
        assert b"<Code>" in connection.recv(65536)


def test_refusal_comes_before_100_continue(raw, upload):
    """Refused before `100 Continue`, so that a client with wrong credentials sends no body."""
    host, port = raw.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(
            f"PUT /{raw.credentials.bucket}/{raw.credentials.key} HTTP/1.1\r\nHost: {raw.address}\r\n"
            "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 403")


def signed_over_date(credentials, method: str, query: list[tuple[str, str]], body: bytes | None, date: str):
    """Makes a request like ossutil 1.x with `--sign-version v4`."""
    resource = f"/{credentials.bucket}/{credentials.key}"
    headers = {
        "Date": date,
        "Content-Type": "application/octet-stream",
        "x-oss-content-sha256": "UNSIGNED-PAYLOAD",
        "x-oss-security-token": credentials.token,
    }
    headers["Authorization"] = authorization_v4_over_date(credentials, method, resource, headers, query)
    text = "&".join(f"{name}={quote(value, safe='')}" if value else name for name, value in query)
    target = quote(resource, safe="/-_.~") + (f"?{text}" if text else "")
    return fetch(urlsplit(credentials.endpoint).netloc, method, target, body, headers)


def test_version_4_may_sign_the_date_field(raw, upload):
    date = formatdate(usegmt=True)
    begun = signed_over_date(raw.credentials, "POST", [("uploads", "")], None, date)
    assert begun.status == 200, begun.body
    part = [("partNumber", "1"), ("uploadId", begun.text("UploadId"))]
    assert signed_over_date(raw.credentials, "PUT", part, content(1000), date).status == 200
    # The date is signed: another date in the field requires another signature.
    headers = {"Date": "Sun, 22 Nov 2026 08:09:10 GMT", "x-oss-security-token": raw.credentials.token}
    resource = f"/{raw.credentials.bucket}/{raw.credentials.key}"
    headers["Authorization"] = authorization_v4_over_date(raw.credentials, "GET", resource, headers, [])
    headers["Date"] = "Sun, 22 Nov 2026 08:09:11 GMT"
    response = fetch(urlsplit(raw.credentials.endpoint).netloc, "GET", resource, None, headers)
    assert response.error() == (403, "SignatureDoesNotMatch")
