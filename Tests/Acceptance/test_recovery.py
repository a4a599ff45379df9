"""GetUploadRecovery, row by row: a client's next step, and the row that takes precedence if two apply."""

import re
from pathlib import Path

import pytest
from support.faults import Clock
from support.gateway import eventually
from support.parties import Fleet, Uploader
from support.refusal import refused
from support.uploads import Upload, content

SOME = content(1000)


#: The time after which upload sessions end, in seconds.
SESSION = 600


@pytest.fixture
def clock(tmp_path) -> Clock:
    """The clock of the gateway whose upload sessions end."""
    return Clock(tmp_path)


@pytest.fixture
def hasty_fleet(gateway_with, login, clock) -> Fleet:
    """Devices of a gateway whose upload sessions end within the lifetime of a token."""
    gateway = gateway_with(
        {
            "uploads": {
                "part_size_bytes": 65536,
                "session_idle_seconds": SESSION,
                "session_total_seconds": SESSION,
            }
        },
        clock.environment,
    )
    return Fleet.create(login(gateway))


def where(upload: Upload) -> tuple[str, str]:
    """Returns the logical status and the next action, by their short names."""
    stubs, reply = upload.uploader.stubs, upload.recovery()
    assert reply.logical_upload_id == upload.logical_id
    return (
        stubs.gateway.LogicalUploadStatus.Name(reply.logical_upload_status).removeprefix("LOGICAL_UPLOAD_STATUS_"),
        stubs.gateway.UploadRecoveryAction.Name(reply.next_action).removeprefix("UPLOAD_RECOVERY_ACTION_"),
    )


def three_parts(upload: Upload) -> bytes:
    return content(2 * upload.part_size + 1000)


def test_created_upload_continues(upload):
    assert where(upload) == ("ACTIVE", "CONTINUE")
    reply = upload.recovery()
    assert re.fullmatch(r"[A-Za-z0-9-]+", reply.logical_upload_id)
    assert reply.current_upload_id == upload.id
    assert (reply.bucket, reply.endpoint, reply.object_key) == (
        upload.credentials.bucket,
        upload.credentials.endpoint,
        upload.credentials.key,
    )
    assert reply.can_refresh_credentials
    assert reply.session_expire_at_unix > 0
    assert (reply.terminal_reason, reply.oss_object_etag, reply.completed_part_count) == ("", "", 0)


def test_object_put_whole_continues(upload):
    upload.put(SOME)
    assert where(upload) == ("ACTIVE", "CONTINUE")


def test_a_multipart_upload_holds_a_part(upload):
    upload.send_parts(SOME, upload.store.initiate())
    assert where(upload) == ("ACTIVE", "CONTINUE")


def test_initiated_upload_without_a_part_restarts(upload):
    upload.store.initiate()
    assert where(upload) == ("ACTIVE", "RESTART")


def test_stored_part_continues_beside_an_empty_multipart_upload(upload):
    first = upload.store.initiate()
    upload.send_parts(SOME, first)
    upload.store.initiate()
    assert where(upload) == ("ACTIVE", "CONTINUE")


def test_the_only_multipart_upload_was_aborted_in_the_store(upload):
    multipart = upload.store.initiate()
    upload.send_parts(SOME, multipart)
    upload.store.abort(multipart)
    assert where(upload) == ("ACTIVE", "CONTINUE")


def test_untouched_restarted_upload_restarts(upload):
    upload.send_parts(SOME, upload.store.initiate())
    restarted = Upload.create(upload.uploader, restart_from=upload.id)
    assert where(restarted) == ("ACTIVE", "RESTART")
    assert restarted.recovery().current_upload_id == restarted.id


def test_restarted_upload_continues_after_a_request(upload):
    restarted = Upload.create(upload.uploader, restart_from=upload.id)
    with pytest.raises(Exception) as error:
        restarted.store.head()
    assert error.value.status == 404
    assert where(restarted) == ("ACTIVE", "CONTINUE")


def test_restarted_upload_without_a_part_restarts(upload):
    restarted = Upload.create(upload.uploader, restart_from=upload.id)
    restarted.store.initiate()
    assert where(restarted) == ("ACTIVE", "RESTART")


def test_restarted_upload_with_a_part_continues(upload):
    restarted = Upload.create(upload.uploader, restart_from=upload.id)
    restarted.send_parts(SOME, restarted.store.initiate())
    assert where(restarted) == ("ACTIVE", "CONTINUE")


def test_restarted_upload_put_whole_continues(upload):
    restarted = Upload.create(upload.uploader, restart_from=upload.id).put(SOME)
    assert where(restarted) == ("ACTIVE", "CONTINUE")


def test_multipart_completed_in_the_store_permits_only_complete(upload):
    upload.multipart(three_parts(upload))
    assert where(upload) == ("COMPLETING", "COMPLETE_ONLY")
    reply = upload.recovery()
    assert reply.oss_object_etag == upload.store.head().etag == upload.etag
    assert reply.completed_part_count == 3


def test_multipart_of_one_part_completed_in_the_store_permits_only_complete(upload):
    upload.multipart(SOME)
    assert where(upload) == ("COMPLETING", "COMPLETE_ONLY")
    assert upload.recovery().completed_part_count == 1


def test_object_completed_beside_an_open_multipart_upload_permits_only_complete(upload):
    upload.store.initiate()
    upload.multipart(SOME)
    upload.store.initiate()
    assert where(upload) == ("COMPLETING", "COMPLETE_ONLY")


def test_completed_upload_says_what_to_repeat(upload):
    upload.multipart(three_parts(upload)).complete()
    assert where(upload) == ("COMPLETED", "COMPLETE_ONLY")
    reply = upload.recovery()
    assert (reply.oss_object_etag, reply.completed_part_count) == (upload.etag, 3)
    upload.complete(oss_object_etag=reply.oss_object_etag, completed_part_count=reply.completed_part_count)


def test_completed_object_put_whole_permits_only_complete(upload):
    upload.put(SOME).complete()
    assert where(upload) == ("COMPLETED", "COMPLETE_ONLY")
    assert upload.recovery().oss_object_etag == upload.etag


def test_completed_wins_over_aborted(upload):
    upload.multipart(SOME).complete()
    upload.uploader.abort(upload.logical_id)
    assert where(upload) == ("COMPLETED", "COMPLETE_ONLY")
    assert upload.reissued()
    assert upload.store.get() == SOME


@pytest.mark.parametrize("stored", ["nothing", "put", "part", "multipart"])
def test_aborted_wins_over_what_is_stored(upload, stored):
    if stored == "put":
        upload.put(SOME)
    elif stored == "part":
        upload.send_parts(SOME, upload.store.initiate())
    elif stored == "multipart":
        upload.multipart(SOME)
    upload.uploader.abort(upload.logical_id, reason="the operator said so")
    assert where(upload) == ("TERMINAL", "ABORT")
    assert upload.recovery().terminal_reason == "the operator said so"
    assert not upload.recovery().can_refresh_credentials


def test_expired_session_decides_by_what_is_stored(hasty_fleet, clock, stubs):
    uploader = hasty_fleet.uploader()
    nothing, put, part, whole, done, aborted = (Upload.create(uploader) for _ in range(6))
    put.put(SOME)
    part.send_parts(SOME, part.store.initiate())
    whole.multipart(SOME)
    done.multipart(SOME).complete()
    uploader.abort(aborted.logical_id)
    clock.set(SESSION + 1, SESSION + 1)
    for upload in (nothing, put, part):
        assert where(upload) == ("ACTIVE", "RESTART")
        with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"):
            upload.reissued()
    assert where(whole) == ("COMPLETING", "COMPLETE_ONLY")
    whole.credentials = whole.reissued()
    assert whole.store.head().etag == whole.etag == whole.recovery().oss_object_etag
    whole.complete()
    assert where(whole) == ("COMPLETED", "COMPLETE_ONLY")
    assert where(done) == ("COMPLETED", "COMPLETE_ONLY")
    assert where(aborted) == ("TERMINAL", "ABORT")

    restarted = Upload.create(uploader, restart_from=part.id)
    restarted.multipart(SOME).complete()
    assert where(restarted) == ("COMPLETED", "COMPLETE_ONLY")


@pytest.mark.directory
def test_the_store_lost_the_attempt(gateway_with, login, stubs):
    gateway = gateway_with({"uploads": {"part_size_bytes": 65536}})
    uploader = Fleet.create(login(gateway)).uploader()
    upload = Upload.create(uploader)
    upload.send_parts(SOME, upload.store.initiate())
    gateway.stop()
    lost = [path for path in Path(gateway.data, "store", "data").rglob("*") if path.is_file()]
    assert lost
    for path in lost:
        path.unlink()
    gateway.start()
    # The comparison of files with rows runs in the background.
    assert eventually(lambda: where(upload) == ("ACTIVE", "RESTART"))
    assert upload.recovery().restart_allowed
    restarted = Upload.create(uploader, restart_from=upload.id).multipart(SOME)
    restarted.complete()
    assert where(restarted) == ("COMPLETED", "COMPLETE_ONLY")


@pytest.mark.parametrize("logical_id", ["", "nonsense", "../..", "0" * 5000, "019aa000-0000-7000-8000-000000000000"])
def test_unknown_id_is_not_found(uploader: Uploader, stubs, logical_id):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
        uploader.recovery(logical_id)
