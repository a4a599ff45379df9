"""CreateLogicalUpload, restart, Reissue, AbortUpload, CompleteUpload: the results and the errors of each."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.gateway import eventually
from support.oss import StoreError
from support.parties import Fleet, Uploader, unique
from support.refusal import refused
from support.uploads import FILE_NAME_TAG, Upload, content

SOME = content(1000)
UNKNOWN = "019aa000-0000-7000-8000-000000000000"


def is_deleted(store) -> bool:
    """Returns whether the store has nothing for these credentials."""
    try:
        store.head()
    except StoreError as error:
        return error.status == 404
    return False


# CreateLogicalUpload


def test_new_upload_has_location_and_credentials(uploader, stubs):
    reply = uploader.create()
    credentials = reply.credentials
    assert re.fullmatch(r"[A-Za-z0-9-]+", reply.logical_upload_id)
    assert reply.upload_id and reply.upload_id != ""
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", credentials.bucket)
    assert credentials.endpoint == f"http://{uploader.gateway.object_store}"
    assert credentials.object_key
    assert credentials.part_size_bytes == 1024 * 1024
    assert credentials.sts_expire_at_unix > time.time() + 120
    assert credentials.sts_access_key_id and credentials.sts_access_key_secret and credentials.sts_security_token


def test_every_upload_has_ids_and_a_key_of_its_own(uploader):
    first, second = uploader.create(), uploader.create()
    assert first.logical_upload_id != second.logical_upload_id
    assert first.upload_id != second.upload_id
    assert first.credentials.object_key != second.credentials.object_key


def test_default_part_size_is_64_mib(gateway_with, login):
    uploader = Fleet.create(login(gateway_with())).uploader()
    assert uploader.create().credentials.part_size_bytes == 67_108_864


def test_uploads_belong_to_the_site_and_not_to_its_key(fleet, admin, gateway, stubs):
    first, second = (
        Uploader(
            gateway, stubs, admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key")).credential
        ).sign_in()
        for _ in range(2)
    )
    upload = Upload.create(first)
    upload.uploader = second
    upload.credentials = upload.reissued()
    upload.put(SOME).complete()


def test_the_uploads_of_a_device_are_not_its_sites(upload, fleet, admin, gateway, stubs):
    key = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        Uploader(gateway, stubs, key.credential).sign_in().recovery(upload.logical_id)


# Restart


def test_a_restart_keeps_the_logical_id_and_supersedes_the_attempt(upload, stubs):
    upload.send_parts(SOME, upload.store.initiate())
    restarted = Upload.create(upload.uploader, restart_from=upload.id)
    assert restarted.logical_id == upload.logical_id
    assert restarted.id != upload.id
    assert restarted.credentials.key != upload.credentials.key
    assert is_deleted(upload.store)
    with pytest.raises(StoreError) as error:
        upload.store.initiate()
    assert (error.value.status, error.value.code) == (404, "NoSuchUpload")
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"):
        upload.reissued()
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        upload.complete()
    restarted.put(SOME).complete()


def test_a_superseded_id_is_accepted_again(upload):
    """A client repeats the restart if its response was lost."""
    first = Upload.create(upload.uploader, restart_from=upload.id)
    second = Upload.create(upload.uploader, restart_from=upload.id)
    assert second.logical_id == upload.logical_id == first.logical_id
    assert second.recovery().current_upload_id == second.id
    second.put(SOME).complete()


def test_restarting_an_upload_of_another_device_is_refused(upload, fleet, stubs):
    stranger = fleet.uploader()
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        stranger.create(restart_from=upload.id)


def test_restarting_an_unknown_upload_is_refused(uploader, stubs):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
        uploader.create(restart_from=UNKNOWN)


@pytest.mark.parametrize("end", ["complete", "abort"])
def test_restarting_an_ended_upload_is_refused(upload, stubs, end):
    if end == "complete":
        upload.put(SOME).complete()
    else:
        upload.uploader.abort(upload.logical_id)
    with refused(
        stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION", "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"
    ):
        upload.uploader.create(restart_from=upload.id)


# ReissueUploadCredentials


def test_reissue_changes_the_secret_and_nothing_else(upload):
    reply = upload.uploader.reissue(upload.id)
    assert (reply.logical_upload_id, reply.upload_id) == (upload.logical_id, upload.id)
    old, new = upload.credentials, Upload.create(upload.uploader).credentials.of(reply.credentials)
    assert (new.bucket, new.endpoint, new.key, new.part_size, new.region) == (
        old.bucket,
        old.endpoint,
        old.key,
        old.part_size,
        old.region,
    )
    assert (new.secret, new.token) != (old.secret, old.token)
    assert upload.recovery().credential_refresh_count == 1
    upload.put(SOME)
    upload.credentials = new
    assert upload.store.get() == SOME


def test_reissue_keeps_the_part_size_whatever_the_configuration_became(gateway_with, login):
    gateway = gateway_with({"uploads": {"part_size_bytes": 65536}})
    upload = Upload.create(Fleet.create(login(gateway)).uploader())
    upload.send_parts(content(65536 + 10), upload.store.initiate())
    gateway.stop()
    gateway.config.write_text('{"uploads": {"part_size_bytes": 131072}}')
    gateway.start()
    assert upload.reissued().part_size == 65536
    assert Upload.create(upload.uploader).part_size == 131072
    upload.multipart(content(65536 * 2 + 10)).complete()


def test_reissue_on_a_completed_upload_reads_only(upload):
    upload.put(SOME).complete()
    upload.credentials = upload.reissued()
    assert upload.store.get() == SOME
    for write in (lambda: upload.store.put(SOME), upload.store.initiate):
        with pytest.raises(StoreError) as error:
            write()
        assert (error.value.status, error.value.code) == (403, "AccessDenied")
    assert upload.store.head().etag == upload.etag


def test_reissue_of_another_devices_upload_is_refused(upload, fleet, stubs):
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        fleet.uploader().reissue(upload.id)


def test_reissue_of_an_aborted_upload_is_refused(upload, stubs):
    upload.uploader.abort(upload.logical_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"):
        upload.reissued()


def test_reissue_of_an_unknown_upload_is_refused(uploader, stubs):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
        uploader.reissue(UNKNOWN)


# AbortUpload


@pytest.mark.parametrize("stored", ["nothing", "put", "part", "multipart"])
def test_abort_is_idempotent_and_removes_what_was_stored(upload, stored, gateway):
    if stored == "put":
        upload.put(SOME)
    elif stored == "part":
        upload.send_parts(SOME, upload.store.initiate())
    elif stored == "multipart":
        upload.multipart(SOME)
    for _ in range(2):
        reply = upload.uploader.abort(upload.logical_id)
        assert (reply.logical_upload_id, reply.upload_id) == (upload.logical_id, upload.id)
    assert is_deleted(upload.store)
    with pytest.raises(StoreError) as error:
        upload.store.put(SOME)
    assert (error.value.status, error.value.code) == (404, "NoSuchUpload")


@pytest.mark.directory
def test_ended_uploads_free_the_disk(gateway_with, login):
    gateway = gateway_with({"uploads": {"part_size_bytes": 65536}})
    uploader = Fleet.create(login(gateway)).uploader()
    data = gateway.data / "store" / "data"

    def files() -> int:
        return sum(path.is_file() for path in data.rglob("*"))

    aborted = Upload.create(uploader).multipart(content(100_000))
    assert files() == 1
    uploader.abort(aborted.logical_id)
    eventually(lambda: files() == 0)

    superseded = Upload.create(uploader)
    superseded.send_parts(content(100_000), superseded.store.initiate())
    assert files() == 1
    restarted = Upload.create(uploader, restart_from=superseded.id)
    eventually(lambda: files() == 0)

    # Three multipart uploads, as left by a client that resumed twice: the two incomplete ones are removed.
    for _ in range(2):
        restarted.send_parts(content(100_000), restarted.store.initiate())
    restarted.multipart(content(100_000))
    assert files() == 3
    restarted.complete()
    eventually(lambda: files() == 1)
    assert restarted.store.get() == content(100_000)


def test_abort_of_a_completed_upload_changes_nothing(upload):
    upload.put(SOME).complete()
    upload.uploader.abort(upload.logical_id)
    assert upload.store.get() == SOME


def test_abort_of_an_unknown_upload_is_refused(uploader, stubs):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
        uploader.abort(UNKNOWN)


def test_abort_of_another_devices_upload_is_refused(upload, fleet, stubs):
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        fleet.uploader().abort(upload.logical_id)
    upload.put(SOME).complete()


def test_recovery_of_another_devices_upload_is_refused(upload, fleet, stubs):
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        fleet.uploader().recovery(upload.logical_id)


# CompleteUpload


@pytest.mark.parametrize("how", ["put", "multipart"])
def test_complete_is_idempotent_for_equal_arguments(upload, how):
    getattr(upload, how)(SOME)
    for _ in range(3):
        upload.complete({FILE_NAME_TAG: "a.mcap"})


@pytest.mark.parametrize(
    "as_sent",
    [str, str.lower, lambda etag: etag.strip('"'), lambda etag: etag.strip('"').lower()],
    ids=["as given", "lower", "bare", "bare lower"],
)
def test_quotes_and_case_of_the_etag_do_not_matter(upload, as_sent):
    upload.multipart(SOME)
    upload.complete(oss_object_etag=as_sent(upload.etag))


def test_an_old_client_sends_no_part_size(upload):
    upload.multipart(SOME).complete(part_size_bytes=0)


def test_an_object_put_whole_has_no_parts(upload):
    upload.put(SOME).complete(completed_part_count=0)


def test_complete_at_once_from_many_sides_is_one_object(upload, admin):
    run = unique("run")
    upload.multipart(SOME)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: upload.complete({"run": run}), range(8)))
    assert len(admin.list_all(filter=f"raw_tags.run={run}")) == 1


#: A few rows over the network; CompletionTests.swift has the whole table.
DISAGREEMENTS = [{"file_size": 999}, {"oss_object_etag": '"' + "0" * 32 + '"'}, {"completed_part_count": 2}]


@pytest.mark.parametrize("how", ["put", "multipart"])
@pytest.mark.parametrize("changed", DISAGREEMENTS, ids=str)
def test_complete_that_disagrees_with_the_store_is_refused(upload, stubs, how, changed):
    getattr(upload, how)(SOME)
    before = upload.recovery()
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        upload.complete(**changed)
    assert upload.recovery().next_action == before.next_action
    upload.complete()


@pytest.mark.parametrize("changed", DISAGREEMENTS, ids=str)
def test_complete_again_that_disagrees_with_the_first_is_refused(upload, stubs, changed):
    upload.multipart(SOME).complete()
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        upload.complete(**changed)


@pytest.mark.parametrize("stored", ["nothing", "part"])
def test_complete_before_the_object_exists_is_refused(upload, stubs, stored):
    if stored == "part":
        upload.send_parts(SOME, upload.store.initiate())
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        upload.complete(file_size=1000, oss_object_etag='"' + "0" * 32 + '"')


def test_complete_of_an_aborted_upload_is_refused(upload, stubs):
    upload.put(SOME)
    upload.uploader.abort(upload.logical_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        upload.complete()


def test_complete_of_another_devices_upload_is_refused(upload, fleet, stubs):
    upload.put(SOME)
    upload.uploader = fleet.uploader()
    with refused(stubs, "PERMISSION_DENIED", "DATA_GATEWAY_UPLOAD_NOT_OWNED"):
        upload.complete()


def test_complete_of_an_unknown_upload_is_refused(uploader, stubs):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
        uploader.complete(UNKNOWN, file_size=1)


#: A few rows over the network; CompletionTests.swift has the whole table.
TAGS_AT_THE_LIMIT = [{f"key-{number}": "" for number in range(256)}, {"é" * 32: "é" * 1024}]
TAGS_OVER_THE_LIMIT = [{f"key-{number}": "" for number in range(257)}, {"key": "é" * 1024 + "v"}, {"key": "v\x00"}]


@pytest.mark.parametrize("tags", TAGS_AT_THE_LIMIT, ids=range(len(TAGS_AT_THE_LIMIT)))
def test_tags_at_their_limits_are_stored(upload, admin, tags):
    upload.put(SOME).complete(tags)
    # The shared gateway lists the newest object first.
    (found,) = admin.objects("ListObjects", page_size=1).objects
    stored = admin.object_management("GetObject", file_id=found.file_id)
    assert (stored.upload_id, dict(stored.tags)) == (upload.id, tags)


@pytest.mark.parametrize("tags", TAGS_OVER_THE_LIMIT, ids=range(len(TAGS_OVER_THE_LIMIT)))
def test_tags_over_their_limits_store_nothing(upload, stubs, tags):
    upload.put(SOME)
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        upload.complete(tags)
    assert upload.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_ACTIVE
    upload.complete()
