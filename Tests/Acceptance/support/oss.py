"""Clients of the object store: real SDKs behind one small interface, with their CRC checks enabled."""

import datetime
from dataclasses import dataclass, field

import alibabacloud_oss_v2 as oss
import oss2
from alibabacloud_oss_v2 import exceptions as oss_exceptions

from .waiting import WAIT_SECONDS


class StoreError(Exception):
    """A client's view of an error: the HTTP status and the code of the error document."""

    def __init__(self, status: int, code: str, message: str, request_id: str):
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message, self.request_id = status, code, message, request_id


@dataclass
class Part:
    number: int
    etag: str
    size: int = 0


@dataclass
class Parts:
    parts: list[Part]
    truncated: bool
    next_marker: int | None


@dataclass
class Meta:
    size: int
    etag: str  # exactly as the header had it
    crc64: int
    headers: dict[str, str]


@dataclass
class Credentials:
    """The contents of UploadCredentials for a client of the store; tests change fields to provoke refusals."""

    bucket: str
    endpoint: str
    key: str
    access_key_id: str
    secret: str
    token: str
    region: str
    part_size: int

    @classmethod
    def of(cls, issued) -> "Credentials":
        return cls(
            issued.bucket,
            issued.endpoint,
            issued.object_key,
            issued.sts_access_key_id,
            issued.sts_access_key_secret,
            issued.sts_security_token,
            issued.object_store_region,
            issued.part_size_bytes,
        )


class AlibabaV2:
    """`alibabacloud-oss-v2`; signature V4, or V1 on request."""

    def __init__(self, credentials: Credentials, signature_version: str = "v4"):
        self.credentials = credentials
        self.client = oss.Client(
            oss.Config(
                region=credentials.region,
                endpoint=credentials.endpoint,
                signature_version=signature_version,
                credentials_provider=oss.credentials.StaticCredentialsProvider(
                    credentials.access_key_id, credentials.secret, credentials.token
                ),
            )
        )

    def put(self, data: bytes) -> Meta:
        return self._meta(self._call("put_object", oss.PutObjectRequest, body=data), len(data))

    def initiate(self) -> str:
        return self._call("initiate_multipart_upload", oss.InitiateMultipartUploadRequest).upload_id

    def upload_part(self, upload_id: str, number: int, data: bytes) -> Part:
        reply = self._call("upload_part", oss.UploadPartRequest, upload_id=upload_id, part_number=number, body=data)
        return Part(number, reply.etag, len(data))

    def list_parts(self, upload_id: str, max_parts: int | None = None, marker: int | None = None) -> Parts:
        reply = self._call(
            "list_parts", oss.ListPartsRequest, upload_id=upload_id, max_parts=max_parts, part_number_marker=marker
        )
        parts = [Part(part.part_number, part.etag, part.size) for part in reply.parts or []]
        return Parts(parts, reply.is_truncated, reply.next_part_number_marker)

    def complete(self, upload_id: str, parts: list[Part]) -> str:
        body = oss.CompleteMultipartUpload(
            parts=[oss.UploadPart(part_number=part.number, etag=part.etag) for part in parts]
        )
        reply = self._call(
            "complete_multipart_upload",
            oss.CompleteMultipartUploadRequest,
            upload_id=upload_id,
            complete_multipart_upload=body,
        )
        assert reply.headers["ETag"] == reply.etag, "the header and the document name different ETags"
        return reply.etag

    def abort(self, upload_id: str) -> None:
        self._call("abort_multipart_upload", oss.AbortMultipartUploadRequest, upload_id=upload_id)

    def head(self) -> Meta:
        reply = self._call("head_object", oss.HeadObjectRequest)
        return self._meta(reply, reply.content_length)

    def get(self, range_header: str | None = None) -> bytes:
        reply = self._call("get_object", oss.GetObjectRequest, range_header=range_header)
        try:
            return reply.body.content
        finally:
            reply.body.close()

    def presign_get(self, seconds: int) -> str:
        return self.client.presign(
            oss.GetObjectRequest(bucket=self.credentials.bucket, key=self.credentials.key),
            expires=datetime.timedelta(seconds=seconds),
        ).url

    def presign_put(self, seconds: int) -> str:
        return self.client.presign(
            oss.PutObjectRequest(bucket=self.credentials.bucket, key=self.credentials.key),
            expires=datetime.timedelta(seconds=seconds),
        ).url

    def _call(self, method: str, request, **fields):
        request = request(bucket=self.credentials.bucket, key=self.credentials.key, **fields)
        try:
            return getattr(self.client, method)(request)
        except oss_exceptions.OperationError as error:
            cause = error.unwrap()
            if isinstance(cause, oss_exceptions.ServiceError):
                raise StoreError(cause.status_code, cause.code, cause.message, cause.request_id) from error
            raise

    @staticmethod
    def _meta(reply, size: int) -> Meta:
        return Meta(size, reply.headers["ETag"], int(reply.headers["x-oss-hash-crc64ecma"]), dict(reply.headers))


@dataclass
class Oss2:
    """`oss2`; signature V1 or V4."""

    credentials: Credentials
    signature_version: str
    _crcs: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self):
        credentials = self.credentials
        self.bucket = oss2.Bucket(
            oss2.StsAuth(
                credentials.access_key_id, credentials.secret, credentials.token, auth_version=self.signature_version
            ),
            credentials.endpoint,
            credentials.bucket,
            region=credentials.region,
            connect_timeout=(WAIT_SECONDS, WAIT_SECONDS),
        )

    def put(self, data: bytes) -> Meta:
        reply = self._call("put_object", data)
        return self._meta(reply, len(data))

    def initiate(self) -> str:
        return self._call("init_multipart_upload").upload_id

    def upload_part(self, upload_id: str, number: int, data: bytes) -> Part:
        reply = self._call("upload_part", upload_id, number, data)
        self._crcs[upload_id, number] = reply.crc, len(data)
        return Part(number, reply.resp.headers["ETag"], len(data))

    def list_parts(self, upload_id: str, max_parts: int | None = None, marker: int | None = None) -> Parts:
        reply = self._call("list_parts", upload_id, marker=str(marker or ""), max_parts=max_parts or 1000)
        # This SDK strips the quotes of listed ETags.
        parts = [Part(part.part_number, f'"{part.etag}"', part.size) for part in reply.parts]
        return Parts(parts, reply.is_truncated, int(reply.next_marker) if reply.next_marker else None)

    def complete(self, upload_id: str, parts: list[Part]) -> str:
        # With sizes and CRCs, the SDK itself combines the CRC of the whole object and compares it with the
        # response's.
        infos = []
        for part in parts:
            crc, size = self._crcs.get((upload_id, part.number), (None, None))
            infos.append(oss2.models.PartInfo(part.number, part.etag.strip('"'), size=size, part_crc=crc))
        return self._call("complete_multipart_upload", upload_id, infos).resp.headers["ETag"]

    def abort(self, upload_id: str) -> None:
        self._call("abort_multipart_upload", upload_id)

    def head(self) -> Meta:
        reply = self._call("head_object")
        return self._meta(reply, reply.content_length)

    def get(self, range_header: str | None = None) -> bytes:
        headers = {"Range": range_header} if range_header else None
        with self._call("get_object", headers=headers) as reply:
            return reply.read()

    def presign_get(self, seconds: int) -> str:
        return self.bucket.sign_url("GET", self.credentials.key, seconds, slash_safe=True)

    def presign_put(self, seconds: int) -> str:
        return self.bucket.sign_url("PUT", self.credentials.key, seconds, slash_safe=True)

    def _call(self, method: str, *arguments, **options):
        try:
            return getattr(self.bucket, method)(self.credentials.key, *arguments, **options)
        except oss2.exceptions.ServerError as error:
            raise StoreError(error.status, error.code, error.message, error.request_id) from error

    @staticmethod
    def _meta(reply, size: int) -> Meta:
        headers = reply.resp.headers
        return Meta(size, headers["ETag"], int(headers["x-oss-hash-crc64ecma"]), dict(headers))


#: The factory of each client by name, which takes credentials.
CLIENTS = {
    "alibabacloud-v4": lambda credentials: AlibabaV2(credentials),
    "alibabacloud-v1": lambda credentials: AlibabaV2(credentials, signature_version="v1"),
    "oss2-v1": lambda credentials: Oss2(credentials, oss2.AUTH_VERSION_1),
    "oss2-v4": lambda credentials: Oss2(credentials, oss2.AUTH_VERSION_4),
}
