"""Acknowledged means durable: `kill -9` at every point of an upload, a restart, and the client goes on."""

import pytest

from support.parties import Fleet, User, exchange, unique
from support.gateway import ADMIN_PASSWORD
from support.raw import RawStore, fetch_url
from support.uploads import Upload, content

PART_SIZE = 65536


@pytest.fixture
def gateway(gateway_with):
    return gateway_with({"uploads": {"part_size_bytes": PART_SIZE}})


@pytest.fixture
def crash(gateway):
    """Kills the gateway and starts it again on the same data directory and the same ports."""

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
        # Straight from the acknowledgement to the kill: nothing of the client's or ours comes between.
        raw = RawStore(upload.credentials)
        answer = raw.request("PUT", [("partNumber", str(number)), ("uploadId", multipart)], piece)
        crash()
        assert answer.status == 200
        parts.append(answer.headers["ETag"])
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


def test_what_the_control_plane_acknowledged_survives(gateway, login, crash, stubs):
    fleet = Fleet.create(login(gateway))
    crash()
    # The user's token, the site and the suite are still good: nothing of them was in memory only.
    device = fleet.register(tags={"line": "3"})
    crash()
    assert fleet.user.devices("GetDevice", name=device.name) == device
    uploader = fleet.uploader()
    crash()
    upload = Upload.create(uploader)
    assert exchange(gateway, stubs, uploader.credential).principal.device_id == uploader.device_id
    crash()
    assert upload.recovery().current_upload_id == upload.id
    uploader.abort(upload.logical_id)
    crash()
    assert upload.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_TERMINAL


def test_a_body_that_was_cut_off_leaves_nothing_half_recorded(gateway, login, crash):
    import http.client

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
