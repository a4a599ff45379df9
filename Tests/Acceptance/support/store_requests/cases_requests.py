"""What the store implements and refuses: sub-resources, properties of buckets, header fields and parameters."""

from .operations import BOTH, Operations, prefix
from .recording import Recorder
from .wire import Request

#: Parameters by which either protocol distinguishes operations.
SUBRESOURCES = (
    "accelerate", "acl", "analytics", "append", "asyncFetch", "attributes", "bucketInfo", "callback", "comp", "cors",
    "delete", "encryption", "intelligent-tiering", "inventory", "legal-hold", "lifecycle", "live", "location",
    "logging", "metrics", "notification", "object-lock", "objectMeta", "ownershipControls", "partNumber", "policy",
    "policyStatus", "position", "publicAccessBlock", "qosInfo", "referer", "renameObject", "replication",
    "replicationLocation", "requestPayment", "resourceGroup", "restore", "retention", "select", "stat", "style",
    "symlink", "tagging", "torrent", "uploadId", "uploads", "versioning", "versions", "vod", "website", "worm",
    "wormExtend", "wormId", "x-oss-process", "unknown",
)  # fmt: skip
PROPERTIES = (
    "accelerate", "acl", "cors", "encryption", "bucketInfo", "lifecycle", "location", "logging", "notification",
    "object-lock", "ownershipControls", "policy", "policyStatus", "publicAccessBlock", "referer", "replication",
    "requestPayment", "stat", "tagging", "versioning", "website",
)  # fmt: skip


def subresources(recorder: Recorder) -> None:
    """Every sub-resource with every method, of the service, a bucket and an object."""
    for dialect in BOTH:
        for method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
            for name in SUBRESOURCES:
                for resource, bucket in (("service", None), ("bucket", "lists"), ("object", "data")):
                    label = f"{method} ?{name} of the {resource}, {dialect}"
                    key = f"subresources/{label}" if resource == "object" else None
                    recorder.send(label, Request(method, bucket, key, ((name, None),)), dialect)


def methods(recorder: Recorder) -> None:
    """Methods that the protocols do not have, and combinations of sub-resources."""
    for dialect in (*BOTH, "oss1"):
        for method in ("PATCH", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "get", "X"):
            for bucket, key in ((None, None), ("data", None), ("data", "world/text")):
                recorder.send(f"{method} {bucket}/{key} {dialect}", Request(method, bucket, key), dialect)
        for names in (("acl", "tagging"), ("uploads", "uploadId"), ("partNumber", "acl"), ("delete", "uploads"),
                      ("append", "uploadId"), ("list-type", "versions"), ("location", "cors"), ("acl", "acl")):  # fmt: skip
            for method in ("GET", "PUT", "POST", "DELETE"):
                for bucket, key in (("lists", None), ("data", f"methods/{method} {names} {dialect}")):
                    query = tuple((name, None) for name in names)
                    label = f"{method} ?{'&'.join(names)} of the {'object' if key else 'bucket'}, {dialect}"
                    recorder.send(label, Request(method, bucket, key, query), dialect)


def properties(recorder: Recorder) -> None:
    """Every property of buckets, by keys that may read them and by one that may not."""
    for dialect in (*BOTH, "oss1"):
        for name in PROPERTIES:
            for bucket, by in (("lists", "owner"), ("with.dots", "reader"), ("maps", "tools reader"), ("lists", "tools"),
                               ("unknown", "owner"), ("Invalid_", "owner"), ("lists", "completed")):  # fmt: skip
                recorder.send(
                    f"GET ?{name} of {bucket}, {dialect} by {by}",
                    Request("GET", bucket, None, ((name, None),)),
                    dialect,
                    by,
                )
            recorder.send(f"HEAD ?{name}, {dialect}", Request("HEAD", "lists", None, ((name, None),)), dialect)
            virtual = Request("GET", "lists", None, ((name, "value"),), virtual=True)
            recorder.send(f"GET ?{name}=value of a virtual host, {dialect}", virtual, dialect)


#: Name → values, of fields that both protocols have.
SHARED = {
    "cache-control": ("no-store", ""),
    "content-disposition": ("inline", ""),
    "content-encoding": ("gzip", "aws-chunked"),
    "content-language": ("en",),
    "content-type": ("text/css", ""),
    "expires": ("Thu, 01 Jan 2037 00:00:00 GMT", "never"),
    "content-md5": ("malformed", "AAAAAAAAAAAAAAAAAAAAAA=="),
    "range": ("bytes=0-3",),
    "if-range": ('"0"',),
    "if-match": ("*", '"0"'),
    "if-none-match": ("*", '"0"'),
    "if-modified-since": ("Sat, 01 Jan 2000 00:00:00 GMT", "x"),
    "if-unmodified-since": ("Sat, 01 Jan 2000 00:00:00 GMT", "x"),
    "response-cache-control": ("no-store",),
    "response-content-type": ("text/css",),
    "response-expires": ("x",),
    "versionid": ("null", "1"),
    "versionId": ("null", "", "1"),
}
S3_FIELDS = {
    "x-amz-meta-a": ("b", ""),
    "x-amz-tagging": ("a=b", "a=%", "aws:a=b"),
    "x-amz-tagging-directive": ("REPLACE", "MERGE"),
    "x-amz-metadata-directive": ("REPLACE", "MERGE"),
    "x-amz-copy-source": ("/data/world/text", "malformed"),
    "x-amz-copy-source-range": ("bytes=0-3", "x"),
    "x-amz-copy-source-if-match": ("*", '"0"'),
    "x-amz-copy-source-server-side-encryption-customer-algorithm": ("AES256",),
    "x-amz-server-side-encryption": ("AES256",),
    "x-amz-server-side-encryption-customer-key": ("a",),
    "x-amz-acl": ("private", "bucket-owner-full-control", "public-read"),
    "x-amz-grant-read": ("id=a",),
    "x-amz-storage-class": ("STANDARD", "GLACIER"),
    "x-amz-object-lock-mode": ("GOVERNANCE",),
    "x-amz-bypass-governance-retention": ("true",),
    "x-amz-mfa": ("a",),
    "x-amz-website-redirect-location": ("/a",),
    "x-amz-write-offset-bytes": ("0",),
    "x-amz-if-match-last-modified-time": ("a",),
    "x-amz-if-match-size": ("1",),
    "x-amz-rename-source-if-match": ("a",),
    "x-amz-expected-bucket-owner": ("data-gateway", "111122223333"),
    "x-amz-source-expected-bucket-owner": ("data-gateway", "111122223333"),
    "x-amz-checksum-algorithm": ("CRC32C", "MD5"),
    "x-amz-checksum-type": ("FULL_OBJECT", "COMPOSITE", "x"),
    "x-amz-checksum-mode": ("ENABLED", "x"),
    "x-amz-checksum-crc32": ("AAAAAA==", "x"),
    "x-amz-checksum-sha1": ("x",),
    "x-amz-checksum-md5": ("x",),
    "x-amz-sdk-checksum-algorithm": ("CRC32", "x"),
    "x-amz-trailer": ("x-amz-checksum-crc32",),
    "x-amz-decoded-content-length": ("55", "x"),
    "x-amz-mp-object-size": ("55", "1", "x"),
    "x-amz-object-attributes": ("ETag", "x"),
    "x-amz-max-parts": ("1", "x"),
    "x-amz-part-number-marker": ("1",),
    "x-amz-optional-object-attributes": ("x",),
    "x-amz-request-payer": ("requester",),
    "x-amz-user-agent": ("x",),
    "x-amz-api-version": ("x",),
    "x-amz-cf-id": ("x",),
    "x-amz-object-ownership": ("x",),
    "x-amz-bucket-object-lock-enabled": ("false", "true"),
    "x-amz-unknown": ("x",),
    "x-oss-meta-a": ("b",),
}
OSS_FIELDS = {
    "x-oss-meta-a": ("b", ""),
    "x-oss-tagging": ("a=b", "a=%", "a"),
    "x-oss-tagging-directive": ("Replace", "Merge"),
    "x-oss-metadata-directive": ("REPLACE", "MERGE"),
    "x-oss-forbid-overwrite": ("true", "false", "x"),
    "x-oss-copy-source": ("/data/world/text", "malformed"),
    "x-oss-copy-source-range": ("bytes=0-3", "x"),
    "x-oss-copy-source-if-match": ("*", '"0"'),
    "x-oss-server-side-encryption": ("AES256",),
    "x-oss-object-acl": ("private", "default", "public-read"),
    "x-oss-acl": ("private", "public-read"),
    "x-oss-storage-class": ("Standard", "IA"),
    "x-oss-object-worm-mode": ("a",),
    "x-oss-callback": ("a",),
    "callback": ("a",),
    "callback-var": ("a",),
    "x-oss-process": ("image/resize,w_10",),
    "x-oss-async-process": ("a",),
    "x-oss-persistent-headers": ("a",),
    "x-oss-symlink-target": ("a",),
    "x-oss-complete-all": ("yes", "no", "x"),
    "x-oss-range-behavior": ("standard", "x"),
    "x-oss-traffic-limit": ("819200",),
    "x-oss-request-payer": ("requester",),
    "x-oss-user-agent": ("x",),
    "x-oss-content-type": ("text/css",),
    "x-oss-unknown": ("x",),
    "sequential": ("",),
    "x-amz-meta-a": ("b",),
}
#: The operations with which each field is sent, and those with which each parameter is sent.
WITH_FIELDS = (
    "PutObject", "GetObject", "HeadObject", "DeleteObject", "CopyObject", "InitiateMultipartUpload", "UploadPart",
    "UploadPartCopy", "CompleteMultipartUpload", "AppendObject", "PutObjectTagging", "DeleteObjects", "ListObjects",
)  # fmt: skip
WITH_PARAMETERS = ("PutObject", "GetObject", "DeleteObject", "InitiateMultipartUpload")


def rules(recorder: Recorder) -> None:
    """Every field of the tables of rules with accepted and refused values, as a header field and as a parameter."""
    for dialect, own in (("s3", S3_FIELDS), ("oss4", OSS_FIELDS)):
        on = Operations(recorder.world, dialect)
        for name, values in (SHARED | own).items():
            for value in values:
                for operation in WITH_FIELDS:
                    if operation == "AppendObject" and dialect == "s3":
                        continue
                    label = f"{operation} {name}: {value}, {dialect}"
                    request = on.request(operation, f"rules/{label}")
                    fields = tuple(pair for pair in request.fields if pair[0] != name) + ((name, value),)
                    recorder.send(label, request.with_(fields=fields), dialect)
                for operation in WITH_PARAMETERS:
                    label = f"{operation} ?{name}={value}, {dialect}"
                    request = on.request(operation, f"rules/{label}").with_(query=((name, value),))
                    recorder.send(label, request, dialect)


def temporary_rules(recorder: Recorder) -> None:
    """Unknown and refused fields with the credentials of a device, which are treated as its software always sent them."""
    world = recorder.world
    for dialect in BOTH:
        start = prefix(dialect)
        for name, value in ((f"{start}unknown", "x"), (f"{start}storage-class", "IA"), (f"{start}tagging", "a=b"),
                            (f"{start}meta-a", "b"), ("if-none-match", "*"), ("if-match", '"0"'), ("content-md5", "x"),
                            (f"{start}forbid-overwrite", "true"), (f"{start}server-side-encryption", "AES256")):  # fmt: skip
            for operation in (
                "PutObject",
                "InitiateMultipartUpload",
                "UploadPart",
                "CompleteMultipartUpload",
                "GetObject",
            ):
                state = f"rules of {operation} {name} {dialect}"
                world.upload("open", state)
                request = Operations(world, dialect, state).request(operation, world.uploads[state].credentials.key)
                recorder.send(f"{operation} {name}: {value}, {dialect}", request.with_((name, value)), dialect, state)
