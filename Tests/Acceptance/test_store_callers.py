"""Every operation of the object store by callers who have no key of it: with the tokens of users, programs and devices, and with
the presigned URLs that users, service accounts and certificates get. None opens an operation, and none changes anything.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc
import pytest
from support import s3
from support.certificates import Authority
from support.parties import Fleet, User, call, exchange_system_credential, issue_system_credential
from support.raw import Response, fetch
from support.static_keys import OWNER
from support.uploads import completed, content

READ, READ_WRITE = 1, 3
ANOTHER = "tools/another"
DELETION = b"<Delete><Object><Key>tools/another</Key></Object></Delete>"
TAGS = b"<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>"


@dataclass(frozen=True)
class Request:
    """A request for one operation; `{another}` in `fields` is the other object."""

    method: str
    query: str = ""
    #: The path after the bucket's; None = the object of the caller.
    path: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


SOURCE = (("x-oss-copy-source", f"/data/{ANOTHER}"),)
S3_SOURCE = (("x-amz-copy-source", f"/data/{ANOTHER}"),)
OPERATIONS = {
    "ListBuckets": Request("GET", path=".."),
    "HeadBucket": Request("HEAD", path=""),
    "CreateBucket": Request("PUT", path=""),
    "DeleteBucket": Request("DELETE", path=""),
    "ListObjects": Request("GET", path=""),
    "ListObjectsV2": Request("GET", "list-type=2", path=""),
    "ListMultipartUploads": Request("GET", "uploads", path=""),
    "GetBucketInfo": Request("GET", "bucketInfo", path=""),
    "GetBucketLocation": Request("GET", "location", path=""),
    "GetBucketAcl": Request("GET", "acl", path=""),
    "GetBucketPolicy": Request("GET", "policy", path=""),
    "DeleteObjects": Request("POST", "delete", path="", body=DELETION),
    "PostObject": Request(
        "POST", path="", fields=(("Content-Type", "multipart/form-data; boundary=b"),), body=b"--b--"
    ),
    "GetObject of another": Request("GET", path=ANOTHER),
    "PutObject of another": Request("PUT", path=ANOTHER, body=b"changed"),
    "DeleteObject": Request("DELETE"),
    "DeleteObject of another": Request("DELETE", path=ANOTHER),
    "CopyObject": Request("PUT", fields=SOURCE),
    "CopyObject of S3": Request("PUT", fields=S3_SOURCE),
    "AppendObject": Request("POST", "append&position=0", body=b"more"),
    "UploadPartCopy": Request("PUT", "partNumber=1&uploadId=x", fields=SOURCE),
    "InitiateMultipartUpload of another": Request("POST", "uploads", path=ANOTHER),
    "GetObjectMeta": Request("HEAD", "objectMeta"),
    "GetObjectAcl": Request("GET", "acl"),
    "GetObjectAttributes": Request("GET", "attributes", fields=(("x-amz-object-attributes", "ETag"),)),
    "GetObjectTagging": Request("GET", "tagging"),
    "PutObjectTagging": Request("PUT", "tagging", body=TAGS),
    "DeleteObjectTagging": Request("DELETE", "tagging"),
}
TOKENS = ["a user", "a service account", "a device"]
URLS = [
    "a user, to read",
    "a service account, to read",
    "a service account, to write",
    "a certificate, to read",
    "a certificate, to write",
]


@dataclass
class Place:
    address: str
    owner: object
    #: The bearer tokens and the presigned URLs by caller.
    tokens: dict[str, str]
    urls: dict[str, str]
    #: The key of an object that users can download.
    key: str

    def send(self, request: Request, key: str, query: str = "", fields: dict[str, str] | None = None) -> Response:
        path = {None: f"/data/{key}", "": "/data", "..": "/"}.get(request.path, f"/data/{request.path}")
        requested = "&".join(filter(None, [request.query, query]))
        headers = dict(request.fields) | (fields or {})
        return fetch(self.address, request.method, path + (f"?{requested}" if requested else ""), request.body, headers)

    def state(self) -> dict[str, tuple[str, bytes]]:
        """Returns the ETag and the content of each object in the store."""
        listed = self.owner.list_objects_v2(Bucket="data").get("Contents", [])
        names = [{"Bucket": "data", "Key": entry["Key"]} for entry in listed]
        return {
            name["Key"]: (found["ETag"], found["Body"].read())
            for name in names
            for found in [self.owner.get_object(**name)]
        }


@pytest.fixture(scope="module")
def place(gateway_with, login, stubs, tmp_path_factory) -> Place:
    folder = tmp_path_factory.mktemp("callers")
    servers, programs = (Authority(folder, name) for name in ("servers", "programs"))
    gateway = gateway_with(
        {
            "listeners": {"internal": "127.0.0.1:0"},
            "tls": servers.tls("internal"),
            "internal": {"client_authorities": str(programs.path)},
            "object_store": {"static_keys": [OWNER.setting(folder)]},
        }
    )
    admin = login(gateway)
    fleet = Fleet.create(admin)
    uploader = fleet.uploader()
    upload = completed(uploader, content(1000))
    owner = s3.client(OWNER.credentials(gateway))
    owner.put_object(Bucket="data", Key=ANOTHER, Body=b"another")
    owner.put_object(Bucket="data", Key="tools/own", Body=b"own")
    admin.users("CreateUser", user_name="worker", password="a password of the worker", role="service")
    service = exchange_system_credential(gateway, stubs, issue_system_credential(admin, "worker")).access_token

    own, own_key, _ = programs.issue("program")
    channel = grpc.ssl_channel_credentials(servers.pem, own_key.read_bytes(), own.read_bytes())

    def presign(key: str, mode: int, token: str | None) -> object:
        """Asks at the internal listener: a token takes precedence over the certificate."""
        port = gateway.listeners["internal"].rsplit(":", 1)[1]
        request = stubs.gateway.PresignObjectRequest(
            object=stubs.gateway.StorageObject(bucket="data", object_key=key), access_mode=mode, expires_in_seconds=600
        )
        with grpc.secure_channel(f"localhost:{port}", channel) as connection:
            return call(stubs.gateway.InternalStorageServiceStub(connection).PresignObject, request, token)

    file_id = User.objects(admin, "ListObjects").objects[0].file_id
    urls = {"a user, to read": admin.objects("RequestDownload", file_ids=[file_id]).files[0].read.uri}
    for name, token in [("a service account", service), ("a certificate", None)]:
        urls[f"{name}, to read"] = presign("tools/own", READ, token).read.uri
        urls[f"{name}, to write"] = presign(f"new/{name.split()[-1]}", READ_WRITE, token).write.uri
    tokens = {"a user": admin.token, "a service account": service, "a device": uploader.sign_in().token}
    return Place(gateway.object_store, owner, tokens, urls, upload.credentials.key)


def assert_refused(response: Response) -> None:
    """400, 403, 404 or 501, with a document in either protocol; never a server's fault."""
    assert response.status in (400, 403, 404, 501), (response.status, response.body)


@pytest.mark.parametrize("caller", TOKENS)
def test_tokens_of_other_listeners_open_no_operation(place, caller):
    before = place.state()
    requests = OPERATIONS | {
        "GetObject": Request("GET"),
        "HeadObject": Request("HEAD"),
        "PutObject": Request("PUT", body=b"changed"),
        "InitiateMultipartUpload": Request("POST", "uploads"),
        "UploadPart": Request("PUT", "partNumber=1&uploadId=x", body=b"changed"),
        "CompleteMultipartUpload": Request("POST", "uploadId=x", body=b"<CompleteMultipartUpload/>"),
        "ListParts": Request("GET", "uploadId=x"),
        "AbortMultipartUpload": Request("DELETE", "uploadId=x"),
    }
    for request in requests.values():
        response = place.send(request, place.key, fields={"Authorization": f"Bearer {place.tokens[caller]}"})
        assert_refused(response)
    assert place.state() == before


@pytest.mark.parametrize("caller", URLS)
def test_presigned_urls_open_no_other_operation(place, caller):
    before = place.state()
    url = urlsplit(place.urls[caller])
    key = url.path.removeprefix("/data/")
    assert place.send(Request("GET" if caller.endswith("read") else "PUT", body=b""), key, url.query).status == 200
    before = place.state() if caller.endswith("write") else before
    for name, request in OPERATIONS.items():
        assert_refused(place.send(request, key, url.query))
        # The query of the signature before or after that of the operation.
        swapped = Request(request.method, url.query, request.path, request.fields, request.body)
        response = place.send(swapped, key, request.query)
        assert response.status in (400, 403, 404, 501), (name, response.status, response.body)
    assert place.state() == before
