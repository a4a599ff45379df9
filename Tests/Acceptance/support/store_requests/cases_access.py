"""Who may do what: every operation in every dialect and style, by every party, and requests whose authentication is defective."""

import re

from .operations import BOTH, ON_BUCKETS, OPERATIONS, Operations
from .recording import Recorder
from .signing import DIALECTS, UNSIGNED, Keys, Signing
from .wire import Request
from .world import STATES, TEXT


def operations(recorder: Recorder) -> None:
    """Every operation on an object that exists and on one that does not, in path style and with a virtual host."""
    for dialect in DIALECTS:
        on = Operations(recorder.world, dialect)
        for operation in OPERATIONS:
            for virtual in (False, True):
                for exists in (True, False) if operation not in ON_BUCKETS else (True,):
                    label = (
                        f"{operation} {dialect} {'virtual' if virtual else 'path'} {'present' if exists else 'absent'}"
                    )
                    request = on.request(operation, f"operations/{label}", exists=exists)
                    recorder.send(label, request.with_(virtual=virtual), dialect)


def _static_cases() -> list[tuple[str, str, str, str]]:
    """Returns a description, the key, the bucket, and the beginning of the object's key."""
    return [
        ("tools", "tools", "data", "tools/"),
        ("tools outside of the prefix", "tools", "data", "outside/"),
        ("tools in the second bucket", "tools", "maps", ""),
        ("tools in a hidden bucket", "tools", "lists", ""),
        ("maps", "maps", "maps", ""),
        ("maps in the first bucket", "maps", "data", "tools/maps/"),
        ("reader", "reader", "data", "read/"),
        ("tools reader", "tools reader", "data", "tools/"),
        ("small", "small", "data", "small/"),
        ("owner in an unknown bucket", "owner", "unknown", ""),
    ]


def static_keys(recorder: Recorder) -> None:
    """Every operation by each static key."""
    for dialect in BOTH:
        for description, key, bucket, start in _static_cases():
            on = Operations(recorder.world, dialect, "" if bucket == "unknown" else "owner")
            for operation in OPERATIONS:
                label = f"{operation} {dialect} {description}"
                request = on.request(operation, f"{start}static/{label}", bucket)
                recorder.send(label, request, dialect, key)


def device_objects(recorder: Recorder) -> None:
    """Every operation by static keys on objects of the device."""
    for dialect in BOTH:
        for key in ("owner", "reader", "tools"):
            for state in ("open", "stored", "completed", "aborted"):
                on = Operations(recorder.world, dialect, "")
                for operation in [name for name in OPERATIONS if name not in ON_BUCKETS] + ["DeleteObjects"]:
                    request = on.request(operation, recorder.world.uploads[state].credentials.key)
                    recorder.send(f"{operation} {dialect} {key} on {state}", request, dialect, key)


def temporary(recorder: Recorder) -> None:
    """Every operation with the credentials of an upload in each state, and with those of another object."""
    world = recorder.world
    for dialect in BOTH:
        for operation in OPERATIONS:
            name = f"open for {operation} {dialect}"
            world.upload("stored", name)
            on = Operations(world, dialect, name)
            request = on.request(operation, world.uploads[name].credentials.key)
            recorder.send(f"{operation} {dialect} open", request, dialect, name)
            on = Operations(world, dialect, "")
            for state in STATES:
                request = on.request(operation, world.uploads[state].credentials.key)
                if state not in ("open", "stored"):
                    recorder.send(f"{operation} {dialect} {state}", request, dialect, state)
            foreign = on.request(operation, world.uploads["another"].credentials.key)
            recorder.send(f"{operation} {dialect} of another object", foreign, dialect, "completed")
            recorder.send(
                f"{operation} {dialect} of an object of a key", on.request(operation, "world/text"), dialect, "open"
            )


def temporary_dialects(recorder: Recorder) -> None:
    """The device's own operations in each dialect."""
    world = recorder.world
    for dialect in DIALECTS:
        for operation in ("PutObject", "GetObject", "HeadObject", "InitiateMultipartUpload", "UploadPart",
                          "CompleteMultipartUpload", "ListParts", "AbortMultipartUpload"):  # fmt: skip
            for virtual in (False, True):
                name = f"open for {operation} {dialect} {virtual}"
                world.upload("open", name)
                on = Operations(world, dialect, name)
                request = on.request(operation, world.uploads[name].credentials.key).with_(virtual=virtual)
                recorder.send(f"{operation} {dialect} {'virtual' if virtual else 'path'}", request, dialect, name)


def _defective_keys(recorder: Recorder) -> dict[str, Keys | None]:
    device, owner = recorder.world.keys("completed"), recorder.world.keys("owner")
    middle = len(device.token) // 2
    changed = device.token[:middle] + ("A" if device.token[middle] != "A" else "B") + device.token[middle + 1 :]
    recorder.world.masks.name(changed, "changed token")
    return {
        "wrong secret": Keys(owner.id, "wrong"),
        "unknown id": Keys("UNKNOWN", owner.secret),
        "short id": Keys("x", owner.secret),
        "static key with an empty token": Keys(owner.id, owner.secret, ""),
        "static key with a token": Keys(owner.id, owner.secret, device.token),
        "unknown id with an empty token": Keys("UNKNOWN", owner.secret, ""),
        "device without its token": Keys(device.id, device.secret),
        "device with a wrong secret": Keys(device.id, "wrong", device.token),
        "device with another id": Keys("STS.other", device.secret, device.token),
        "device with a changed token": Keys(device.id, device.secret, changed),
        "device with a malformed token": Keys(device.id, device.secret, "malformed"),
        "anonymous": None,
    }


def defective_keys(recorder: Recorder) -> None:
    """Wrong secrets, ids and tokens with some operations in each dialect."""
    for dialect in DIALECTS:
        for description, keys in _defective_keys(recorder).items():
            for operation in ("GetObject", "HeadObject", "PutObject", "ListObjects", "HeadBucket", "ListBuckets",
                              "DeleteObjects", "CompleteMultipartUpload"):  # fmt: skip
                if keys is None and dialect not in BOTH:
                    continue
                on = Operations(recorder.world, dialect, "")
                request = on.request(operation, recorder.world.uploads["completed"].credentials.key)
                label = f"{operation} {dialect} {description}"
                if keys is None and dialect == "s3":
                    request = request.with_(("x-amz-request-payer", "requester"))
                recorder.send(label, request, dialect if keys else None, keys=keys)


def dates(recorder: Recorder) -> None:
    """Signed dates before and after now, and lifetimes of URLs."""
    hour, day = 3600, 86_400
    read = Request("GET", "data", "world/text")
    for dialect in DIALECTS:
        for skew in (-8 * day, -2 * day, -hour, -600, 0, 600, hour, 2 * day):
            for by in ("owner", "completed"):
                request = read if by == "owner" else Request("GET", "data", recorder.world.uploads[by].credentials.key)
                for method in ("GET", "HEAD"):
                    label = f"{method} {dialect} signed {skew} s from now by {by}"
                    recorder.send(label, request.with_(method=method), dialect, by, skew=skew)
        if dialect.endswith("url"):
            for lifetime in (-1, 0, 604_800, 604_801, 10**12):
                recorder.send(f"GET {dialect} lifetime {lifetime}", read, dialect, lifetime=lifetime)


#: Dialect → changes of the signed request by regular expressions.
MANGLED = {
    "oss1": {
        "no signature": (rb"(Authorization: OSS [^:]+):[^\r]+", rb"\1"),
        "three parts": (rb"(Authorization: OSS [^:]+):", rb"\1:x:"),
        "signature not in base64": (rb"(Authorization: OSS [^:]+):[^\r]+", rb"\1:!!"),
        "other type": (rb"Authorization: OSS ", rb"Authorization: Bearer "),
        "empty field": (rb"Authorization: [^\r]+", rb"Authorization: "),
        "only the type": (rb"Authorization: [^\r]+", rb"Authorization: OSS"),
        "no date": (rb"Date: [^\r]+\r\n", rb""),
        "malformed date": (rb"Date: [^\r]+", rb"Date: yesterday"),
        "lower-case type": (rb"Authorization: OSS ", rb"Authorization: oss "),
    },
    "oss4": {
        "no signature": (rb",Signature=\w+", rb""),
        "no credential": (rb"Credential=[^,]+,", rb""),
        "short credential": (rb"/oss/aliyun_v4_request", rb"/oss"),
        "other service": (rb"/oss/aliyun_v4_request", rb"/s3/aliyun_v4_request"),
        "other day": (rb"(Credential=\w+)/\d+", rb"\1/20200101"),
        "signature not in hexadecimal": (rb"Signature=\w+", rb"Signature=xyz"),
        "signature twice": (rb"(,Signature=\w+)", rb"\1\1"),
        "no date": (rb"x-oss-date: [^\r]+\r\n", rb""),
        "malformed date": (rb"x-oss-date: [^\r]+", rb"x-oss-date: yesterday"),
        "other payload": (rb"x-oss-content-sha256: [^\r]+", b"x-oss-content-sha256: " + b"0" * 64),
        "no payload": (rb"x-oss-content-sha256: [^\r]+\r\n", rb""),
        "spaces": (rb",Signature", rb", Signature"),
        "unsigned field": (rb"Authorization", rb"x-oss-meta-a: b\r\nAuthorization"),
        "no items": (rb"Authorization: [^\r]+", rb"Authorization: OSS4-HMAC-SHA256 x"),
    },
    "s3": {
        "no signature": (rb", Signature=\w+", rb""),
        "no credential": (rb"Credential=[^,]+, ", rb""),
        "no signed headers": (rb"SignedHeaders=[^,]+, ", rb""),
        "host not signed": (rb"SignedHeaders=host;", rb"SignedHeaders="),
        "signed headers not sorted": (rb"SignedHeaders=host;x-amz-content-sha256", rb"SignedHeaders=x-amz-content-sha256;host"),
        "short credential": (rb"/s3/aws4_request", rb"/s3"),
        "other service": (rb"/s3/aws4_request", rb"/ec2/aws4_request"),
        "other day": (rb"(Credential=\w+)/\d+", rb"\1/20200101"),
        "signature not in hexadecimal": (rb"Signature=\w+", rb"Signature=xyz"),
        "no date": (rb"x-amz-date: [^\r]+\r\n", rb""),
        "malformed date": (rb"x-amz-date: [^\r]+", rb"x-amz-date: yesterday"),
        "no payload": (rb"x-amz-content-sha256: [^\r]+\r\n", rb""),
        "other payload": (rb"x-amz-content-sha256: [^\r]+", b"x-amz-content-sha256: " + b"0" * 64),
        "unsigned field": (rb"Authorization", rb"x-amz-meta-a: b\r\nAuthorization"),
        "no spaces": (rb", ", rb","),
        "version 2": (rb"Authorization: [^\r]+", rb"Authorization: AWS OWNER:c2lnbmF0dXJl"),
        "no items": (rb"Authorization: [^\r]+", rb"Authorization: AWS4-HMAC-SHA256 x"),
        "other host": (rb"Host: [^\r]+", rb"Host: other.example.com"),
    },
    "oss1-url": {
        "no key id": (rb"OSSAccessKeyId=[^&]+&", rb""),
        "no expiry": (rb"&Expires=\d+", rb""),
        "malformed expiry": (rb"Expires=\d+", rb"Expires=soon"),
        "expiry in the past": (rb"Expires=\d+", rb"Expires=1"),
        "signature not in base64": (rb"Signature=[^ &]+", rb"Signature=!!"),
        "empty signature": (rb"Signature=[^ &]+", rb"Signature="),
        "signature twice": (rb"(&Signature=[^ &]+)", rb"\1\1"),
        "no signature": (rb"&Signature=[^ &]+", rb""),
    },
    "oss4-url": {
        "no credential": (rb"x-oss-credential=[^ &]+&", rb""),
        "no expiry": (rb"&x-oss-expires=\d+", rb""),
        "malformed expiry": (rb"x-oss-expires=\d+", rb"x-oss-expires=soon"),
        "no date": (rb"&x-oss-date=\w+", rb""),
        "malformed date": (rb"x-oss-date=\w+", rb"x-oss-date=yesterday"),
        "other version": (rb"OSS4-HMAC-SHA256", rb"OSS5-HMAC-SHA256"),
        "signature not in hexadecimal": (rb"x-oss-signature=\w+", rb"x-oss-signature=xyz"),
        "additional parameter": (rb"x-oss-credential", rb"a=b&x-oss-credential"),
    },
    "s3-url": {
        "no credential": (rb"X-Amz-Credential=[^ &]+&", rb""),
        "no expiry": (rb"&X-Amz-Expires=\d+", rb""),
        "malformed expiry": (rb"X-Amz-Expires=\d+", rb"X-Amz-Expires=soon"),
        "no date": (rb"&X-Amz-Date=\w+", rb""),
        "malformed date": (rb"X-Amz-Date=\w+", rb"X-Amz-Date=yesterday"),
        "other algorithm": (rb"AWS4-HMAC-SHA256", rb"AWS5-HMAC-SHA256"),
        "signature not in hexadecimal": (rb"X-Amz-Signature=\w+", rb"X-Amz-Signature=xyz"),
        "no signature": (rb"&X-Amz-Signature=\w+", rb""),
        "host not signed": (rb"X-Amz-SignedHeaders=host", rb"X-Amz-SignedHeaders=date"),
        "additional parameter": (rb"X-Amz-Algorithm", rb"a=b&X-Amz-Algorithm"),
        "version 2": (rb"X-Amz-Algorithm=[^ ]+", rb"AWSAccessKeyId=OWNER&Signature=c2ln&Expires=1"),
        "unsigned field": (rb"Host:", rb"x-amz-meta-a: b\r\nHost:"),
    },
}  # fmt: skip


def mangled(recorder: Recorder) -> None:
    """Authentications that are changed after they were made, with a read, a write, and a list."""
    requests = {
        "GET": Request("GET", "data", "world/text"),
        "HEAD": Request("HEAD", "data", "world/text"),
        "PUT": Request("PUT", "data", "mangled/text", body=TEXT),
        "list": Request("GET", "lists", None, (("max-keys", "1"),)),
    }
    for dialect, changes in MANGLED.items():
        for name, request in requests.items():
            for description, (pattern, replacement) in changes.items():
                if name == "PUT":
                    request = request.with_(key=f"mangled/{dialect} {description}")
                data = recorder.world.written(request, Signing(dialect, recorder.world.keys("owner")))
                changed, count = re.subn(pattern, replacement, data, count=1)
                assert count, (dialect, description, data)
                recorder.raw(f"{name} {dialect} {description}", changed)


def two_authentications(recorder: Recorder) -> None:
    """Requests that are signed twice, in all pairs of the dialects."""
    read = Request("GET", "data", "world/text")
    for first in DIALECTS:
        for second in DIALECTS:
            how = Signing(second, recorder.world.keys("owner"))
            data = recorder.world.written(read, how)
            head, _, rest = data.partition(b"\r\n\r\n")
            other = recorder.world.written(read, Signing(first, recorder.world.keys("owner")))
            target, other_target = (bytes_.split(b" ")[1] for bytes_ in (data, other))
            query = b"&".join(part for part in (target.partition(b"?")[2], other_target.partition(b"?")[2]) if part)
            fields = [line for line in other.split(b"\r\n")[1:] if line and not line.startswith(b"Host:")]
            line = b"GET /data/world/text" + (b"?" + query if query else b"") + b" HTTP/1.1"
            recorder.raw(
                f"{first} and {second}", b"\r\n".join([line, *head.split(b"\r\n")[1:], *fields]) + b"\r\n\r\n" + rest
            )


def variants(recorder: Recorder) -> None:
    """Valid forms of signatures that only some clients use."""
    read, write = Request("GET", "data", "world/text"), Request("PUT", "data", "variants/x", body=TEXT)
    overrides = read.with_(query=(("response-content-type", "text/css"), ("other", "1")))
    for dialect in DIALECTS:
        recorder.send(f"{dialect} with further parameters", overrides, dialect)
        recorder.send(
            f"{dialect} with a Content-Type",
            write.with_(("Content-Type", "text/css"), key=f"variants/type {dialect}"),
            dialect,
        )
        recorder.send(f"{dialect} with a range", read.with_(("Range", "bytes=1-2")), dialect)
        recorder.send(
            f"{dialect} with metadata",
            write.with_(
                (f"x-{'amz' if dialect[:2] == 's3' else 'oss'}-meta-a", " b  c "), key=f"variants/meta {dialect}"
            ),
            dialect,
        )
        recorder.send(f"{dialect} for an encoded key", Request("GET", "data", "world/ä b+c&d=e?f#g%h"), dialect)
        recorder.send(
            f"{dialect} for an encoded key, virtual",
            Request("GET", "data", "world/ä b+c&d=e?f#g%h", virtual=True),
            dialect,
        )
    for dialect in ("oss4", "oss4-url"):
        recorder.send(
            f"{dialect} with additional fields",
            read.with_(("Range", "bytes=1-2")),
            dialect,
            additional=("host", "range"),
        )
        recorder.send(f"{dialect} with an absent additional field", read, dialect, additional=("host", "range"))
    for dialect in ("s3", "s3-url"):
        public = "oss-local.store.example.com"
        recorder.send(f"{dialect} signed for the public host", read, dialect, host=public)
        recorder.send(f"{dialect} signed for another host", read, dialect, host="other.example.com")
        recorder.send(
            f"{dialect} virtual, signed for the public host", read.with_(virtual=True), dialect, host=f"data.{public}"
        )
        recorder.send(
            f"{dialect} with an unsigned payload",
            write.with_(key=f"variants/unsigned {dialect}"),
            dialect,
            payload=UNSIGNED,
        )
        recorder.send(
            f"{dialect} with a wrong payload", write.with_(key=f"variants/wrong {dialect}"), dialect, payload="0" * 64
        )
        recorder.send(
            f"{dialect} with an invalid payload",
            write.with_(key=f"variants/invalid {dialect}"),
            dialect,
            payload="invalid",
        )
