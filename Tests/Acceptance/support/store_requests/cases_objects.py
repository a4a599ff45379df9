"""Objects: reading them under conditions and in ranges, writing them with checksums and conditions, in parts, by copies and appends."""

import base64
import hashlib

from .operations import BOTH, Operations, deletion, prefix, tagging
from .recording import Recorder
from .signing import DIALECTS, SIGNED_CHUNKS, UNSIGNED, Signing
from .wire import Request
from .world import QUOTA, TEXT, checksums, completion

PAST, FUTURE = "Sat, 01 Jan 2000 00:00:00 GMT", "Tue, 01 Jan 2036 00:00:00 GMT"
ETAG = f'"{hashlib.md5(TEXT).hexdigest()}"'
CONDITIONS = {
    "If-Match": (ETAG, ETAG.upper(), ETAG.strip('"'), '"0"', "*", f'"0", {ETAG}', f"W/{ETAG}", ""),
    "If-None-Match": (ETAG, ETAG.upper(), ETAG.strip('"'), '"0"', "*", f'"0", {ETAG}', f"W/{ETAG}", ""),
    "If-Modified-Since": (PAST, FUTURE, "malformed", ""),
    "If-Unmodified-Since": (PAST, FUTURE, "malformed", ""),
}
RANGES = (
    "bytes=0-0", "bytes=0-", "bytes=5-9", "bytes=50-1000", "bytes=-5", "bytes=-1000", "bytes=-0", "bytes=55-", "bytes=56-60",
    "bytes=9-5", "bytes=0-1,3-4", "bytes=", "bytes=x-y", "items=0-1", "bytes 0-1", "bytes=0-1x", "bytes=+1-2", "bytes= 1-2",
    "bytes=1 - 2", "BYTES=1-2", "bytes=99999999999999999999-", "bytes=0-99999999999999999999", "", "0-1", "bytes=--1",
)  # fmt: skip


def conditions(recorder: Recorder) -> None:
    """Conditions on reads, copies, and every kind of write."""
    for dialect in (*BOTH, "oss1"):
        for name, values in CONDITIONS.items():
            for value in values:
                for method in ("GET", "HEAD"):
                    request = Request(method, "data", "world/text", fields=((name, value),))
                    recorder.send(f"{method} {name}: {value}, {dialect}", request, dialect)
                if dialect == "oss1":
                    continue
                on = Operations(recorder.world, dialect)
                for operation in ("PutObject", "CopyObject", "CompleteMultipartUpload", "DeleteObject"):
                    for exists in (True, False):
                        label = f"{operation} {name}: {value}, {'present' if exists else 'absent'}, {dialect}"
                        if exists:
                            recorder.world.put(f"conditions/{label}")
                        request = on.request(operation, f"conditions/{label}", exists=False)
                        recorder.send(label, request.with_((name, value)), dialect)
                field = f"{prefix(dialect)}copy-source-{name.lower()}"
                recorder.send(
                    f"CopyObject {field}: {value}",
                    on.request("CopyObject", f"conditions/{field} {value}").with_((field, value)), dialect,
                )  # fmt: skip
        for first, second in ((ETAG, FUTURE), ('"0"', PAST), (ETAG, PAST), ('"0"', FUTURE)):
            both = (("If-None-Match", first), ("If-Modified-Since", second))
            recorder.send(f"GET {both}, {dialect}", Request("GET", "data", "world/text", fields=both), dialect)
            both = (("If-Match", first), ("If-Unmodified-Since", second))
            recorder.send(f"GET {both}, {dialect}", Request("GET", "data", "world/text", fields=both), dialect)


def ranges(recorder: Recorder) -> None:
    """Ranges of objects with and without bytes, with If-Range and part numbers."""
    for dialect in BOTH:
        for value in RANGES:
            for method, key in (
                ("GET", "world/text"),
                ("HEAD", "world/text"),
                ("GET", "world/empty"),
                ("GET", "world/missing"),
            ):
                request = Request(method, "data", key, fields=(("Range", value),))
                recorder.send(f"{method} {key} Range: {value}, {dialect}", request, dialect)
        for value in (ETAG, '"0"', f"W/{ETAG}", PAST, FUTURE, ""):
            request = Request("GET", "data", "world/text", fields=(("Range", "bytes=1-2"), ("If-Range", value)))
            recorder.send(f"GET If-Range: {value}, {dialect}", request, dialect)
        for number in ("1", "3", "4", "0", "10000", "10001", "-1", "x", "", "99999999999999999999"):
            for key in ("world/text", "world/parts", "world/summed parts", "world/empty", "world/missing"):
                for method in ("GET", "HEAD") if key != "world/parts" else ("HEAD",):
                    request = Request(
                        method, "data", key, (("partNumber", number),), (("x-amz-checksum-mode", "ENABLED"),)
                    )
                    recorder.send(f"{method} {key} partNumber {number}, {dialect}", request, dialect)
        request = Request("GET", "data", "world/parts", (("partNumber", "3"),), (("Range", "bytes=0-1"),))
        recorder.send(f"GET partNumber with a range, {dialect}", request, dialect)


def reads(recorder: Recorder) -> None:
    """Objects of each kind by each dialect, and the fields that the reader of a response chooses."""
    objects = ["text", "described", "empty", "html", "appended", "summed parts", "missing", "ä b+c&d=e?f#g%h"]
    for dialect in DIALECTS:
        for key in objects + [f"with {name}" for name in checksums(b"")]:
            for method in ("GET", "HEAD"):
                if key == "summed parts" and method == "GET":
                    continue
                request = Request(method, "data", f"world/{key}")
                recorder.send(f"{method} {key} {dialect}", request, dialect)
                with_mode = request.with_(("x-amz-checksum-mode", "ENABLED"))
                if dialect.startswith("s3"):
                    recorder.send(f"{method} {key} {dialect} with checksums", with_mode, dialect)
        for name in (
            "cache-control",
            "content-disposition",
            "content-encoding",
            "content-language",
            "content-type",
            "expires",
        ):
            for value in ("text/css", "inline", "", "ä", "a\nb", "x" * 1025):
                for method in ("GET", "HEAD"):
                    request = Request(method, "data", "world/described", ((f"response-{name}", value),))
                    recorder.send(f"{method} response-{name}={value[:20]!r} {dialect}", request, dialect)
        twice = Request("GET", "data", "world/text", (("response-expires", "a"), ("response-expires", "b")))
        recorder.send(f"GET response-expires twice {dialect}", twice, dialect)
    for dialect in BOTH:
        for query in ("acl", "tagging", "attributes", "objectMeta"):
            for key in objects:
                for method in ("GET", "HEAD"):
                    recorder.send(
                        f"{method} {key} ?{query} {dialect}",
                        Request(method, "data", f"world/{key}", ((query, None),)),
                        dialect,
                    )
        for names in (
            "ETag",
            "Checksum",
            "ObjectParts",
            "StorageClass",
            "ObjectSize",
            "x",
            "",
            "ETag,Checksum,ObjectParts,StorageClass,ObjectSize",
            "ETag, x",
        ):
            for key in ("text", "parts", "summed parts", "with crc32c"):
                for more in ((), (("x-amz-max-parts", "1"), ("x-amz-part-number-marker", "1"))):
                    request = Request(
                        "GET",
                        "data",
                        f"world/{key}",
                        (("attributes", None),),
                        (("x-amz-object-attributes", names), *more),
                    )
                    recorder.send(
                        f"attributes {names!r} of {key}, {dialect}{' one part' if more else ''}", request, dialect
                    )


def puts(recorder: Recorder) -> None:
    """Writes of one object: framings, digests, checksums, names of properties, and expectations."""
    sums = checksums(TEXT)
    md5 = base64.b64encode(hashlib.md5(TEXT).digest()).decode()
    cases: dict[str, tuple] = {
        "empty": ({"body": b""},),
        "chunked": ({"framing": "chunked"},),
        "chunked and empty": ({"framing": "chunked", "body": b""},),
        "without length": ({"framing": "none", "body": b""},),
        "Expect": ({}, ("Expect", "100-continue")),
        "Content-MD5": ({}, ("Content-MD5", md5)),
        "wrong Content-MD5": ({}, ("Content-MD5", base64.b64encode(b"0" * 16).decode())),
        "short Content-MD5": ({}, ("Content-MD5", "AAAA")),
        "malformed Content-MD5": ({}, ("Content-MD5", "!")),
        "empty Content-MD5": ({}, ("Content-MD5", "")),
        "two checksums": ({}, ("x-amz-checksum-crc32", sums["crc32"]), ("x-amz-checksum-sha1", sums["sha1"])),
        "long metadata": ({}, ("x-amz-meta-a", "x" * 8000), ("x-oss-meta-a", "x" * 8000)),
        "longer metadata": ({}, ("x-amz-meta-a", "x" * 2100), ("x-oss-meta-a", "x" * 2100)),
        "metadata in UTF-8": ({}, ("x-amz-meta-a", "ä"), ("x-oss-meta-a", "ä")),
        "long type": ({}, ("Content-Type", "text/" + "x" * 2000)),
        "too long": ({"body": b""}, ("Content-Length", str(1 << 50)), ("Expect", "100-continue")),
        "5 GiB and a byte": ({"body": b""}, ("Content-Length", str((5 << 30) + 1)), ("Expect", "100-continue")),
        "malformed length": ({"body": b""}, ("Content-Length", "x")),
        "eleven tags": (
            {},
            ("x-amz-tagging", "&".join(f"k{n}=v" for n in range(11))),
            ("x-oss-tagging", "&".join(f"k{n}=v" for n in range(11))),
        ),
        "tags twice": ({}, ("x-amz-tagging", "a=b&a=c"), ("x-oss-tagging", "a=b&a=c")),
    }
    for name, value in sums.items():
        cases[f"right {name}"] = ({}, (f"x-amz-checksum-{name}", value))
        cases[f"wrong {name}"] = ({}, (f"x-amz-checksum-{name}", checksums(b"x")[name]))
        cases[f"malformed {name}"] = ({}, (f"x-amz-checksum-{name}", "AAA"))
    for dialect in DIALECTS:
        for description, (changed, *fields) in cases.items():
            own = tuple(
                pair
                for pair in fields
                if not pair[0].startswith("x-") or pair[0].startswith(prefix(dialect)) or "checksum" in pair[0]
            )
            request = Request("PUT", "data", f"puts/{description} {dialect}", fields=own, body=TEXT)
            recorder.send(f"{description} {dialect}", request.with_(**changed), dialect)
            if description in ("Content-MD5", "wrong Content-MD5", "chunked", "too long", "right crc32", "wrong crc32"):
                state = f"puts {description} {dialect}"
                device = recorder.world.upload("open", state)
                recorder.send(
                    f"{description} {dialect} by a device",
                    request.with_(key=device.credentials.key, **changed),
                    dialect,
                    state,
                )
    for dialect in BOTH:
        for size in (QUOTA - 10, 10, 11, 1, 0, QUOTA * 2):
            request = Request("PUT", "data", f"small/{size} {dialect}", body=b"x" * size)
            recorder.send(f"{size} bytes beside the quota {dialect}", request, dialect, "small")
        for size in (QUOTA - 10, 10, 1):
            recorder.send(
                f"deletes {size} bytes {dialect}",
                Request("DELETE", "data", f"small/{size} {dialect}"),
                dialect,
                "small",
            )


def chunks(recorder: Recorder) -> None:
    """Bodies in S3's chunks: signed, with a trailer, unsigned, and wrong ones."""
    sums = checksums(TEXT)
    forms = {
        "signed": (SIGNED_CHUNKS, None),
        "signed with a trailer": (f"{SIGNED_CHUNKS}-TRAILER", "crc32"),
        "unsigned with a trailer": ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", "crc64nvme"),
        "unsigned with a trailer of sha256": ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", "sha256"),
        "unsigned without a trailer": ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", None),
        "signed without its trailer": (f"{SIGNED_CHUNKS}-TRAILER", None),
        "unknown": ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", None),
        "plain": (UNSIGNED, None),
    }
    changes = {
        "": (b"", b""),
        "changed bytes": (b"quick", b"slick"),
        "changed size": (b"8;", b"9;"),
        "size not in hexadecimal": (b"8;", b"z;"),
        "no last chunk": (b"\r\n0", b"\r\n"),
        "bare line feeds": (b"\r\n", b"\n"),
        "changed trailer": (b"x-amz-checksum-", b"x-amz-checksum-x"),
        "changed trailer signature": (b"trailer-signature:", b"trailer-signature:0"),
        "longer declaration": (b"content-length: 55", b"content-length: 56"),
        "no declaration": (b"x-amz-decoded-content-length: 55\r\n", b""),
    }
    for description, (payload, algorithm) in forms.items():
        for size in (8, 1000):
            for change, (old, new) in changes.items():
                how = {"payload": payload, "chunk": size}
                if algorithm:
                    how["trailer"] = (f"x-amz-checksum-{algorithm}", sums[algorithm])
                for operation in (
                    ("PutObject", "UploadPart", "CompleteMultipartUpload") if not change else ("PutObject",)
                ):
                    label = f"{description} {change or 'as it is'} in {size} bytes, {operation}"
                    request = Operations(recorder.world, "s3").request(operation, f"chunks/{label}")
                    _send_changed(recorder, label, request.with_(("Content-Encoding", "aws-chunked")), how, old, new)
        if algorithm:
            wrong = {"payload": payload, "trailer": (f"x-amz-checksum-{algorithm}", checksums(b"x")[algorithm])}
            recorder.send(
                f"{description}, wrong checksum",
                Request("PUT", "data", f"chunks/{description} wrong", body=TEXT),
                **wrong,
            )
            other = {"payload": payload, "trailer": ("x-amz-checksum-md5", "AAAA")}
            recorder.send(
                f"{description}, other trailer",
                Request("PUT", "data", f"chunks/{description} other", body=TEXT),
                **other,
            )


def _send_changed(recorder: Recorder, label: str, request: Request, how: dict, old: bytes, new: bytes) -> None:
    """Sends a signed request whose header or body is changed, with the Content-Length of the changed body."""
    data = recorder.world.written(request, Signing("s3", recorder.world.keys("owner"), **how))
    head, _, body = data.partition(b"\r\n\r\n")
    if old and old in head and old.startswith((b"content-length", b"x-amz-decoded")):
        head = head.replace(old, new, 1)
    elif old:
        body = body.replace(old, new) if old == b"\r\n" else body.replace(old, new, 1)
    lines = [
        line if not line.startswith(b"Content-Length:") else b"Content-Length: %d" % len(body)
        for line in head.split(b"\r\n")
    ]
    recorder.raw(label, b"\r\n".join(lines) + b"\r\n\r\n" + body)


def multiparts(recorder: Recorder) -> None:
    """The life of multipart uploads and its errors."""
    world = recorder.world
    for dialect in BOTH:
        key, etag = f"multiparts/{dialect}", ETAG

        def own(label: str, *, sent: tuple[int, ...] = (1, 2), size: int = len(TEXT), key=key) -> tuple[str, str]:
            """Returns the key and the id of an upload with these parts."""
            name = f"{key}/{label}"
            upload_id = world.initiate(name)
            for number in sent:
                world.part(name, upload_id, number, (TEXT * (size // len(TEXT) + 1))[:size])
            return name, upload_id

        def complete(label: str, etags: list[str], numbers=None, *fields, dialect=dialect, own=own, sent=(1, 2)):
            name, upload_id = own(label, sent=sent)
            request = Request("POST", "data", name, (("uploadId", upload_id),), fields, completion(etags, numbers))
            recorder.send(f"complete, {label}, {dialect}", request, dialect)
            return name, request

        for number in ("0", "1", "10000", "10001", "-1", "x", "", "99999999999999999999"):
            name, upload_id = own(f"part {number}", sent=())
            request = Request("PUT", "data", name, (("partNumber", number), ("uploadId", upload_id)), body=TEXT)
            recorder.send(f"part {number}, {dialect}", request, dialect)
            listing = Request(
                "GET", "data", name, (("uploadId", upload_id), ("max-parts", number), ("part-number-marker", number))
            )
            recorder.send(f"parts after {number}, {dialect}", listing, dialect)
        name, upload_id = own("defective parts", sent=(1,))
        for label, query in {
            "without number": (("uploadId", upload_id),), "without id": (("partNumber", "1"),),
            "with an empty id": (("partNumber", "1"), ("uploadId", "")),
            "with an unknown id": (("partNumber", "1"), ("uploadId", "unknown")),
            "with two ids": (("partNumber", "1"), ("uploadId", upload_id), ("uploadId", upload_id)),
        }.items():  # fmt: skip
            for method in ("PUT", "GET", "POST", "DELETE", "HEAD"):
                recorder.send(
                    f"{method} {label}, {dialect}",
                    Request(method, "data", name, query, body=TEXT if method in ("PUT", "POST") else b""),
                    dialect,
                )
        other = Request(
            "PUT", "data", f"{name} of another key", (("partNumber", "1"), ("uploadId", upload_id)), body=TEXT
        )
        recorder.send(f"part of another key's upload, {dialect}", other, dialect)
        for label, number, fields in (("wrong digest", "3", (("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="),)), ("wrong checksum", "3", (("x-amz-checksum-crc32", "AAAAAA=="),)),
                                      ("too long", "3", (("Content-Length", str((5 << 30) + 1)), ("Expect", "100-continue")))):  # fmt: skip
            request = Request(
                "PUT",
                "data",
                name,
                (("partNumber", number), ("uploadId", upload_id)),
                fields,
                b"" if "long" in label else TEXT,
            )
            recorder.send(f"part with {label}, {dialect}", request, dialect)
        for algorithm in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "MD5"):
            for kind in ("", "COMPOSITE", "FULL_OBJECT"):
                fields = (("x-amz-checksum-algorithm", algorithm),) + ((("x-amz-checksum-type", kind),) if kind else ())
                label = f"{algorithm} {kind or 'default'}, {dialect}"
                request = Request("POST", "data", f"{key}/{label}", (("uploads", None),), fields)
                reply = recorder.send(f"initiate {label}", request, dialect)
                if reply.status != 200 or dialect != "s3":
                    continue
                upload_id = reply.body.decode().split("<UploadId>")[1].split("<")[0]
                value = checksums(TEXT)[algorithm.lower()]
                part = Request(
                    "PUT", "data", f"{key}/{label}", (("partNumber", "1"), ("uploadId", upload_id)), body=TEXT
                )
                recorder.send(f"part {label}", part.with_((f"x-amz-checksum-{algorithm.lower()}", value)), dialect)
                recorder.send(
                    f"part with another checksum {label}",
                    part.with_(
                        (
                            "x-amz-checksum-sha1" if algorithm != "SHA1" else "x-amz-checksum-crc32",
                            checksums(TEXT)["sha1" if algorithm != "SHA1" else "crc32"],
                        )
                    ),
                    dialect,
                )
                recorder.send(
                    f"parts {label}", Request("GET", "data", f"{key}/{label}", (("uploadId", upload_id),)), dialect
                )
                done = Request("POST", "data", f"{key}/{label}", (("uploadId", upload_id),), body=completion([etag]))
                recorder.send(
                    f"complete with a wrong checksum {label}",
                    done.with_((f"x-amz-checksum-{algorithm.lower()}", checksums(b"x")[algorithm.lower()])),
                    dialect,
                )
                recorder.send(f"complete with a wrong size {label}", done.with_(("x-amz-mp-object-size", "1")), dialect)
                recorder.send(f"complete {label}", done, dialect)
                recorder.send(
                    f"HEAD {label}",
                    Request("HEAD", "data", f"{key}/{label}", fields=(("x-amz-checksum-mode", "ENABLED"),)),
                    dialect,
                )
        name, request = complete("small parts", [etag, etag])
        name, request = complete("one part", [etag], sent=(1,))
        recorder.send(f"completed twice, {dialect}", request, dialect)
        recorder.send(f"completed twice with another list, {dialect}", request.with_(body=completion(['"0"'])), dialect)
        recorder.send(f"completed twice with a malformed list, {dialect}", request.with_(body=b"x"), dialect)
        id_only = request.query
        for method, query in (("DELETE", id_only), ("GET", id_only), ("PUT", (("partNumber", "1"), *id_only))):
            recorder.send(
                f"{method} after the completion, {dialect}",
                Request(method, "data", name, query, body=TEXT if method == "PUT" else b""),
                dialect,
            )
        complete("unquoted ETag", [etag.strip('"')], sent=(1,))
        complete("upper-case ETag", [etag.upper()], sent=(1,))
        complete("escaped ETag", [etag.replace('"', "&quot;")], sent=(1,))
        complete("wrong ETag", ['"' + "0" * 32 + '"'], sent=(1,))
        complete("empty ETag", [""], sent=(1,))
        complete("missing part", [etag, etag], sent=(1,))
        complete("part left out", [etag], [2])
        complete("wrong order", [etag, etag], [2, 1])
        complete("same part twice", [etag, etag], [1, 1])
        complete("number 0", [etag], [0], sent=(1,))
        complete("number 10001", [etag], [10_001], sent=(1,))
        complete("gap", [etag, etag], [1, 3], sent=(1, 3))
        complete("no parts", [], sent=(1,))
        complete("nothing sent", [etag], sent=())
        complete("all parts", [], None, ("x-oss-complete-all", "yes"), sent=(1,))
        name, upload_id = own("aborted", sent=(1,))
        query = (("uploadId", upload_id),)
        for turn in ("first", "second"):
            recorder.send(f"abort, {turn}, {dialect}", Request("DELETE", "data", name, query), dialect)
        recorder.send(
            f"complete after the abort, {dialect}",
            Request("POST", "data", name, query, body=completion([etag])),
            dialect,
        )
        recorder.send(
            f"part after the abort, {dialect}",
            Request("PUT", "data", name, (("partNumber", "1"), *query), body=TEXT),
            dialect,
        )
        recorder.send(f"parts after the abort, {dialect}", Request("GET", "data", name, query), dialect)
        recorder.send(
            f"copied part after the abort, {dialect}",
            Request(
                "PUT",
                "data",
                name,
                (("partNumber", "1"), *query),
                ((f"{prefix(dialect)}copy-source", "/data/world/text"),),
            ),
            dialect,
        )
        started = (("uploadId", world.multiparts["world/started"]),)
        for more in ((), (("max-parts", "1"),), (("max-parts", "0"),), (("max-parts", "1001"),), (("part-number-marker", "2"),),
                     (("encoding-type", "url"),), (("encoding-type", "x"),), (("max-parts", "2"), ("part-number-marker", "1"))):  # fmt: skip
            recorder.send(
                f"list of parts {more}, {dialect}", Request("GET", "data", "world/started", started + more), dialect
            )


#: Bodies that are no valid documents of any operation.
DOCUMENTS = {
    "empty": b"",
    "text": b"text",
    "not closed": b"<CompleteMultipartUpload>",
    "other root": b"<Other/>",
    "doctype": b'<!DOCTYPE a [<!ENTITY b "c">]><CompleteMultipartUpload/>',
    "empty root of Complete": b"<CompleteMultipartUpload/>",
    "empty root of Delete": b"<Delete/>",
    "empty root of Tagging": b"<Tagging/>",
    "not UTF-8": b"<Tagging>\xff</Tagging>",
    "control character": b"<Tagging>\x01</Tagging>",
    "two roots": b"<Tagging/><Tagging/>",
    "declaration": b'<?xml version="1.0" encoding="UTF-8"?>\n<Tagging><TagSet></TagSet></Tagging>',
    "other encoding": b'<?xml version="1.0" encoding="UTF-16"?><Tagging/>',
    "deep": b"<a>" * 200 + b"</a>" * 200,
    "unknown entity": b"<Tagging>&b;</Tagging>",
    "part without number": b"<CompleteMultipartUpload><Part><ETag>a</ETag></Part></CompleteMultipartUpload>",
    "part with two numbers": b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>",
    "part with a word": b"<CompleteMultipartUpload><Part><PartNumber>x</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>",
    "object without key": b"<Delete><Object></Object></Delete>",
    "object with an empty key": b"<Delete><Object><Key></Key></Object></Delete>",
    "tag without key": b"<Tagging><TagSet><Tag><Value>a</Value></Tag></TagSet></Tagging>",
    "tag without value": b"<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>",
    "unknown element": b"<Delete><Object><Key>a</Key><Unknown>b</Unknown></Object></Delete>",
}


def documents(recorder: Recorder) -> None:
    """Malformed, empty and too long documents of every operation that has one."""
    for dialect in BOTH:
        for operation in ("CompleteMultipartUpload", "DeleteObjects", "PutObjectTagging"):
            on = Operations(recorder.world, dialect)
            for description, body in DOCUMENTS.items():
                label = f"{operation} {description}, {dialect}"
                recorder.send(label, on.request(operation, f"documents/{label}").with_(body=body), dialect)
            label = f"{operation} chunked, {dialect}"
            recorder.send(label, on.request(operation, f"documents/{label}").with_(framing="chunked"), dialect)
            for length in (64 << 10, (64 << 10) + 1, (2 << 20) + 1, (4 << 20) + 1, 1 << 40):
                label = f"{operation} of {length} bytes, {dialect}"
                request = on.request(operation, f"documents/{label}").with_(
                    ("Content-Length", str(length)), ("Expect", "100-continue"), body=b""
                )
                if length in (64 << 10, (64 << 10) + 1) and operation != "PutObjectTagging" or length == 64 << 10:
                    request = request.with_(fields=(), body=b"<a>" + b" " * (length - 7) + b"</a>")
                elif operation == "CompleteMultipartUpload" and length == (2 << 20) + 1:
                    continue
                recorder.send(label, request, dialect)
            for name, value in (
                ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="),
                ("Content-MD5", "x"),
                ("x-amz-checksum-crc32", "AAAAAA=="),
            ):
                label = f"{operation} {name}: {value}, {dialect}"
                recorder.send(label, on.request(operation, f"documents/{label}").with_((name, value)), dialect)
        _deletions(recorder, dialect)


def _deletions(recorder: Recorder, dialect: str) -> None:
    """Lists of objects to delete, by keys that may delete all, some and none of them."""
    device = recorder.world.uploads["completed"].credentials.key
    for by in ("owner", "tools", "reader"):
        for quiet in (False, True):
            label = f"deletions by {by}, {'quiet' if quiet else 'verbose'}, {dialect}"
            keys = [
                f"tools/deletions/{label}",
                f"deletions/{label}",
                "deletions/missing",
                device,
                "k" * 1025,
                "a&amp;b",
            ]
            for key in keys[:2]:
                recorder.world.put(key)
            request = Request("POST", "data", None, (("delete", None),), body=deletion(*keys, quiet=quiet))
            recorder.send(label, request, dialect, by)
            recorder.send(f"{label}, encoded", request.with_(query=(("encoding-type", "url"),)), dialect, by)
    for label, item in {
        "version null": "<VersionId>null</VersionId>", "version 1": "<VersionId>1</VersionId>", "ETag": f"<ETag>{ETAG}</ETag>",
        "wrong ETag": '<ETag>"0"</ETag>', "Size": "<Size>1</Size>", "LastModifiedTime": f"<LastModifiedTime>{PAST}</LastModifiedTime>",
    }.items():  # fmt: skip
        for exists in (True, False):
            key = f"deletions/{label} {exists} {dialect}"
            if exists:
                recorder.world.put(key)
            body = f"<Delete><Object><Key>{key}</Key>{item}</Object></Delete>".encode()
            recorder.send(
                f"deletion with {label}, {'present' if exists else 'absent'}, {dialect}",
                Request("POST", "data", None, (("delete", None),), body=body),
                dialect,
            )
    for count in (1000, 1001):
        body = deletion(*(f"deletions/none/{number}" for number in range(count)), quiet=True)
        recorder.send(
            f"{count} deletions, {dialect}", Request("POST", "data", None, (("delete", None),), body=body), dialect
        )


def tags(recorder: Recorder) -> None:
    """Sets of tags, accepted and refused, and what reads of them return."""
    sets = {
        "one": [("a", "b")], "ten": [(f"k{n}", "v") for n in range(10)], "eleven": [(f"k{n}", "v") for n in range(11)],
        "same key twice": [("a", "b"), ("a", "c")], "empty key": [("", "b")], "empty value": [("a", "")],
        "long key": [("k" * 128, "v")], "longer key": [("k" * 129, "v")], "long value": [("k", "v" * 256)],
        "longer value": [("k", "v" * 257)], "reserved": [("aws:a", "b")], "characters": [("ä+-=._:/ @", "ü ")],
        "refused characters": [("a?", "b*")], "none": [],
    }  # fmt: skip
    for dialect in (*BOTH, "oss1"):
        for description, pairs in sets.items():
            key = f"tags/{description} {dialect}"
            recorder.world.put(key, TEXT, ("x-amz-tagging", "before=1"))
            recorder.send(
                f"put {description}, {dialect}",
                Request("PUT", "data", key, (("tagging", None),), body=tagging(*pairs)),
                dialect,
            )
            recorder.send(f"get {description}, {dialect}", Request("GET", "data", key, (("tagging", None),)), dialect)
            recorder.send(f"HEAD {description}, {dialect}", Request("HEAD", "data", key), dialect)
            recorder.send(
                f"delete {description}, {dialect}", Request("DELETE", "data", key, (("tagging", None),)), dialect
            )
            recorder.send(
                f"get after delete {description}, {dialect}", Request("GET", "data", key, (("tagging", None),)), dialect
            )


def lists(recorder: Recorder) -> None:
    """Lists of objects, versions, multipart uploads and buckets."""
    prefixes = ("", "a", "a/", "x&", "z", "ä")
    pages = [
        (("max-keys", value),) for value in ("0", "1", "3", "1000", "1001", "-1", "x", "", "99999999999999999999")
    ] + [
        (("delimiter", "/"),), (("delimiter", "/"), ("max-keys", "1")), (("delimiter", ""),), (("delimiter", "0"),),
        (("marker", "b/05"),), (("marker", "a/"), ("delimiter", "/")), (("marker", "zzz"),), (("start-after", "b/05"),),
        (("continuation-token", ""),), (("continuation-token", "!"),), (("continuation-token", "Yi8wNQ"),),
        (("key-marker", "b/05"),), (("key-marker", "b/05"), ("version-id-marker", "null")), (("version-id-marker", "null"),),
        (("key-marker", "b/05"), ("version-id-marker", "1")), (("encoding-type", "url"),), (("encoding-type", "x"),),
        (("encoding-type", ""),), (("fetch-owner", "true"),), (("fetch-owner", "x"),), (("encoding-type", "url"), ("delimiter", " ")),
        (("prefix", "a"), ("prefix", "b")), (("unknown", "1"),), (("key-marker", "open"),), (("upload-id-marker", "x"),),
        (("max-uploads", "1"),), (("max-uploads", "0"),), (("max-uploads", "x"),), (("max-uploads", "1001"),),
        (("key-marker", "open"), ("upload-id-marker", "x")), (("max-uploads", "2"), ("delimiter", "/")),
    ]  # fmt: skip
    for dialect in BOTH:
        for form in ((), (("list-type", "2"),), (("versions", None),), (("uploads", None),), (("list-type", "1"),)):
            for page in pages:
                recorder.send(f"{form} {page} {dialect}", Request("GET", "lists", None, form + page), dialect)
            for start in prefixes:
                recorder.send(
                    f"{form} prefix {start!r} {dialect}",
                    Request("GET", "lists", None, (*form, ("prefix", start))),
                    dialect,
                )
                recorder.send(
                    f"{form} prefix lists/{start!r} {dialect}",
                    Request("GET", "data", None, (*form, ("prefix", f"lists/{start}"))),
                    dialect,
                )
            for by in ("tools", "tools reader", "maps", "reader", "completed"):
                for bucket, start in (
                    ("lists", ""),
                    ("maps", ""),
                    ("maps", "te"),
                    ("data", "tools/te"),
                    ("data", "tool"),
                ):
                    if start == "tool" or (bucket, start) == ("maps", ""):
                        continue
                    recorder.send(
                        f"{form} of {bucket} prefix {start!r} by {by} {dialect}",
                        Request("GET", bucket, None, (*form, ("prefix", start))),
                        dialect,
                        by,
                    )
    for dialect in (*BOTH, "oss1"):
        for by in ("owner", "tools", "maps", "reader", "completed"):
            recorder.send(f"buckets by {by} {dialect}", Request("GET", None), dialect, by)
        for query in (("max-keys", "1"), ("max-keys", "0"), ("max-keys", "x"), ("max-buckets", "2"), ("max-buckets", "10001"), ("prefix", "l"),
                      ("prefix", "z"), ("marker", "lists"), ("continuation-token", "!"), ("continuation-token", "bGlzdHM"), ("bucket-region", "us-east-1"), ("bucket-region", "x"), ("unknown", "x")):  # fmt: skip
            recorder.send(f"buckets {query} {dialect}", Request("GET", None, query=(query,)), dialect)


def copies(recorder: Recorder) -> None:
    """Copies of objects and parts: their sources, ranges and directives."""
    world = recorder.world
    sources = {
        "path": "/data/world/text", "no slash": "data/world/text", "escaped": "/data/world%2Ftext", "other bucket": "/maps/text",
        "bucket of dots": "/with.dots/text", "unknown bucket": "/unknown/text", "missing": "/data/world/missing", "empty": "",
        "only a bucket": "/data", "bucket and slash": "/data/", "invalid bucket": "/X/text", "bad escape": "/data/%zz",
        "version null": "/data/world/text?versionId=null", "version 1": "/data/world/text?versionId=1", "long key": "/data/" + "k" * 1025,
        "described": "/data/world/described", "empty object": "/data/world/empty", "checksum": "/data/world/with crc32c".replace(" ", "%20"),
        "of a device": f"/data/{world.uploads['completed'].credentials.key}", "stored by a device": f"/data/{world.uploads['stored'].credentials.key}",
        "started by a device": f"/data/{world.uploads['open'].credentials.key}", "encoded": "/data/world/%C3%A4%20b%2Bc%26d%3De%3Ff%23g%25h",
    }  # fmt: skip
    for dialect in (*BOTH, "oss1"):
        start, on = prefix(dialect), Operations(world, dialect)
        for description, source in sources.items():
            for operation in ("CopyObject", "UploadPartCopy"):
                for by in ("owner", "tools", "reader"):
                    label = f"{operation} {description} by {by} {dialect}"
                    request = on.request(operation, f"tools/copies/{label}").with_(
                        fields=((f"{start}copy-source", source),)
                    )
                    recorder.send(label, request, dialect, by)
        for value in (
            "bytes=0-3",
            "bytes=0-54",
            "bytes=0-55",
            "bytes=55-60",
            "bytes=3-",
            "bytes=-3",
            "bytes=5-3",
            "x",
            "",
        ):
            label = f"range {value} {dialect}"
            recorder.send(
                label,
                on.request("UploadPartCopy", f"copies/{label}").with_((f"{start}copy-source-range", value)),
                dialect,
            )
        for directive in ("COPY", "REPLACE", "replace", "x"):
            for name in ("metadata-directive", "tagging-directive"):
                for key, source in (("other", "/data/world/described"), ("itself", "")):
                    label = f"{name} {directive} to {key} {dialect}"
                    world.put(f"copies/{label}")
                    fields = (
                        (f"{start}copy-source", source or f"/data/copies/{label}".replace(" ", "%20")),
                        (f"{start}{name}", directive),
                        (f"{start}meta-new", "1"),
                        (f"{start}tagging", "new=1"),
                        ("Content-Type", "text/new"),
                    )
                    recorder.send(label, Request("PUT", "data", f"copies/{label}", fields=fields), dialect)
                    recorder.send(f"HEAD {label}", Request("HEAD", "data", f"copies/{label}"), dialect)
        world.put(f"copies/itself {dialect}")
        recorder.send(
            f"itself unchanged {dialect}",
            Request(
                "PUT",
                "data",
                f"copies/itself {dialect}",
                fields=((f"{start}copy-source", f"/data/copies/itself%20{dialect}"),),
            ),
            dialect,
        )
        recorder.send(
            f"with a body {dialect}", on.request("CopyObject", f"copies/body {dialect}").with_(body=TEXT), dialect
        )
        recorder.send(
            f"of parts {dialect}",
            Request(
                "PUT",
                "data",
                f"copies/parts {dialect}",
                fields=((f"{start}copy-source", "/data/world/summed%20parts"),),
            ),
            dialect,
        )
        for algorithm in ("CRC32", "SHA256", "MD5"):
            recorder.send(
                f"checksum {algorithm} {dialect}",
                on.request("CopyObject", f"copies/{algorithm} {dialect}").with_(
                    ("x-amz-checksum-algorithm", algorithm)
                ),
                dialect,
            )


def appends(recorder: Recorder) -> None:
    """Appends at right and wrong positions, with digests, and to objects that do not grow."""
    world = recorder.world
    for dialect in ("oss4", "oss1", "oss4-url", "s3"):

        def append(label: str, key: str, position: str | None, *fields, body: bytes = TEXT, dialect=dialect) -> None:
            query = (("append", None),) + ((("position", position),) if position is not None else ())
            recorder.send(f"{label} {dialect}", Request("POST", "data", key, query, fields, body), dialect)

        key = f"appends/{dialect}"
        append("creates", key, "0")
        append("again at 0", key, "0")
        append("at the end", key, "55")
        append("before the end", key, "55", body=b"more")
        append("beyond the end", key, "1000")
        append("nothing", key, "110", body=b"")
        append("with metadata", key, "110", ("x-oss-meta-a", "b"))
        append("with tags", key, "110", ("x-oss-tagging", "a=b"))
        append("with wrong digest", key, "110", ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="))
        for position in (None, "", "x", "-1", "+1", "99999999999999999999", str(1 << 48), str((1 << 48) + 1)):
            append(f"position {position}", f"{key}/defective", position)
        append("missing beyond the end", f"{key}/missing", "5")
        append("forbid overwrite", key, "110", ("x-oss-forbid-overwrite", "true"))
        world.put(f"{key}/put")
        append("to an object of PutObject", f"{key}/put", "55")
        append("to an object of parts", "world/parts", "0")
        append("to an object of a device", world.uploads["completed"].credentials.key, "0")
        append(
            "new with metadata",
            f"{key}/described",
            "0",
            ("x-oss-meta-a", "b"),
            ("Content-Type", "text/plain"),
            ("x-oss-tagging", "a=b"),
        )
        for method in ("GET", "HEAD"):
            recorder.send(f"{method} {dialect}", Request(method, "data", key), dialect)
            recorder.send(f"{method} described {dialect}", Request(method, "data", f"{key}/described"), dialect)
