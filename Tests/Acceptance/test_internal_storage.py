"""InternalStorageService: any object, for programs that the operator trusts; and its URLs, with common clients."""

import subprocess
import urllib.error
import urllib.request

import grpc
import oss2
import pytest
from support.certificates import Authority
from support.gateway import eventually
from support.parties import User, call, unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import Upload, completed, content

READ, WRITE, READ_WRITE = 1, 2, 3
BUCKET = "data"


@pytest.fixture
def key() -> str:
    """A key without an object, with characters that must be encoded."""
    return f"reports/{unique('a +&?ü')}/summary.json"


def presign(user: User, key: str, mode: int, seconds: int = 600, bucket: str = BUCKET):
    return user.internal("PresignObject", bucket, key, access_mode=mode, expires_in_seconds=seconds)


def by_curl(operation, data: bytes, tmp_path) -> int:
    (path := tmp_path / "body").write_bytes(data)
    command = ["curl", "--silent", "--write-out", "%{http_code}", "--output", "/dev/null", "-T", str(path)]
    return int(subprocess.run([*command, operation.uri], capture_output=True, check=True).stdout)


def by_oss2(operation, data: bytes, tmp_path) -> int:
    bucket = oss2.Bucket(oss2.AnonymousAuth(), operation.uri.split("/data/")[0], BUCKET)
    return bucket.put_object_with_url(operation.uri, data, headers=dict(operation.headers)).status


def by_urllib(operation, data: bytes, tmp_path) -> int:
    """Sends with urllib, which adds its own content type: application/x-www-form-urlencoded."""
    request = urllib.request.Request(operation.uri, data, dict(operation.headers), method=operation.method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return reply.status


def by_rest(user: User, key: str, tmp_path) -> bytes:
    """Returns the content of an object as a script gets it."""
    url = f"http://{user.gateway.listeners['internal']}/v1/internal/objects:content"
    command = ["curl", "--silent", "--fail", "--http2-prior-knowledge", "--get", url, "--output", tmp_path / "content"]
    command += ["-H", f"Authorization: Bearer {user.token}", "--data-urlencode", f"object.object_key={key}"]
    command += ["--data-urlencode", f"object.bucket={BUCKET}", "--data-urlencode", "max_bytes=100000"]
    subprocess.run(command, check=True)
    return (tmp_path / "content").read_bytes()


@pytest.mark.parametrize("put", [by_curl, by_oss2, by_urllib])
def test_object_put_by_a_presigned_url_is_read_by_one(admin, key, tmp_path, put, stubs):
    presigned = presign(admin, key, READ_WRITE)
    assert (presigned.object.bucket, presigned.object.object_key) == (BUCKET, key)
    assert (presigned.read.method, presigned.write.method) == ("GET", "PUT")
    assert fetch_url(presigned.read.uri).status == 404
    data = content(100_000, seed=7)
    assert put(presigned.write, data, tmp_path) == 200
    assert fetch_url(presigned.read.uri).body == data
    assert fetch_url(presigned.read.uri, headers={"Range": "bytes=5-9"}).body == data[5:10]
    again = presign(admin, key, READ)
    assert not again.HasField("write")
    bucket = oss2.Bucket(oss2.AnonymousAuth(), again.read.uri.split("/data/")[0], BUCKET)
    assert bucket.get_object_with_url(again.read.uri).read() == data

    found = admin.internal("ReadObject", BUCKET, key, max_bytes=100_000)
    assert found.content == data and found.etag == bucket.get_object_with_url(again.read.uri).headers["ETag"]
    assert found.content_type in ("application/octet-stream", "application/x-www-form-urlencoded")
    assert by_rest(admin, key, tmp_path) == data
    # A finished object is never overwritten: neither with the same URL, nor is another one issued.
    response = fetch_url(presigned.write.uri, method="PUT", body=b"x")
    assert (response.status, b"<Code>AccessDenied</Code>" in response.body) == (403, True)
    for mode in (WRITE, READ_WRITE):
        with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
            presign(admin, key, mode)
        assert key in refusal.message


def test_url_permits_only_its_method_and_key(admin, key):
    presigned = presign(admin, key, READ_WRITE)
    assert fetch_url(presigned.read.uri, method="PUT", body=b"x").status == 403
    assert fetch_url(presigned.write.uri).status == 403
    other = presigned.write.uri.replace("summary.json", "another.json")
    assert fetch_url(other, method="PUT", body=b"x").status == 403
    assert fetch_url(presigned.write.uri + "&uploads=", method="POST").status == 403
    assert fetch_url(presigned.write.uri, method="PUT", body=b"x").status == 200


def test_one_of_two_writers_wins(admin, key):
    urls = [presign(admin, key, WRITE).write.uri for _ in range(2)]
    assert [fetch_url(url, method="PUT", body=b"one of them").status for url in urls] == [200, 403]


def test_an_upload_that_was_completed_is_read_only(admin, uploader, stubs):
    data = content(70_000)
    upload = completed(uploader, data)
    presigned = presign(admin, upload.credentials.key, READ)
    assert fetch_url(presigned.read.uri).body == data
    for mode in (WRITE, READ_WRITE):
        with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
            presign(admin, upload.credentials.key, mode)


def test_upload_in_progress_accepts_a_presigned_write(admin, uploader, upload, stubs):
    data = content(4000)
    presigned = presign(admin, upload.credentials.key, WRITE)
    assert fetch_url(presigned.write.uri, method="PUT", body=data).status == 200
    upload.size, upload.etag = len(data), upload.store.head().etag
    upload.complete()
    aborted = Upload.create(uploader)
    presigned = presign(admin, aborted.credentials.key, WRITE)
    uploader.abort(aborted.logical_id)
    assert fetch_url(presigned.write.uri, method="PUT", body=data).status == 404
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        presign(admin, aborted.credentials.key, WRITE)


def test_expired_and_revoked_urls_are_refused(admin, gateway, stubs, key):
    assert fetch_url(presign(admin, key, WRITE).write.uri, method="PUT", body=b"x").status == 200
    url = presign(admin, key, READ, seconds=1).read.uri
    response = eventually(lambda: (it := fetch_url(url)).status != 200 and it)
    assert response.status == 403 and b"Request has expired" in response.body
    name, password = unique("admin"), "a password of some length"
    admin.users("CreateUser", user_name=name, password=password, role="admin")
    operator = User.login(gateway, stubs, "system", name, password)
    url = presign(operator, unique("key"), WRITE).write.uri
    admin.users("UpdateUser", user_name=name, role="viewer")
    assert fetch_url(url, method="PUT", body=b"x").status == 403


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"expires_in_seconds": 0}, "expires_in_seconds"),
        ({"expires_in_seconds": -1}, "expires_in_seconds"),
        ({"expires_in_seconds": 3601}, "expires_in_seconds"),
        ({"access_mode": 0}, "access_mode"),
        ({"access_mode": 4}, "access_mode"),
        ({"key": ""}, "object.object_key"),
        ({"key": "a/../b"}, "object.object_key"),
        ({"key": "/a"}, "object.object_key"),
        ({"key": "a\nb"}, "object.object_key"),
        ({"key": "k" * 1024}, "object.object_key"),
        ({"bucket": "B"}, "object.bucket"),
    ],
)
def test_presign_names_what_is_wrong(admin, stubs, fields, named):
    fields = {"bucket": BUCKET, "key": "a", "access_mode": WRITE, "expires_in_seconds": 60} | fields
    bucket, key = fields.pop("bucket"), fields.pop("key")
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        admin.internal("PresignObject", bucket, key, **fields)
    assert named in refusal.message


def test_missing_object_is_not_found(admin, stubs, key):
    with refused(stubs, "NOT_FOUND"):
        presign(admin, key, READ)
    with refused(stubs, "NOT_FOUND"):
        admin.internal("ReadObject", BUCKET, key, max_bytes=1)


def test_read_object_is_bounded(admin, gateway, stubs, key):
    url = presign(admin, key, WRITE).write.uri
    response = fetch_url(url, method="PUT", body=b"0123456789", headers={"Content-Type": "text/plain; charset=utf-8"})
    assert response.status == 200
    found = admin.internal("ReadObject", BUCKET, key, max_bytes=10, allowed_content_types=["image/*", "Text/Plain"])
    assert (found.content, found.content_type) == (b"0123456789", "text/plain; charset=utf-8")
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        admin.internal("ReadObject", BUCKET, key, max_bytes=9)
    assert "10 bytes" in refusal.message and "max_bytes is 9" in refusal.message
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        admin.internal("ReadObject", BUCKET, key, max_bytes=10, allowed_content_types=["image/png"])
    assert "text/plain" in refusal.message
    for wrong in ({"max_bytes": 0}, {"max_bytes": -1}, {"max_bytes": 1, "allowed_content_types": ["text"]}):
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
            admin.internal("ReadObject", BUCKET, key, **wrong)
    stub = stubs.gateway.InternalStorageServiceStub(gateway.channel("internal"))
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        call(stub.ReadObject, stubs.gateway.ReadObjectRequest(max_bytes=1), admin.token)


def test_response_holds_at_most_the_configured_bytes(gateway_with, login, stubs):
    gateway = gateway_with({"listeners": {"internal": "127.0.0.1:0"}, "internal": {"max_read_bytes": 1000}})
    admin = login(gateway)
    for size in (1000, 1001):
        assert fetch_url(presign(admin, f"k/{size}", WRITE).write.uri, method="PUT", body=b"x" * size).status == 200
    assert len(admin.internal("ReadObject", BUCKET, "k/1000", max_bytes=10**9).content) == 1000
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        admin.internal("ReadObject", BUCKET, "k/1001", max_bytes=10**9)
    gateway.kill()
    gateway.start()
    assert len(login(gateway).internal("ReadObject", BUCKET, "k/1000", max_bytes=1000).content) == 1000


def test_only_operators_of_system_may_call(gateway, admin, uploader, new_organization, stubs, key):
    boss = new_organization()
    for token, status, codes in [
        (None, "UNAUTHENTICATED", ("DATA_GATEWAY_UNAUTHENTICATED",)),
        (uploader.token, "UNAUTHENTICATED", ("DATA_GATEWAY_UNAUTHENTICATED",)),
        (boss.token, "PERMISSION_DENIED", ()),
    ]:
        user = User(gateway, stubs, token)
        with refused(stubs, status, *codes):
            presign(user, key, WRITE)
        with refused(stubs, status, *codes):
            user.internal("ReadObject", BUCKET, key, max_bytes=1)


def test_the_listener_is_off_unless_it_is_configured(gateway_with):
    assert "internal" not in gateway_with().listeners


def test_certificate_replaces_a_token(gateway_with, login, stubs, tmp_path):
    servers, programs, robots = (Authority(tmp_path, name) for name in ("servers", "programs", "robots"))
    gateway = gateway_with(
        {
            "listeners": {"internal": "127.0.0.1:0"},
            "tls": servers.tls("internal"),
            "internal": {"client_authorities": str(programs.path)},
        }
    )
    admin = login(gateway)
    port = gateway.listeners["internal"].rsplit(":", 1)[1]
    request = stubs.gateway.PresignObjectRequest(
        object=stubs.gateway.StorageObject(bucket=BUCKET, object_key="a/b"),
        access_mode=READ_WRITE,
        expires_in_seconds=60,
    )

    def ask(token: str | None, authority: Authority | None, wanted=request):
        identity = ()
        if authority:
            (folder := tmp_path / "client").mkdir(exist_ok=True)
            authority.directory = folder
            own, own_key, _ = authority.issue("worker")
            identity = (own_key.read_bytes(), own.read_bytes())
        credentials = grpc.ssl_channel_credentials(servers.pem, *identity)
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.secure_channel(f"localhost:{port}", credentials, options=options) as channel:
            return call(stubs.gateway.InternalStorageServiceStub(channel).PresignObject, wanted, token)

    presigned = ask(None, programs)
    assert fetch_url(presigned.write.uri, method="PUT", body=b"by certificate").status == 200
    assert fetch_url(presigned.read.uri).body == b"by certificate"
    lines = call(
        stubs.auth.AuditServiceStub(gateway.channel("admin")).ListAuditLines,
        stubs.auth.ListAuditLinesRequest(page_size=1000),
        admin.token,
    ).lines
    assert [line.actor for line in lines if line.action == "PresignObject"] == ["certificate:CN=worker"]
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        ask(None, None)
    with refused(stubs, "UNAVAILABLE"):
        ask(admin.token, robots)
    other = stubs.gateway.PresignObjectRequest()
    other.CopyFrom(request)
    other.object.object_key = "a/c"
    assert ask(admin.token, None, other).write.uri
