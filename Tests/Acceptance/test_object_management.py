"""ObjectManagementService: an administrator's operations on stored objects."""

import http.client
import urllib.parse

import pytest
from support.gateway import eventually
from support.parties import unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import Upload, completed, content, location


def find(user, run: str):
    return user.list_all(filter=f"raw_tags.run={run}")


def test_deleted_object_is_not_found_by_users_or_its_device(uploader, admin, stubs, gateway):
    run = unique("run")
    upload = completed(uploader, content(5000), {"run": run})
    (found,) = find(admin, run)
    uri = location(admin, found.file_id)
    (path,) = gateway.data.glob(f"store/data/*/{found.file_id}")
    for _ in range(2):
        admin.delete_permanently(found.file_id)
    assert find(admin, run) == []
    assert fetch_url(uri).status == 404
    with refused(stubs, "NOT_FOUND"):
        admin.objects("RequestDownload", file_ids=[found.file_id])
    # A client without the response of CompleteUpload repeats it, and must succeed again.
    upload.complete({"run": run})
    assert find(admin, run) == []
    assert upload.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_COMPLETED
    with pytest.raises(Exception) as error:
        upload.store.head()
    assert error.value.status == 404
    eventually(lambda: not path.exists())


def test_download_in_progress_ends_whole_after_a_deletion(uploader, admin, gateway):
    run, data = unique("run"), content(8 * 1024 * 1024)
    Upload.create(uploader).multipart(data).complete({"run": run})
    (found,) = find(admin, run)
    uri = urllib.parse.urlsplit(location(admin, found.file_id))
    connection = http.client.HTTPConnection(uri.netloc, timeout=20)
    connection.request("GET", f"{uri.path}?{uri.query}")
    response = connection.getresponse()
    first = response.read(1000)
    admin.delete_permanently(found.file_id)
    assert first + response.read() == data
    connection.close()


def test_retention_is_counted_first(new_organization, admin):
    boss = new_organization()
    assert boss.object_management("GetRetention").days == 0
    reply = boss.object_management("SetRetention", days=30, dry_run=True)
    assert (reply.days, reply.affected_objects, reply.affected_bytes) == (30, 0, 0)
    assert boss.object_management("GetRetention").days == 0
    boss.object_management("SetRetention", days=30)
    assert boss.object_management("GetRetention").days == 30
    assert admin.object_management("GetRetention").days == 0


def test_unknown_and_foreign_objects_are_not_deleted(admin, new_organization, uploader, stubs):
    run = unique("run")
    completed(uploader, b"1", {"run": run})
    (found,) = find(admin, run)
    boss = new_organization()
    with refused(stubs, "NOT_FOUND") as refusal:
        boss.object_management("DeleteObject", file_id=found.file_id)
    assert found.file_id in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        boss.object_management("SetRetention", days=-1)
    assert "days" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        boss.object_management("ListBadObjects", page_size=-1)
    assert "page_size" in refusal.message
    assert list(boss.object_management("ListBadObjects").objects) == []
    assert find(admin, run)
