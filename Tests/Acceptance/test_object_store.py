"""The object store from the view of OSS clients: each test runs with every client and signature."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.gateway import eventually
from support.oss import CLIENTS, StoreError
from support.parties import Fleet
from support.raw import RawStore, fetch_url
from support.refusal import refused
from support.uploads import MIB, Upload, content


@pytest.fixture(params=CLIENTS)
def upload(request, uploader) -> Upload:
    """A new upload, with each client in turn."""
    return Upload.create(uploader, client=request.param)


def refused_with(status: int, code: str, step) -> StoreError:
    """Expects the store to refuse the step with exactly this error."""
    with pytest.raises(StoreError) as error:
        step()
    assert (error.value.status, error.value.code) == (status, code), str(error.value)
    return error.value


def quoted_md5(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest().upper()}"'


def test_put_object_is_described_and_returned(upload):
    data = content(MIB // 2)
    put = upload.store.put(data)
    assert put.etag == quoted_md5(data)
    head = upload.store.head()
    assert (head.size, head.etag, head.crc64) == (len(data), put.etag, put.crc64)
    assert upload.store.get() == data


def test_empty_object_is_stored(upload):
    upload.store.put(b"")
    assert upload.store.head().size == 0
    assert upload.store.get() == b""


def test_put_again_replaces(upload):
    upload.store.put(content(1000, seed=1))
    upload.store.put(content(2000, seed=2))
    assert upload.store.get() == content(2000, seed=2)
    assert upload.store.head().size == 2000


def test_multipart_upload_of_three_parts_is_stored(upload):
    data = content(2 * MIB + 12345)
    store = upload.store
    multipart = store.initiate()
    # In any order: parts arrive as the client's connections finish.
    parts = {
        number: store.upload_part(multipart, number, data[(number - 1) * MIB : number * MIB]) for number in (3, 1, 2)
    }
    for number, part in parts.items():
        assert part.etag == quoted_md5(data[(number - 1) * MIB : number * MIB])
    listed = store.list_parts(multipart)
    assert [(part.number, part.etag, part.size) for part in listed.parts] == [
        (number, parts[number].etag, size) for number, size in ((1, MIB), (2, MIB), (3, 12345))
    ]
    assert not listed.truncated
    etag = store.complete(multipart, [parts[number] for number in (1, 2, 3)])
    digests = "".join(parts[number].etag.strip('"') for number in (1, 2, 3))
    assert etag == f'"{hashlib.md5(digests.encode()).hexdigest().upper()}-3"'
    head = store.head()
    assert (head.size, head.etag) == (len(data), etag)
    assert store.get() == data


def test_parts_are_listed_page_by_page(upload):
    store = upload.store
    multipart = store.initiate()
    # With a gap, as left by a client that resumed.
    for number in (1, 2, 4, 9, 10):
        store.upload_part(multipart, number, b"x" * 100)
    numbers, marker, pages = [], None, 0
    while True:
        page = store.list_parts(multipart, max_parts=2, marker=marker)
        numbers += [part.number for part in page.parts]
        pages += 1
        if not page.truncated:
            break
        assert page.next_marker == numbers[-1]
        marker = page.next_marker
    assert numbers == [1, 2, 4, 9, 10]
    assert pages == 3


def test_a_part_sent_again_is_replaced(upload):
    store = upload.store
    multipart = store.initiate()
    store.upload_part(multipart, 1, content(1000, seed=1))
    again = store.upload_part(multipart, 1, content(500, seed=2))
    assert [(part.etag, part.size) for part in store.list_parts(multipart).parts] == [(again.etag, 500)]
    store.complete(multipart, [again])
    assert store.get() == content(500, seed=2)


def test_part_sent_again_has_the_same_etag(upload):
    store = upload.store
    multipart = store.initiate()
    first = store.upload_part(multipart, 1, content(1000))
    assert store.upload_part(multipart, 1, content(1000)).etag == first.etag
    store.complete(multipart, [first])
    assert store.get() == content(1000)


def test_complete_is_idempotent(upload):
    store = upload.store
    multipart = store.initiate()
    parts = [store.upload_part(multipart, 1, content(1000))]
    assert store.complete(multipart, parts) == store.complete(multipart, parts) == store.head().etag


def test_concurrent_completes_return_the_same_etag(upload):
    store = upload.store
    multipart = store.initiate()
    parts = [store.upload_part(multipart, 1, content(1000))]
    with ThreadPoolExecutor(8) as pool:
        etags = set(pool.map(lambda _: upload.store.complete(multipart, parts), range(8)))
    assert etags == {store.head().etag}


def test_part_sent_by_many_connections_is_the_latest_attempt(upload):
    """After a reconnect, the latest attempt wins, and an overtaken one is told to retry."""
    store = upload.store
    multipart = store.initiate()
    bodies = [content(MIB // 2 + seed, seed) for seed in range(3)]

    def send(body: bytes):
        try:
            return upload.store.upload_part(multipart, 1, body)
        except StoreError as error:
            assert error.status == 503, error
            return None

    with ThreadPoolExecutor(3) as pool:
        sent = [part for part in pool.map(send, bodies) if part]
    (listed,) = store.list_parts(multipart).parts
    assert (listed.etag, listed.size) in [(part.etag, part.size) for part in sent]
    store.complete(multipart, [listed])
    assert quoted_md5(store.get()) == listed.etag


def test_parts_are_uploaded_in_parallel(upload):
    data = content(8 * MIB + 1)
    store = upload.store
    multipart = store.initiate()
    with ThreadPoolExecutor(4) as pool:
        parts = list(
            pool.map(
                lambda number: upload.store.upload_part(multipart, number, data[(number - 1) * MIB : number * MIB]),
                range(1, 10),
            )
        )
    store.complete(multipart, parts)
    assert store.get() == data


def test_every_initiate_is_an_upload_of_its_own(upload):
    store = upload.store
    first, second = store.initiate(), store.initiate()
    assert first != second
    store.upload_part(first, 1, content(1000, seed=1))
    assert store.list_parts(second).parts == []
    part = store.upload_part(second, 1, content(1000, seed=2))
    store.complete(second, [part])
    assert store.get() == content(1000, seed=2)


def test_complete_with_some_of_the_parts_stores_these(upload):
    store = upload.store
    multipart = store.initiate()
    parts = [store.upload_part(multipart, 1, content(1000)), store.upload_part(multipart, 2, content(10))]
    store.complete(multipart, parts[:1])
    assert store.get() == content(1000)


@pytest.mark.parametrize(
    "range_header, first, last",
    [("bytes=0-0", 0, 0), ("bytes=100-199", 100, 199), ("bytes=900-", 900, 999), ("bytes=-1", 999, 999)],
)
def test_ranged_get_returns_its_bytes(upload, range_header, first, last):
    data = content(1000)
    upload.store.put(data)
    assert upload.store.get(range_header) == data[first : last + 1]


def test_range_across_two_parts_is_returned(upload):
    data = content(MIB + 1000)
    upload.multipart(data)
    assert upload.store.get(f"bytes={MIB - 10}-{MIB + 9}") == data[MIB - 10 : MIB + 10]


def test_abort_ends_a_multipart_upload(upload):
    store = upload.store
    multipart = store.initiate()
    part = store.upload_part(multipart, 1, content(1000))
    store.abort(multipart)
    refused_with(404, "NoSuchUpload", lambda: store.list_parts(multipart))
    refused_with(404, "NoSuchUpload", lambda: store.upload_part(multipart, 2, b"x"))
    refused_with(404, "NoSuchUpload", lambda: store.complete(multipart, [part]))
    refused_with(404, "NoSuchUpload", lambda: store.abort(multipart))


def test_missing_object_and_upload_are_not_found(upload):
    store = upload.store
    refused_with(404, "NoSuchKey", store.get)
    with pytest.raises(StoreError) as error:
        store.head()
    assert error.value.status == 404
    assert error.value.code in ("NoSuchKey", "")
    refused_with(404, "NoSuchUpload", lambda: store.list_parts("nonsense"))
    refused_with(404, "NoSuchUpload", lambda: store.upload_part("nonsense", 1, b"x"))


def test_multipart_upload_of_another_key_is_not_found(upload, uploader):
    other = Upload.create(uploader, client=upload.client)
    multipart = other.store.initiate()
    refused_with(404, "NoSuchUpload", lambda: upload.store.upload_part(multipart, 1, b"x"))
    assert other.store.list_parts(multipart).parts == []


def test_complete_with_unknown_parts_is_refused(upload):
    store = upload.store
    multipart = store.initiate()
    part = store.upload_part(multipart, 1, content(1000))
    absent = type(part)(2, part.etag)
    wrong = type(part)(1, '"' + "0" * 32 + '"')
    refused_with(400, "InvalidPart", lambda: store.complete(multipart, [part, absent]))
    refused_with(400, "InvalidPart", lambda: store.complete(multipart, [wrong]))
    assert store.complete(multipart, [part])


def test_complete_with_a_missing_part_is_refused(upload):
    store = upload.store
    multipart = store.initiate()
    first = store.upload_part(multipart, 1, content(MIB))
    third = store.upload_part(multipart, 3, content(1000))
    refused_with(400, "InvalidPart", lambda: store.complete(multipart, [first, third]))
    refused_with(400, "InvalidPart", lambda: store.complete(multipart, [third]))


def test_parts_of_another_size_than_issued_are_refused(upload):
    store = upload.store
    multipart = store.initiate()
    with pytest.raises(StoreError) as error:
        parts = [store.upload_part(multipart, 1, content(1000)), store.upload_part(multipart, 2, content(1000))]
        store.complete(multipart, parts)
    assert error.value.status == 400
    refused_with(404, "NoSuchKey", store.get)


def test_part_larger_than_the_issued_size_is_refused(upload):
    store = upload.store
    multipart = store.initiate()
    with pytest.raises(StoreError) as error:
        store.upload_part(multipart, 1, content(MIB + 1))
    assert error.value.status == 400
    assert store.list_parts(multipart).parts == []


@pytest.mark.parametrize("number", [0, -1, 10_001])
def test_part_numbers_out_of_range_are_refused(upload, number):
    store = upload.store
    multipart = store.initiate()
    refused_with(400, "InvalidArgument", lambda: store.upload_part(multipart, number, b"x"))
    store.upload_part(multipart, 10_000, b"x")


def test_wrong_secret_is_refused(upload):
    upload.store.put(content(1000))
    right = upload.credentials.secret
    upload.credentials.secret = right[:-1] + ("A" if right[-1] != "A" else "B")
    store = upload.store
    refused_with(403, "SignatureDoesNotMatch", lambda: store.put(content(10)))
    refused_with(403, "SignatureDoesNotMatch", store.get)
    refused_with(403, "SignatureDoesNotMatch", store.head)
    refused_with(403, "SignatureDoesNotMatch", store.initiate)
    upload.credentials.secret = right
    assert upload.store.get() == content(1000)


def test_unknown_access_key_is_refused(upload):
    upload.credentials.access_key_id = "STS.nonsense"
    refused_with(403, "InvalidAccessKeyId", upload.store.initiate)


def test_altered_security_token_is_refused(upload):
    token = upload.credentials.token
    middle = len(token) // 2
    upload.credentials.token = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    refused_with(403, "InvalidSecurityToken", upload.store.initiate)


def test_credentials_are_denied_another_key(upload, uploader):
    other = Upload.create(uploader).put(content(1000))
    upload.credentials.key = other.credentials.key
    for step in (upload.store.get, upload.store.head, upload.store.initiate, lambda: upload.store.put(b"x")):
        refused_with(403, "AccessDenied", step)
    assert other.store.get() == content(1000)


def test_credentials_are_denied_another_bucket(upload):
    upload.credentials.bucket = "another-bucket"
    with pytest.raises(StoreError) as error:
        upload.store.put(b"x")
    assert error.value.status in (403, 404)


@pytest.fixture(scope="module")
def brief_fleet(gateway_with, login) -> Fleet:
    """Devices of a gateway whose temporary credentials expire after three seconds."""
    return Fleet.create(login(gateway_with({"uploads": {"credential_lifetime_seconds": 3}})))


@pytest.mark.parametrize("client", CLIENTS)
def test_expired_credentials_are_refused(brief_fleet, client):
    uploader = brief_fleet.uploader()
    upload = Upload.create(uploader, client)

    def expired() -> bool:
        try:
            upload.store.initiate()
        except StoreError as error:
            return error.code == "SecurityTokenExpired"
        return False

    eventually(expired)
    refused_with(403, "SecurityTokenExpired", upload.store.initiate)
    refused_with(403, "SecurityTokenExpired", upload.store.head)

    def put() -> bool:
        """Puts with new credentials, unless they expire on the way, too."""
        upload.credentials = upload.reissued()
        try:
            upload.store.put(content(1000))
        except StoreError as error:
            if error.code != "SecurityTokenExpired":
                raise
            return False
        return True

    eventually(put)


def test_presigned_urls_store_and_return_an_object(upload):
    data = content(1000)
    assert fetch_url(upload.store.presign_put(60), "PUT", data).status == 200
    url = upload.store.presign_get(60)
    assert fetch_url(url).body == data
    part = fetch_url(url, headers={"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, data[10:20])
    assert part.headers["Content-Range"] == "bytes 10-19/1000"


def test_a_presigned_url_is_for_its_method_and_key(upload, uploader):
    upload.store.put(content(1000))
    other = Upload.create(uploader).put(content(10))
    url = upload.store.presign_get(60)
    assert fetch_url(url, "PUT", b"x").error() == (403, "SignatureDoesNotMatch")
    elsewhere = url.replace(upload.credentials.key, other.credentials.key)
    assert elsewhere != url
    assert fetch_url(elsewhere).error()[0] == 403
    assert fetch_url(url).body == content(1000)


def test_a_presigned_url_ends(upload):
    upload.store.put(content(1000))
    url = upload.store.presign_get(2)
    eventually(lambda: fetch_url(url).status == 403)
    assert fetch_url(url).error() == (403, "AccessDenied")


@pytest.mark.directory
def test_no_upload_begins_on_a_disk_that_is_nearly_full(gateway_with, login, stubs):
    gateway = gateway_with({})
    uploader = Fleet.create(login(gateway)).uploader()
    upload = Upload.create(uploader)
    gateway.stop()
    gateway.config.write_text(f'{{"object_store": {{"min_free_bytes": {1 << 50}}}}}')
    gateway.start()
    with refused(stubs, "UNAVAILABLE", "DATA_GATEWAY_STS_UNAVAILABLE"):
        uploader.create()
    # An upload that was begun before, without data so far, is refused at the store.
    raw = RawStore(upload.credentials)
    assert raw.request("POST", [("uploads", "")]).error() == (503, "ServiceUnavailable")
    assert raw.request("PUT", body=content(1000)).error() == (503, "ServiceUnavailable")
    assert raw.request("HEAD").status == 404


def test_objects_are_the_same_without_direct_writing(gateway_with, login):
    buffered = gateway_with({"object_store": {"direct_io": False}, "uploads": {"part_size_bytes": 2 * MIB + 4096}})
    upload = Upload.create(Fleet.create(login(buffered)).uploader())
    data = content(5 * MIB + 1)
    upload.multipart(data)
    assert upload.store.get() == data


def test_a_client_whose_clock_is_wrong_uploads(upload):
    """A device may not know the time at its first part: the date of a request is not checked."""
    raw = RawStore(upload.credentials)
    date = {"Date": "Sat, 01 Jan 2000 00:00:00 GMT"}
    assert raw.request("PUT", body=content(1000), headers=date).status == 200
    assert upload.store.get() == content(1000)
