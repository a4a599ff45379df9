"""Every operation of the store as a request, on an object or a bucket that is prepared for it."""

from collections.abc import Callable

from .wire import Request
from .world import TEXT, World, completion

#: Prefixes of the fields of the protocols.
S3, OSS = "x-amz-", "x-oss-"
#: The dialects of which most cases have a request each.
BOTH = ("oss4", "s3")
NO_UPLOAD = "0" * 32


def prefix(dialect: str) -> str:
    return S3 if dialect.startswith("s3") else OSS


def deletion(*keys: str, quiet: bool = False) -> bytes:
    """Returns the document of a DeleteObjects."""
    objects = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
    return f"<Delete>{'<Quiet>true</Quiet>' if quiet else ''}{objects}</Delete>".encode()


def tagging(*tags: tuple[str, str]) -> bytes:
    """Returns the document of a PutObjectTagging."""
    items = "".join(f"<Tag><Key>{key}</Key><Value>{value}</Value></Tag>" for key, value in tags)
    return f"<Tagging><TagSet>{items}</TagSet></Tagging>".encode()


class Operations:
    """Makes requests on an object of their own, with its preparation by a party that may write it; without one nothing is prepared."""

    def __init__(self, world: World, dialect: str, maker: str = "owner"):
        self.world, self.dialect, self.maker = world, dialect, maker

    def request(self, operation: str, key: str, bucket: str = "data", exists: bool = True) -> Request:
        """Returns the request of the operation, after its object was made unless it is to be missing."""
        self.bucket, self.key = bucket, key
        if exists and self.maker == "owner" and operation in NEED_OBJECT:
            self.world.put(key, bucket=bucket)
        return OPERATIONS[operation](self)

    def on_object(self, method: str, *query, fields: tuple = (), body: bytes = b"") -> Request:
        return Request(method, self.bucket, self.key, query, fields, body)

    def on_bucket(self, method: str, *query, body: bytes = b"") -> Request:
        return Request(method, self.bucket, None, query, body=body)

    def source(self) -> tuple[str, str]:
        return f"{prefix(self.dialect)}copy-source", "/data/world/text"

    def multipart(self) -> str:
        """Returns the id of a new multipart upload of the object."""
        if not self.maker:
            return NO_UPLOAD
        if self.maker == "owner":
            return self.world.initiate(self.key, bucket=self.bucket)
        name = f"{self.key} by {self.maker} {self.dialect}"
        body = self.world.send(self.on_object("POST", ("uploads", None)), by=self.maker).body.decode()
        upload_id = body.split("<UploadId>")[1].split("<")[0]
        self.world.masks.name(upload_id, f"upload {self.world.masks.apply(name)}")
        return upload_id

    def completion(self) -> Request:
        upload_id = self.multipart()
        etags = ['"' + "0" * 32 + '"']
        if self.maker:
            part = self.on_object("PUT", ("partNumber", "1"), ("uploadId", upload_id), body=TEXT)
            etags = [self.world.send(part, by=self.maker).get("etag")]
        return self.on_object("POST", ("uploadId", upload_id), body=completion(etags))


#: Name → the request.
OPERATIONS: dict[str, Callable[[Operations], Request]] = {
    "PutObject": lambda on: on.on_object("PUT", body=TEXT),
    "GetObject": lambda on: on.on_object("GET"),
    "HeadObject": lambda on: on.on_object("HEAD"),
    "DeleteObject": lambda on: on.on_object("DELETE"),
    "CopyObject": lambda on: on.on_object("PUT", fields=(on.source(),)),
    "InitiateMultipartUpload": lambda on: on.on_object("POST", ("uploads", None)),
    "UploadPart": lambda on: on.on_object("PUT", ("partNumber", "1"), ("uploadId", on.multipart()), body=TEXT),
    "UploadPartCopy": lambda on: on.on_object(
        "PUT", ("partNumber", "1"), ("uploadId", on.multipart()), fields=(on.source(),)
    ),
    "CompleteMultipartUpload": lambda on: on.completion(),
    "ListParts": lambda on: on.on_object("GET", ("uploadId", on.multipart())),
    "AbortMultipartUpload": lambda on: on.on_object("DELETE", ("uploadId", on.multipart())),
    "AppendObject": lambda on: on.on_object("POST", ("append", None), ("position", "0"), body=TEXT),
    "GetObjectAcl": lambda on: on.on_object("GET", ("acl", None)),
    "GetObjectAttributes": lambda on: on.on_object(
        "GET", ("attributes", None), fields=(("x-amz-object-attributes", "ETag,ObjectSize"),)
    ),
    "GetObjectMeta": lambda on: on.on_object("GET", ("objectMeta", None)),
    "HeadObjectMeta": lambda on: on.on_object("HEAD", ("objectMeta", None)),
    "GetObjectTagging": lambda on: on.on_object("GET", ("tagging", None)),
    "PutObjectTagging": lambda on: on.on_object("PUT", ("tagging", None), body=tagging(("a", "b"))),
    "DeleteObjectTagging": lambda on: on.on_object("DELETE", ("tagging", None)),
    "ListBuckets": lambda on: Request("GET", None),
    "HeadBucket": lambda on: on.on_bucket("HEAD"),
    "CreateBucket": lambda on: on.on_bucket("PUT"),
    "DeleteBucket": lambda on: on.on_bucket("DELETE"),
    "GetBucketLocation": lambda on: on.on_bucket("GET", ("location", None)),
    "ListObjects": lambda on: on.on_bucket("GET", ("prefix", "lists/a"), ("max-keys", "2")),
    "ListObjectsV2": lambda on: on.on_bucket("GET", ("list-type", "2"), ("prefix", "lists/a"), ("max-keys", "2")),
    "ListObjectVersions": lambda on: on.on_bucket("GET", ("versions", None), ("prefix", "lists/a"), ("max-keys", "2")),
    "ListMultipartUploads": lambda on: on.on_bucket("GET", ("uploads", None), ("prefix", "lists/a")),
    "DeleteObjects": lambda on: on.on_bucket("POST", ("delete", None), body=deletion(on.key)),
    "PostObject": lambda on: on.on_bucket("POST", body=TEXT),
}
#: Those that find something other than a missing object if it exists.
NEED_OBJECT = {
    "GetObject", "HeadObject", "DeleteObject", "GetObjectAcl", "GetObjectAttributes", "GetObjectMeta", "HeadObjectMeta",
    "GetObjectTagging", "PutObjectTagging", "DeleteObjectTagging", "DeleteObjects", "AppendObject", "PutObject",
    "CopyObject",
}  # fmt: skip
#: Those on the service or on a bucket.
ON_BUCKETS = set(list(OPERATIONS)[list(OPERATIONS).index("ListBuckets") :])
