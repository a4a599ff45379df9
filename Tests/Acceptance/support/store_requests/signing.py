"""Signers of the store's protocols: OSS's versions 1 and 4 and S3's version 4, in the header and in the URL, and of forms."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

from .wire import Pairs, Request, escaped

HEADERS = ("oss1", "oss4", "s3")
URLS = ("oss1-url", "oss4-url", "s3-url")
DIALECTS = (*HEADERS, *URLS)
UNSIGNED = "UNSIGNED-PAYLOAD"
SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
REGION = "us-east-1"


@dataclass(frozen=True)
class Keys:
    id: str
    secret: str
    token: str | None = None


@dataclass(frozen=True)
class Signing:
    """How a request is signed."""

    dialect: str
    keys: Keys
    #: The difference of the signed date from now, in seconds.
    skew: int = 0
    #: The lifetime of a URL in seconds.
    lifetime: int = 900
    #: The last line of S3's text to sign; `None` = the body's SHA-256.
    payload: str | None = None
    #: The host that S3's client signs; `None` = the one that it sends.
    host: str | None = None
    #: Names of additional signed fields in OSS's version 4.
    additional: tuple[str, ...] = ()
    #: The form of chunks: their size, and the trailer.
    chunk: int = 0
    trailer: tuple[str, str] | None = None

    @property
    def date(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.skew)


def sign(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    """Returns the target, the fields and the body of the signed request."""
    signer = {
        "oss1": _oss1, "oss4": _oss4, "s3": _s3, "oss1-url": _oss1_url, "oss4-url": _oss4_url, "s3-url": _s3_url,
    }[how.dialect]  # fmt: skip
    return signer(request, how, host)


def _basic(date: datetime) -> str:
    return date.strftime("%Y%m%dT%H%M%SZ")


def _canonical(fields: Pairs, is_signed) -> list[tuple[str, str]]:
    """Returns the signed fields in lower case, sorted, each with all of its values."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        if is_signed(name.lower()):
            values.setdefault(name.lower(), []).append(value.strip())
    return sorted((name, ",".join(all_values)) for name, all_values in values.items())


def _first(fields: Pairs, name: str) -> str:
    return next((value for has, value in fields if has.lower() == name), "")


def _v1(request: Request, fields: Pairs, date: str, query, secret: str) -> str:
    named = "".join(f"{name}:{value}\n" for name, value in _canonical(fields, lambda name: name.startswith("x-oss-")))
    signed = "&".join(f"{name}={value}" if value else name for name, value in sorted((n, v or "") for n, v in query))
    lines = [request.method, _first(fields, "content-md5"), _first(fields, "content-type"), date]
    text = "\n".join([*lines, named + request.resource + (f"?{signed}" if signed else "")])
    return base64.b64encode(hmac.digest(secret.encode(), text.encode(), "sha1")).decode()


def _oss1(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    fields = request.fields
    date = _first(fields, "x-oss-date")
    if not date:
        date = format_datetime(how.date, usegmt=True)
        fields += (("Date", date),)
    if how.keys.token is not None:
        fields += (("x-oss-security-token", how.keys.token),)
    signature = _v1(request, fields, date, request.query, how.keys.secret)
    return request.written(), (*fields, ("Authorization", f"OSS {how.keys.id}:{signature}")), request.body


def _oss1_url(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    expires = str(int(how.date.timestamp()) + how.lifetime)
    query = request.query
    if how.keys.token is not None:
        query += (("security-token", how.keys.token),)
    signature = _v1(request, request.fields, expires, query, how.keys.secret)
    query += (("OSSAccessKeyId", how.keys.id), ("Expires", expires), ("Signature", signature))
    return request.written(query), request.fields, request.body


def _v4_query(query, empty: str) -> str:
    pairs = sorted((escaped(name), escaped(value or "")) for name, value in query)
    return "&".join(f"{name}={value}" if value else name + empty for name, value in pairs)


def signing_key(secret: str, scope: list[str], prefix: str) -> bytes:
    key = (prefix + secret).encode()
    for step in scope:
        key = hmac.digest(key, step.encode(), "sha256")
    return key


def _v4(canonical: str, algorithm: str, date: str, scope: list[str], secret: str) -> str:
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()
    text = "\n".join([algorithm, date, "/".join(scope), digest])
    key = signing_key(secret, scope, "AWS4" if algorithm.startswith("AWS4") else "aliyun_v4")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _oss4_signature(request: Request, fields: Pairs, query, how: Signing, date: str) -> str:
    def is_signed(name: str) -> bool:
        return name.startswith("x-oss-") or name in ("content-type", "content-md5", *how.additional)

    lines = "".join(f"{name}:{value}\n" for name, value in _canonical(fields, is_signed))
    path = quote(request.resource, safe="/-_.~")
    parts = [request.method, path, _v4_query(query, ""), lines, ";".join(how.additional), UNSIGNED]
    return _v4("\n".join(parts), "OSS4-HMAC-SHA256", date, _scope(date, "oss"), how.keys.secret)


def _scope(date: str, service: str) -> list[str]:
    return [date[:8], REGION, service, "aliyun_v4_request" if service == "oss" else "aws4_request"]


def _oss4(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    date = _basic(how.date)
    fields = (*request.fields, ("x-oss-content-sha256", UNSIGNED), ("x-oss-date", date))
    if "host" in how.additional:
        fields = (("host", host), *fields)
    if how.keys.token is not None:
        fields += (("x-oss-security-token", how.keys.token),)
    signature = _oss4_signature(request, fields, request.query, how, date)
    named = f",AdditionalHeaders={';'.join(how.additional)}" if how.additional else ""
    credential = "/".join([how.keys.id, *_scope(date, "oss")])
    value = f"OSS4-HMAC-SHA256 Credential={credential}{named},Signature={signature}"
    fields = tuple(pair for pair in fields if pair[0] != "host")
    return request.written(), (*fields, ("Authorization", value)), request.body


def _oss4_url(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    date = _basic(how.date)
    query = request.query + (
        ("x-oss-credential", "/".join([how.keys.id, *_scope(date, "oss")])),
        ("x-oss-date", date),
        ("x-oss-expires", str(how.lifetime)),
        ("x-oss-signature-version", "OSS4-HMAC-SHA256"),
    )
    if how.keys.token is not None:
        query += (("x-oss-security-token", how.keys.token),)
    if how.additional:
        query += (("x-oss-additional-headers", ";".join(how.additional)),)
    fields = (("host", host), *request.fields) if "host" in how.additional else request.fields
    signature = _oss4_signature(request, fields, query, how, date)
    return request.written((*query, ("x-oss-signature", signature))), request.fields, request.body


def _s3_signature(request: Request, fields: Pairs, query, date: str, how: Signing, payload: str) -> tuple[str, str]:
    """Returns the list of signed names, and the signature."""
    signed = _canonical(fields, lambda name: name in ("host", "content-type", "content-md5") or "x-amz-" in name[:6])
    names = ";".join(name for name, _ in signed)
    lines = "".join(f"{name}:{' '.join(value.split())}\n" for name, value in signed)
    if query is not None:
        query = (*query, ("X-Amz-SignedHeaders", names))
    path = quote(request.path, safe="/-_.~")
    canonical = [request.method, path, _v4_query(request.query if query is None else query, "="), lines, names, payload]
    return names, _v4("\n".join(canonical), "AWS4-HMAC-SHA256", date, _scope(date, "s3"), how.keys.secret)


def _s3(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    date = _basic(how.date)
    payload = how.payload or hashlib.sha256(request.body).hexdigest()
    fields = request.fields
    if payload.startswith("STREAMING-"):
        fields += (("x-amz-decoded-content-length", str(len(request.body))),)
        if how.trailer:
            fields += (("x-amz-trailer", how.trailer[0]),)
    fields += (("x-amz-content-sha256", payload), ("x-amz-date", date))
    if how.keys.token is not None:
        fields += (("x-amz-security-token", how.keys.token),)
    signed = (("host", how.host or host), *fields)
    names, signature = _s3_signature(request, signed, None, date, how, payload)
    credential = "/".join([how.keys.id, *_scope(date, "s3")])
    value = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
    body = request.body
    if payload.startswith("STREAMING-"):
        body = _chunks(body, how, date, signature if payload.startswith(SIGNED_CHUNKS) else None)
    return request.written(), (*fields, ("Authorization", value)), body


def _s3_url(request: Request, how: Signing, host: str) -> tuple[str, Pairs, bytes]:
    date = _basic(how.date)
    query = request.query + (
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", "/".join([how.keys.id, *_scope(date, "s3")])),
        ("X-Amz-Date", date),
        ("X-Amz-Expires", str(how.lifetime)),
    )
    if how.keys.token is not None:
        query += (("X-Amz-Security-Token", how.keys.token),)
    signed = (("host", how.host or host), *request.fields)
    names, signature = _s3_signature(request, signed, query, date, how, how.payload or UNSIGNED)
    query += (("X-Amz-SignedHeaders", names), ("X-Amz-Signature", signature))
    return request.written(query), request.fields, request.body


def _chunks(body: bytes, how: Signing, date: str, seed: str | None) -> bytes:
    """Returns the body in chunks, which are signed if there is a seed."""
    scope = _scope(date, "s3")
    key, empty = signing_key(how.keys.secret, scope, "AWS4"), hashlib.sha256(b"").hexdigest()
    size, written, previous = how.chunk or 64 * 1024, b"", seed

    def signature(kind: str, *hashes: str) -> str:
        text = "\n".join([f"AWS4-HMAC-SHA256-{kind}", date, "/".join(scope), previous or "", *hashes])
        return hmac.digest(key, text.encode(), "sha256").hex()

    for piece in [*(body[start : start + size] for start in range(0, len(body), size)), b""]:
        line = f"{len(piece):x}"
        if previous:
            previous = signature("PAYLOAD", empty, hashlib.sha256(piece).hexdigest())
            line += f";chunk-signature={previous}"
        written += line.encode() + b"\r\n" + (piece + b"\r\n" if piece else b"")
    if how.trailer:
        name, value = how.trailer
        written += f"{name}:{value}\r\n".encode()
        if previous:
            digest = hashlib.sha256(f"{name}:{value}\n".encode()).hexdigest()
            written += f"x-amz-trailer-signature:{signature('TRAILER', digest)}\r\n".encode()
    return written + b"\r\n"


# Forms


def policy(conditions: list, seconds: int = 900, **members) -> str:
    """Returns a form's policy that expires in so many seconds."""
    expiration = (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    document = {"expiration": expiration, "conditions": conditions} | members
    return base64.b64encode(json.dumps(document).encode()).decode()


def form_fields(dialect: str, keys: Keys, text: str) -> dict[str, str]:
    """Returns the fields of a form that authenticate its policy: of `s3`, `oss4` or `oss1`."""
    if dialect == "oss1":
        signature = base64.b64encode(hmac.digest(keys.secret.encode(), text.encode(), "sha1")).decode()
        return {"policy": text, "OSSAccessKeyId": keys.id, "Signature": signature}
    date = _basic(datetime.now(UTC))
    scope = _scope(date, "s3" if dialect == "s3" else "oss")
    key = signing_key(keys.secret, scope, "AWS4" if dialect == "s3" else "aliyun_v4")
    prefix = "x-amz-" if dialect == "s3" else "x-oss-"
    algorithm = (
        {"x-amz-algorithm": "AWS4-HMAC-SHA256"} if dialect == "s3" else {"x-oss-signature-version": "OSS4-HMAC-SHA256"}
    )
    return {
        "policy": text,
        **algorithm,
        prefix + "credential": "/".join([keys.id, *scope]),
        prefix + "date": date,
        prefix + "signature": hmac.digest(key, text.encode(), "sha256").hex(),
    }


def form_body(fields: dict[str, str], file: bytes | None, name: str = "file.txt") -> tuple[str, bytes]:
    """Returns the Content-Type and the body of a form."""
    boundary = "boundary-of-the-form"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    if file is not None:
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/x-file'
        parts.append(f"--{boundary}\r\n{head}\r\n\r\n".encode() + file + b"\r\n")
    return f"multipart/form-data; boundary={boundary}", b"".join(parts) + f"--{boundary}--\r\n".encode()
