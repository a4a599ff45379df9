"""Requests of browsers, targets that are malformed, and URLs that are used again."""

import time

from .recording import Recorder
from .signing import DIALECTS, HEADERS, URLS, Signing, form_body, form_fields, policy
from .wire import Request, request_bytes
from .world import DOMAIN, ORIGIN, TEXT

ORIGINS = (ORIGIN, "http://127.0.0.1:8080", "https://other.example.com", "null", "", ORIGIN.upper())


def cross_origin(recorder: Recorder) -> None:
    """Preflight requests, and the fields for scripts of other origins in responses of every kind."""
    address = recorder.world.address
    for origin in (*ORIGINS, None):
        for method in ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "get", "", None):
            for target in ("/data/world/text", "/data", "/", "/data/world/text?X-Amz-Signature=x"):
                for names in ("", "x-amz-date, content-type"):
                    if names and method != "PUT":
                        continue
                    fields = (("Host", address),)
                    fields += (("Origin", origin),) if origin is not None else ()
                    fields += (("Access-Control-Request-Method", method),) if method is not None else ()
                    fields += (("Access-Control-Request-Headers", names),) if names else ()
                    recorder.raw(
                        f"OPTIONS {target} of {origin} for {method} {names}",
                        request_bytes("OPTIONS", target, fields, b""),
                    )
    requests = {
        "GET": Request("GET", "data", "world/described"), "HEAD": Request("HEAD", "data", "world/described"),
        "GET missing": Request("GET", "data", "world/missing"), "HEAD missing": Request("HEAD", "data", "world/missing"),
        "list": Request("GET", "lists", None, (("max-keys", "1"),)), "PUT": Request("PUT", "data", "origin/text", body=TEXT),
        "unsigned": Request("GET", "data", "world/text"), "delete": Request("DELETE", "data", "origin/missing"),
        "not modified": Request("GET", "data", "world/text", fields=(("If-None-Match", "*"),)),
    }  # fmt: skip
    for dialect in DIALECTS:
        for origin in ORIGINS:
            for name, request in requests.items():
                if name == "PUT":
                    request = request.with_(key=f"origin/{dialect} {ORIGINS.index(origin)}")
                recorder.send(
                    f"{name} {dialect} of {origin}",
                    request.with_(("Origin", origin)),
                    dialect if name != "unsigned" else None,
                )
                if name == "unsigned" and dialect != "oss1":
                    break


def _conditions(key: str, *more, size: int = 1000) -> list:
    return [{"bucket": "data"}, {"key": key}, ["content-length-range", 0, size], *more]


def forms(recorder: Recorder) -> None:
    """Forms of browsers (PostObject): with their policies, options, redirects, and errors."""
    for dialect in ("s3", "oss4", "oss1"):
        start = "x-amz-" if dialect == "s3" else "x-oss-"
        any_field = [["starts-with", f"${name}", ""] for name in ("success_action_status", "success_action_redirect", "Content-Type", f"{start}meta-a", "acl", "tagging", f"{start}algorithm", f"{start}credential", f"{start}date", "x-unknown", "Cache-Control", "Content-MD5", f"{start}storage-class", f"{start}tagging", f"{start}unknown", f"{start}checksum-crc32", f"{start}server-side-encryption", f"{start}forbid-overwrite", "x-oss-content-type", "x-oss-object-acl", "callback", f"{start}security-token", "name", "x-amz-acl")]  # fmt: skip

        def send(
            label: str,
            fields: dict | None = None,
            conditions=None,
            file: bytes | None = TEXT,
            by="owner",
            bucket="data",
            text=None,
            name="file.txt",
            change=None,
            dialect=dialect,
            any_field=any_field,
            **more,
        ):
            label = f"{label} {dialect}"
            key = (fields or {}).get("key", f"forms/{label}")
            conditions = _conditions(key) + any_field if conditions is None else conditions
            text = policy(conditions, **more) if text is None else text
            signed = form_fields(dialect, recorder.world.keys(by), text)
            all_fields = {
                name: value for name, value in ({"key": key} | signed | (fields or {})).items() if value is not None
            }
            kind, body = form_body(all_fields, file, name)
            if change:
                kind, body = change(kind, body)
            request = Request("POST", bucket, None, fields=(("Content-Type", kind),), body=body)
            recorder.send(label, request, None)

        send("plain")
        for status in ("200", "201", "204", "404", "x", ""):
            send(f"status {status}", {"success_action_status": status})
        for redirect in (
            "http://a.example.com/b",
            "https://a.example.com/?c=d",
            "ftp://a.example.com",
            "javascript:a",
            "http://a b",
            "",
        ):
            send(f"redirect {redirect}", {"success_action_redirect": redirect})
        for field, values in {
            "Content-Type": ("text/css",), f"{start}meta-a": ("b",), "acl": ("private", "public-read"), "tagging": ("<Tagging/>",),
            "x-unknown": ("a",), "Cache-Control": ("no-store",), "Content-MD5": ("x",), f"{start}storage-class": ("STANDARD", "GLACIER"),
            f"{start}tagging": ("a=b", "a=%"), f"{start}unknown": ("a",), f"{start}checksum-crc32": ("AAAAAA==",),
            f"{start}server-side-encryption": ("AES256",), f"{start}forbid-overwrite": ("true", "x"), "x-oss-content-type": ("text/css",),
            "x-oss-object-acl": ("private", "public-read"), "callback": ("a",), f"{start}security-token": ("a",), "name": ("a",), "x-amz-acl": ("private",),
        }.items():  # fmt: skip
            for value in values:
                send(f"field {field}: {value}", {field: value})
        send(
            "file name",
            {"key": "forms/${filename} " + dialect},
            [{"bucket": "data"}, ["starts-with", "$key", "forms/"], *any_field],
            name="a.txt",
        )
        send(
            "file name with a path",
            {"key": "forms/path ${filename} " + dialect},
            [{"bucket": "data"}, ["starts-with", "$key", "forms/"], *any_field],
            name="C:\\b\\c.txt",
        )
        send("no key", {"key": None})
        send("empty key", {"key": ""}, [{"bucket": "data"}, ["starts-with", "$key", ""], *any_field])
        send("long key", {"key": "k" * 1025}, [{"bucket": "data"}, ["starts-with", "$key", ""], *any_field])
        send("no policy", {"policy": None})
        send("empty policy", text="")
        send("policy not in base64", text="!")
        send("policy without JSON", text="eA==")
        send("policy with an unknown member", unknown=1)
        send("expired policy", seconds=-100)
        send("other bucket in the policy", None, [{"bucket": "other"}, ["starts-with", "$key", ""], *any_field])
        send("other key in the policy", None, [{"bucket": "data"}, {"key": "other"}, *any_field])
        send("key outside of the beginning", None, [{"bucket": "data"}, ["starts-with", "$key", "other/"], *any_field])
        send("field without condition", {"x-unknown": "a"}, [{"bucket": "data"}, ["starts-with", "$key", ""]])
        for kind, value in (
            ("in", [TEXT.decode()]),
            ("not-in", ["text/plain"]),
            ("in", "x"),
            ("eq", "text/css"),
            ("unknown", "x"),
            ("starts-with", "image/"),
        ):
            send(
                f"condition {kind} {value}",
                {"Content-Type": "text/css"},
                [
                    {"bucket": "data"},
                    ["starts-with", "$key", ""],
                    [kind, "$Content-Type", value],
                    *[c for c in any_field if c[1] != "$Content-Type"],
                ],
            )
        send(
            "types beginning with a type",
            {"Content-Type": "image/a, text/html"},
            [
                {"bucket": "data"},
                ["starts-with", "$key", ""],
                ["starts-with", "$Content-Type", "image/"],
                *[c for c in any_field if c[1] != "$Content-Type"],
            ],
        )
        for conditions in (
            [["content-length-range", 0, 10]],
            [["content-length-range", 100, 200]],
            [["content-length-range", 9, 3]],
            [["content-length-range", "0", "9"]],
            [["x"]],
            [1],
            [{"bucket": 1}],
        ):
            send(
                f"conditions {conditions}",
                None,
                [{"bucket": "data"}, ["starts-with", "$key", ""], *conditions, *any_field],
            )
        send("no file", file=None)
        send("empty file", file=b"")
        send("field twice", change=lambda kind, body: (kind, body[: body.index(b"\r\n--", 2)] + b"\r\n" + body))
        send("ends early", change=lambda kind, body: (kind, body[:-30]))
        send("no boundary", change=lambda kind, body: ("multipart/form-data", body))
        send("other boundary", change=lambda kind, body: (kind + "x", body))
        send("url-encoded", change=lambda kind, body: ("application/x-www-form-urlencoded", b"key=a"))
        send("not UTF-8", change=lambda kind, body: (kind, body.replace(b"forms/", b"forms\xff/", 1)))
        send("long field", {"x-unknown": "x" * 70_000})
        send("wrong signature", {"Signature" if dialect == "oss1" else f"{start}signature": "00"})
        send("malformed signature", {"Signature" if dialect == "oss1" else f"{start}signature": "!"})
        send("malformed credential", {"OSSAccessKeyId" if dialect == "oss1" else f"{start}credential": "OWNER"})
        send(
            "unknown credential",
            {"OSSAccessKeyId" if dialect == "oss1" else f"{start}credential": "UNKNOWN/20260101/r/s3/aws4_request"},
        )
        send("version 2", {"AWSAccessKeyId": "OWNER", f"{start}credential": None, "OSSAccessKeyId": None})
        for by in ("reader", "tools", "completed"):
            send(f"by {by}", by=by)
        send("by tools in its prefix", {"key": f"tools/forms/{dialect}"}, by="tools")
        send(
            "to the second bucket",
            None,
            [["starts-with", "$key", ""], ["starts-with", "$bucket", ""], *any_field],
            bucket="maps",
        )
        send(
            "to an unknown bucket",
            None,
            [["starts-with", "$key", ""], ["starts-with", "$bucket", ""], *any_field],
            bucket="unknown",
        )
        send("to an object of a device", {"key": recorder.world.uploads["completed"].credentials.key})
        for name, value in (
            (f"{start}meta-a", "b"),
            ("Content-MD5", "x"),
            ("if-none-match", "*"),
            ("x-amz-user-agent", "a"),
        ):
            text = policy(_conditions(f"forms/header {name} {dialect}") + any_field)
            kind, body = form_body(
                {"key": f"forms/header {name} {dialect}"} | form_fields(dialect, recorder.world.keys("owner"), text),
                TEXT,
            )
            recorder.send(
                f"header {name} {dialect}",
                Request("POST", "data", None, fields=(("Content-Type", kind), (name, value)), body=body),
                None,
            )
            recorder.send(
                f"header {name} {dialect}, virtual",
                Request("POST", "data", None, fields=(("Content-Type", kind), (name, value)), body=body, virtual=True),
                None,
            )
            recorder.send(
                f"header {name} {dialect} to an object",
                Request("POST", "data", "forms/object", fields=(("Content-Type", kind), (name, value)), body=body),
                None,
            )


TARGETS = (
    "/", "//", "///", "/data", "/data/", "/data//", "/data//a", "/data/a//b", "/data/.", "/data/..", "/data/../a", "/./data/a", "/data/%2e%2e/a",
    "/data/%", "/data/%z", "/data/%zz", "/data/%00", "/data/%01", "/data/%7f", "/data/%ff", "/data/%C3%A4", "/data/\u00e4", "/data/a%2Fb", "/data/a+b",
    "/data/a%20b", "/data/a\\b", "/data/a?", "/data/a??", "/data/a?=", "/data/a?&", "/data/a?&&a", "/data/a?=b", "/data/a?a=%", "/data/a?a=%zz", "/data/a?a=%ff",
    "/data/a?a=b=c", "/data/a?a;b", "/data/a?a+b", "/data/a#b", "/data/a?b#c", "/da", "/d", "/DATA/a", "/data_x/a", "/192.168.0.1/a", "/-data/a", "/data..x/a",
    "/" + "d" * 63 + "/a", "/" + "d" * 64 + "/a", "/data/" + "k" * 1024, "/data/" + "k" * 1025, "/data/" + "%C3%A4" * 512, "/data/" + "%C3%A4" * 513,
    "/data/" + "k" * 15_000, "/data/" + "k" * 40_000, "/data/a?" + "b" * 15_000, "*", "data/a", "", "http://" + DOMAIN + "/data/a", "http://data." + DOMAIN + "/a",
    "https://x/data/a", "ftp://x/data/a", "http://", "http://a b/", "/data/\ufffe", "/data/%EF%BF%BE", "/data/a\tb", "/unknown/a", "/%64ata/a", "/data%2Fa",
)  # fmt: skip


def targets(recorder: Recorder) -> None:
    """Targets and Host fields of any form, which need no valid signature to be refused."""
    address = recorder.world.address
    authentications = {
        "oss": (("Date", "Sat, 01 Jan 2000 00:00:00 GMT"), ("Authorization", "OSS OWNER:c2lnbmF0dXJl")),
        "s3": (("x-amz-date", "20000101T000000Z"), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"), ("Authorization", "AWS4-HMAC-SHA256 Credential=OWNER/20000101/r/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" + "0" * 64)),
        "none": (),
    }  # fmt: skip
    for number, target in enumerate(TARGETS):
        for name, fields in authentications.items():
            for method in ("GET", "PUT", "HEAD"):
                label = f"{number:02} {method} {target[:60]!r} ({len(target)} characters) {name}"
                recorder.raw(label, request_bytes(method, target, (("Host", address), *fields), b""))
    for host in (
        None,
        "",
        "x",
        "data." + DOMAIN,
        "DATA." + DOMAIN.upper(),
        f"data.{DOMAIN}:80",
        f"unknown.{DOMAIN}",
        f"a.b.{DOMAIN}",
        f".{DOMAIN}",
        f"X_.{DOMAIN}",
        DOMAIN,
        f"x{DOMAIN}",
        "a b",
        "[::1]",
        "data.other.example.com",
    ):
        for name, fields in authentications.items():
            for target in ("/", "/a", "/data/world/text"):
                hosts = (("Host", host),) if host is not None else ()
                recorder.raw(f"Host {host} {target} {name}", request_bytes("GET", target, (*hosts, *fields), b""))
    for host in (DOMAIN, f"data.{DOMAIN}:8080", f"DATA.{DOMAIN}", "other.example.com"):
        for dialect in DIALECTS:
            recorder.send(
                f"signed, Host {host} {dialect}",
                Request("GET", "data", "world/text", host=host, virtual=host.lower().startswith("data.")),
                dialect,
            )
    heads = {
        "two Hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.0": b"GET / HTTP/1.0\r\n\r\n", "HTTP/2.0": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "no version": b"GET /\r\n\r\n", "bare line feeds": b"GET / HTTP/1.1\nHost: a\n\n", "folded": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
        "space before the colon": b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "length and chunks": b"PUT /data/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "two lengths": b"PUT /data/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "gzip": b"PUT /data/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        "expectation": b"PUT /data/a HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 0\r\n\r\n", "many fields": b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 101 + b"\r\n",
        "two authentications": b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", "two digests": b"GET / HTTP/1.1\r\nHost: a\r\nContent-MD5: a\r\nContent-MD5: b\r\n\r\n",
        "NUL": b"GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", "control": b"GET / HTTP/1.1\r\nHost: a\r\nX: \1\r\n\r\n", "two ranges": b"GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nRange: bytes=0-1\r\n\r\n",
    }  # fmt: skip
    for name, head in heads.items():
        recorder.raw(f"head: {name}", head)


def repeated_urls(recorder: Recorder) -> None:
    """URLs that are used again: with another method or range, after the object was replaced or deleted, and after they expired."""
    world = recorder.world
    short = {}
    for dialect in URLS:
        for by in ("owner", "completed"):
            key = f"repeated/{dialect}" if by == "owner" else world.uploads[by].credentials.key
            if by == "owner":
                world.put(key)
            data = world.written(Request("GET", "data", key), Signing(dialect, world.keys(by)))
            name = f"{dialect} by {by}"
            for turn in (1, 2, 3):
                recorder.raw(f"{name}, {turn}", data)
            for label, more in {
                "range": b"Range: bytes=1-3", "condition": b"If-None-Match: *", "origin": b"Origin: " + ORIGIN.encode(), "type": b"Content-Type: text/css",
                "S3 field": b"x-amz-meta-a: b", "OSS field": b"x-oss-meta-a: b", "authorization": b"Authorization: OSS a:b", "other field": b"X: y",
            }.items():  # fmt: skip
                recorder.raw(f"{name}, {label}", data[:-2] + more + b"\r\n\r\n")
            for method in (b"HEAD", b"PUT", b"DELETE"):
                recorder.raw(
                    f"{name}, {method.decode()}",
                    method + data[3:].replace(b"\r\n\r\n", b"\r\nContent-Length: 0\r\n\r\n"),
                )
            recorder.raw(f"{name}, other host", data.replace(b"Host: 127", b"Host: 128"))
            if by == "owner":
                world.put(key, b"replaced")
                recorder.raw(f"{name}, replaced", data)
                world.send(Request("DELETE", "data", key))
                recorder.raw(f"{name}, deleted", data)
            lifetime = 20
            request = Request("GET", "data", "world/text" if by == "owner" else key)
            short[name] = world.written(request, Signing(dialect, world.keys(by), lifetime=lifetime))
            recorder.raw(f"{name}, short", short[name])
    recorder.expiring.update({name: (time.time() + 21, data) for name, data in short.items()})


def aborted_upload(recorder: Recorder) -> None:
    """Credentials and URLs that were valid until their upload was aborted or completed."""
    world = recorder.world
    for dialect in (*HEADERS, *URLS):
        for ending in ("abort", "complete"):
            name = f"ended by {ending} {dialect}"
            upload = world.upload("stored", name)
            credentials = upload.credentials
            requests = {
                method: Request(method, "data", credentials.key, body=TEXT if method == "PUT" else b"")
                for method in ("GET", "HEAD", "PUT")
            }
            written = {
                method: world.written(request, Signing(dialect, world.keys(name)))
                for method, request in requests.items()
            }
            for method in ("GET", "HEAD"):
                recorder.raw(f"{method} before {ending} {dialect}", written[method])
            if ending == "abort":
                upload.uploader.abort(upload.logical_id)
            else:
                upload.complete()
            for method, data in written.items():
                recorder.raw(f"{method} after {ending} {dialect}", data)


def expired_urls(recorder: Recorder) -> None:
    """The short-lived URLs of the first uses, after their expiry."""
    for name, (end, data) in recorder.expiring.items():
        while time.time() <= end:
            time.sleep(0.1)
        for turn in (1, 2):
            recorder.raw(f"{name}, {turn}", data)
