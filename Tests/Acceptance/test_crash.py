"""Acknowledged means durable: `kill -9` at every point of an upload, a restart, and the client continues."""

import http.client
import random
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from support.gateway import ADMIN_PASSWORD
from support.oss import CLIENTS, Part
from support.parties import Fleet, User, exchange, unique
from support.raw import RawStore, fetch_url
from support.uploads import Upload, content

pytestmark = pytest.mark.sqlite

PART_SIZE = 65536


@pytest.fixture
def gateway(gateway_with):
    return gateway_with({"uploads": {"part_size_bytes": PART_SIZE}})


@pytest.fixture
def crash(gateway):
    """Kills the gateway and restarts it on the same data directory and the same ports."""

    def now() -> None:
        gateway.kill()
        gateway.start()

    return now


def test_an_acknowledged_part_survives(gateway, login, crash):
    uploader = Fleet.create(login(gateway)).uploader()
    data = content(2 * PART_SIZE + 100)
    pieces = [data[start : start + PART_SIZE] for start in range(0, len(data), PART_SIZE)]
    upload = Upload.create(uploader)
    store = upload.store
    multipart = store.initiate()
    crash()
    parts = []
    for number, piece in enumerate(pieces, start=1):
        # The kill directly follows the acknowledgement, without anything in between.
        raw = RawStore(upload.credentials)
        response = raw.request("PUT", [("partNumber", str(number)), ("uploadId", multipart)], piece)
        crash()
        assert response.status == 200
        parts.append(response.headers["ETag"])
        listed = upload.store.list_parts(multipart).parts
        assert [part.etag for part in listed] == parts
        assert [part.size for part in listed] == [len(piece) for piece in pieces[:number]]
        upload.parts = listed
    upload.size, upload.etag = len(data), upload.store.complete(multipart, upload.parts)
    crash()
    assert upload.store.head().etag == upload.etag
    assert upload.recovery().oss_object_etag == upload.etag
    run = unique("run")
    upload.complete({"run": run})
    crash()
    user = login(gateway)
    (found,) = user.list_all(filter=f"raw_tags.run={run}")
    (location,) = user.objects("RequestDownload", file_ids=[found.file_id]).files
    assert fetch_url(location.read.uri, headers=dict(location.read.headers)).body == data


def test_an_object_put_whole_survives(gateway, login, crash):
    upload = Upload.create(Fleet.create(login(gateway)).uploader())
    upload.put(content(100_000))
    crash()
    assert upload.store.get() == content(100_000)
    upload.complete()
    crash()
    upload.complete()


def test_acknowledged_calls_survive_a_crash(gateway, login, crash, stubs):
    fleet = Fleet.create(login(gateway))
    crash()
    # The user's token, the site and the suite are still valid: none of them was in memory only.
    device = fleet.register(tags={"line": "3"})
    crash()
    (stored,) = fleet.user.devices("ListDevices", suite=fleet.suite).devices
    assert stored == device
    uploader = fleet.uploader()
    crash()
    upload = Upload.create(uploader)
    assert exchange(gateway, stubs, uploader.credential).access_token
    crash()
    assert upload.recovery().current_upload_id == upload.id
    uploader.abort(upload.logical_id)
    crash()
    assert upload.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_TERMINAL


def test_a_body_that_was_cut_off_leaves_nothing_half_recorded(gateway, login, crash):
    upload = Upload.create(Fleet.create(login(gateway)).uploader())
    multipart = upload.store.initiate()
    upload.store.upload_part(multipart, 1, content(PART_SIZE))
    url = upload.store.presign_put(60).split("/", 3)
    connection = http.client.HTTPConnection(url[2], timeout=20)
    connection.putrequest("PUT", "/" + url[3])
    connection.putheader("Content-Length", "50000")
    connection.endheaders()
    connection.send(content(25_000))
    crash()
    connection.close()
    assert [part.number for part in upload.store.list_parts(multipart).parts] == [1]
    with pytest.raises(Exception) as error:
        upload.store.head()
    assert error.value.status == 404


def test_the_admin_is_made_once(gateway, stubs, crash):
    for _ in range(2):
        crash()
        assert User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)


def test_ten_kills_at_any_moment_lose_nothing_that_was_acknowledged(gateway, login, crash):
    """Uploads run in the background; after each kill, everything that was acknowledged exists."""
    fleet = Fleet.create(login(gateway))
    data = content(2 * PART_SIZE + 100)
    pieces = [data[start : start + PART_SIZE] for start in range(0, len(data), PART_SIZE)]
    moments = random.Random(2)

    def one(uploader, upload) -> tuple[str, list[str], str | None, bool]:
        """Uploads until the kill; returns the acknowledged multipart id, part ETags, object ETag, and completion."""
        multipart, etags, whole, done = "", [], None, False
        try:
            multipart = upload.store.initiate()
            for number, piece in enumerate(pieces, start=1):
                raw = RawStore(upload.credentials)
                response = raw.request("PUT", [("partNumber", str(number)), ("uploadId", multipart)], piece)
                if response.status != 200:
                    break
                etags.append(response.headers["ETag"])
            else:
                parts = [Part(number, etag) for number, etag in enumerate(etags, start=1)]
                whole = CLIENTS["oss2-v1"](upload.credentials).complete(multipart, parts)
                uploader.complete(upload.id, file_size=len(data), completed_part_count=3, oss_object_etag=whole)
                done = True
        except Exception:
            pass  # The kill came; what was acknowledged before it counts.
        return multipart, etags, whole, done

    for _ in range(10):
        uploaders = [fleet.uploader() for _ in range(3)]
        uploads = [Upload.create(uploader) for uploader in uploaders]
        with ThreadPoolExecutor(3) as pool:
            runs = [pool.submit(one, uploader, upload) for uploader, upload in zip(uploaders, uploads, strict=True)]
            wait(runs, timeout=moments.uniform(0, 0.3))
            crash()
            acknowledged = [run.result() for run in runs]
        for upload, (multipart, etags, whole, done) in zip(uploads, acknowledged, strict=True):
            if whole is not None:
                assert upload.store.head().etag == whole
                assert upload.store.get() == data
            elif multipart:
                listed = {part.number: part.etag for part in upload.store.list_parts(multipart).parts}
                assert [listed.get(number) for number in range(1, len(etags) + 1)] == etags
            status = upload.recovery().logical_upload_status
            if done:
                assert status == upload.uploader.stubs.gateway.LOGICAL_UPLOAD_STATUS_COMPLETED
            elif status != upload.uploader.stubs.gateway.LOGICAL_UPLOAD_STATUS_COMPLETED:
                # Whatever its state, the client can finish.
                upload.multipart(data).complete()
            assert upload.reissued()
