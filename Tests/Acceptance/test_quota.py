"""Quotas: the limits of one device, or one site."""

import pytest
from support.parties import Fleet, unique
from support.refusal import refused
from support.uploads import Upload, completed, content

PART_SIZE = 65_536


@pytest.fixture(scope="module")
def quota_gateway(gateway_with):
    return gateway_with(
        {
            "uploads": {"part_size_bytes": PART_SIZE},
            "quota": {"device_bytes": 3 * PART_SIZE, "device_uploads": 2, "site_objects": 4},
        }
    )


@pytest.fixture
def quota_fleet(quota_gateway, login):
    return Fleet.create(login(quota_gateway))


def test_parts_over_the_quota_are_refused(quota_fleet):
    uploader = quota_fleet.uploader()
    upload = Upload.create(uploader)
    multipart = upload.store.initiate()
    data = content(4 * PART_SIZE)
    with pytest.raises(Exception) as error:
        upload.send_parts(data, multipart)
    assert (error.value.status, error.value.code) == (403, "QuotaExceeded")
    assert [part.number for part in upload.store.list_parts(multipart).parts] == [1, 2, 3]
    # An abort frees space for the next upload.
    uploader.abort(upload.logical_id)
    completed(uploader, content(100))


def test_deletion_frees_space_of_the_quota(quota_fleet, stubs):
    uploader, run = quota_fleet.uploader(), unique("run")
    Upload.create(uploader).multipart(content(3 * PART_SIZE)).complete({"run": run})
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        Upload.create(uploader)
    assert "stored bytes" in refusal.message
    (found,) = quota_fleet.user.list_all(filter=f"raw_tags.run={run}")
    quota_fleet.user.object_management("DeleteObject", file_id=found.file_id)
    # Objects in the trash still count.
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        Upload.create(uploader)
    quota_fleet.user.object_management("PurgeObject", file_id=found.file_id)
    completed(uploader, content(100))


def test_uploads_in_progress_are_limited(quota_fleet, stubs):
    uploader = quota_fleet.uploader()
    first = Upload.create(uploader)
    Upload.create(uploader)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        Upload.create(uploader)
    assert "2 uploads in progress (quota.device_uploads)" in refusal.message
    first.put(b"1").complete()
    Upload.create(uploader)


def test_a_site_has_a_quota_over_all_its_devices(quota_fleet, stubs):
    for _ in range(4):
        completed(quota_fleet.uploader(), b"1")
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION") as refusal:
        Upload.create(quota_fleet.uploader())
    assert "the site may have at most 4 objects (quota.site_objects)" in refusal.message
