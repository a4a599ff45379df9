"""A repeated CreateLogicalUpload with the same idempotency key returns the same upload."""

from concurrent.futures import ThreadPoolExecutor

from support.parties import Fleet, unique
from support.refusal import refused
from support.uploads import Upload, content


def test_many_calls_with_one_key_create_one_upload(uploader):
    key = unique("key")
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: uploader.create(idempotency_key=key), range(16)))
    assert len({reply.upload_id for reply in replies}) == 1
    assert len({reply.logical_upload_id for reply in replies}) == 1
    assert len({reply.credentials.object_key for reply in replies}) == 1


def test_the_same_upload_survives_a_crash_and_comes_to_its_end(gateway_with, login, stubs):
    gateway = gateway_with()
    uploader = Fleet.create(login(gateway)).uploader()
    key = unique("key")
    lost = uploader.create(idempotency_key=key)
    gateway.kill()
    gateway.start()
    again = uploader.create(idempotency_key=key, attempt="2")
    assert (again.upload_id, again.logical_upload_id) == (lost.upload_id, lost.logical_upload_id)
    upload = Upload.of(uploader, again).put(content(1000))
    upload.complete()
    # Credentials of a completed upload may only read.
    done = Upload.of(uploader, uploader.create(idempotency_key=key))
    assert done.store.get() == content(1000)
    assert done.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_COMPLETED


def test_a_key_is_for_one_request(uploader, stubs):
    key = unique("key")
    upload = uploader.create(idempotency_key=key)
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        uploader.create(restart_from=upload.upload_id, idempotency_key=key)
    assert "idempotency_key" in refusal.message
    uploader.abort(upload.logical_upload_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"):
        uploader.create(idempotency_key=key)
