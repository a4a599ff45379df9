"""A client of the store without an SDK: it returns the bytes of a response, and signs like an old Go uploader."""

import base64
import hashlib
import hmac
import http.client
import ssl
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from .oss import Credentials
from .waiting import WAIT_SECONDS


@dataclass
class Response:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def xml(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.body)

    def text(self, tag: str) -> str | None:
        """Returns the text of the document's child with that name."""
        return self.xml.findtext(tag)

    def error(self) -> tuple[int, str | None]:
        """Returns the status and the code of an error document."""
        assert self.xml.tag == "Error", self.body
        return self.status, self.text("Code")


def signature_v1(secret: str, method: str, resource: str, headers: dict[str, str], query: list[tuple[str, str]]) -> str:
    """Returns the V1 signature with *every* query parameter in the canonical resource, not only the sub-resources."""
    lower = {name.lower(): value for name, value in headers.items()}
    oss_headers = "".join(f"{name}:{lower[name]}\n" for name in sorted(lower) if name.startswith("x-oss-"))
    signed = "&".join(f"{name}={value}" if value else name for name, value in sorted(query))
    text = "\n".join(
        [
            method,
            lower.get("content-md5", ""),
            lower.get("content-type", ""),
            lower["date"],
            oss_headers + resource + (f"?{signed}" if signed else ""),
        ]
    )
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()


def authorization_v4_over_date(
    credentials: Credentials, method: str, resource: str, headers: dict[str, str], query: list[tuple[str, str]]
) -> str:
    """Returns the Authorization field of aliyun-oss-go-sdk 3.0.2: version 4, with the text of `Date` in the string to sign."""
    lower = {name.lower(): value for name, value in headers.items()}
    day = parsedate_to_datetime(lower["date"]).strftime("%Y%m%d")
    scope = (day, credentials.region, "oss", "aliyun_v4_request")
    signed = sorted(name for name in lower if name.startswith("x-oss-") or name in ("content-md5", "content-type"))
    canonical = "\n".join(
        [
            method,
            quote(resource, safe="/-_.~"),
            "&".join(f"{quote(n, safe='')}={quote(v, safe='')}" if v else quote(n, safe="") for n, v in sorted(query)),
            "".join(f"{name}:{lower[name]}\n" for name in signed),
            "",
            "UNSIGNED-PAYLOAD",
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["OSS4-HMAC-SHA256", lower["date"], "/".join(scope), digest])
    key = f"aliyun_v4{credentials.secret}".encode()
    for step in scope:
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return f"OSS4-HMAC-SHA256 Credential={credentials.access_key_id}/{'/'.join(scope)},Signature={signature}"


class RawStore:
    """A client that signs with V1 in path style, and returns each response unchanged. A static key has no token.

    `authority` signed the certificate of a TLS endpoint.
    """

    def __init__(self, credentials: Credentials, authority: Path | None = None):
        self.credentials = credentials
        self.authority = authority
        self.address = urlsplit(credentials.endpoint).netloc

    def request(
        self,
        method: str,
        query: list[tuple[str, str]] = (),
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        key: str | None = None,
        sign: bool = True,
    ) -> Response:
        """Sends a request on a new connection; `sign=False` sends it unsigned."""
        target, headers = self.head(method, query, headers, key, sign)
        return fetch(self.address, method, target, body, headers, self.authority)

    def head(
        self,
        method: str,
        query: list[tuple[str, str]] = (),
        headers: dict[str, str] | None = None,
        key: str | None = None,
        sign: bool = True,
    ) -> tuple[str, dict[str, str]]:
        """Returns the request's target and its signed headers."""
        credentials = self.credentials
        resource = f"/{credentials.bucket}/{key or credentials.key}"
        headers = {"Date": formatdate(usegmt=True)} | (headers or {})
        if sign:
            # A static key has no token.
            if credentials.token:
                headers["x-oss-security-token"] = credentials.token
            signature = signature_v1(credentials.secret, method, resource, headers, list(query))
            headers["Authorization"] = f"OSS {credentials.access_key_id}:{signature}"
        target = quote(resource, safe="/-_.~")
        if query:
            target += "?" + "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query)
        return target, headers


def fetch(
    address: str,
    method: str,
    target: str,
    body: bytes | None = None,
    headers: dict | None = None,
    authority: Path | None = None,
) -> Response:
    """Sends an HTTP/1.1 request to `host:port`, with TLS if the authority of its certificate is given."""
    if authority:
        context = ssl.create_default_context(cafile=authority)
        connection = http.client.HTTPSConnection(address, timeout=WAIT_SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(address, timeout=WAIT_SECONDS)
    try:
        connection.request(method, target, body=body, headers=headers or {})
        reply = connection.getresponse()
        return Response(reply.status, reply.headers, reply.read())
    finally:
        connection.close()


def fetch_url(url: str, method: str = "GET", body: bytes | None = None, **options) -> Response:
    """Sends a request to a complete URL, such as a presigned one."""
    parts = urlsplit(url)
    return fetch(parts.netloc, method, parts.path + (f"?{parts.query}" if parts.query else ""), body, **options)
