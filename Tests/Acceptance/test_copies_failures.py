"""Copy jobs that are killed, stopped or canceled, and destinations, stores and items that fail."""

import http.server
import os
import threading
from collections.abc import Iterator

import pytest
from support.certificates import Authority
from support.copies import Copies, secret_file
from support.copy_place import SECRET, Place, new_prefix, open_place
from support.gateway import eventually
from support.parties import Fleet
from support.uploads import MIB, Upload, content


@pytest.fixture(scope="module")
def place(gateway_with, login, tmp_path_factory) -> Iterator[Place]:
    with open_place(gateway_with, login, tmp_path_factory) as place:
        yield place


@pytest.fixture
def prefix() -> str:
    return new_prefix()


@pytest.mark.parametrize("name", ["folder", "moto", "oss"])
def test_job_continues_after_a_kill(place, prefix, name):
    data = content(96 * MIB, seed=3)
    file_id = place.upload(data)
    made = place.copies.create([file_id], place.destination(name, prefix + "/{file_id}"))
    eventually(lambda: place.copies.job(made.copy_job_id).copied_bytes > 0, every=0.005)
    place.gateway.kill()
    assert place.found(name, f"{prefix}/{file_id}") in (None, data)
    place.gateway.start()
    place.copies.finished(made.copy_job_id)
    assert place.copies.states(made.copy_job_id) == ["SUCCEEDED"], place.copies.items(made.copy_job_id)
    assert place.found(name, f"{prefix}/{file_id}") == data
    if name == "folder":
        assert os.listdir(place.folder / prefix) == [file_id]


def test_job_continues_after_a_stop(place, prefix):
    data = content(48 * MIB, seed=4)
    file_id = place.upload(data)
    made = place.copies.create([file_id], place.destination("moto", prefix + "/{file_id}"))
    eventually(lambda: place.copies.job(made.copy_job_id).copied_bytes > 0, every=0.005)
    assert place.gateway.stop() == 0
    place.gateway.start()
    assert place.copies.finished(made.copy_job_id).completed_items == 1
    assert place.found("moto", f"{prefix}/{file_id}") == data


def test_canceled_job_ends_canceled(place, prefix):
    file_ids = [place.upload(content(1000, seed)) for seed in range(5)]
    made = place.copies.create(file_ids, place.destination("silent", prefix + "/{file_id}"))
    eventually(lambda: place.copies.states(made.copy_job_id).count("COPYING") == 3)
    assert place.copies.status(made.copy_job_id) == "RUNNING"
    assert place.copies.cancel(made.copy_job_id, "enough") == "CANCELING"
    job = place.copies.finished(made.copy_job_id)
    assert (place.copies.status(made.copy_job_id), job.terminal_reason) == ("CANCELED", "enough")
    assert place.copies.states(made.copy_job_id) == ["CANCELED"] * 5
    assert place.copies.cancel(made.copy_job_id, "again") == "CANCELED"
    assert place.copies.job(made.copy_job_id).terminal_reason == "enough"


def test_canceled_multipart_upload_is_cleared_away(place, prefix):
    client = place.moto.client
    file_id = place.upload(content(96 * MIB, seed=5))

    def cancel() -> bool:
        """Whether the cancellation came before the end of the copy."""
        client.delete_object(Bucket="copies", Key=f"{prefix}/{file_id}")
        made = place.copies.create([file_id], place.destination("moto", prefix + "/{file_id}"))
        eventually(lambda: place.copies.job(made.copy_job_id).copied_bytes > 0, every=0.005)
        was_running = place.copies.cancel(made.copy_job_id) == "CANCELING"
        place.copies.finished(made.copy_job_id)
        assert not was_running or place.copies.states(made.copy_job_id) == ["CANCELED"]
        return was_running

    eventually(cancel)
    uploads = client.list_multipart_uploads(Bucket="copies").get("Uploads", [])
    assert [upload for upload in uploads if upload["Key"].startswith(prefix)] == []
    assert place.found("moto", f"{prefix}/{file_id}") is None


def test_job_of_a_killed_gateway_can_be_canceled(place, prefix):
    file_id = place.upload(content(1000))
    made = place.copies.create([file_id], place.destination("silent", prefix + "/{file_id}"))
    eventually(lambda: place.copies.states(made.copy_job_id) == ["COPYING"])
    place.gateway.kill()
    place.gateway.start()
    place.copies.cancel(made.copy_job_id)
    place.copies.finished(made.copy_job_id)
    assert place.copies.states(made.copy_job_id) == ["CANCELED"]


def test_a_job_that_has_finished_is_not_canceled(place, prefix):
    made = place.copies.create([place.upload(b"x")], place.destination("folder", prefix + "/{file_id}"))
    place.copies.finished(made.copy_job_id)
    assert place.copies.cancel(made.copy_job_id) == "SUCCEEDED"


@pytest.mark.parametrize(
    "name, code",
    [
        ("nobody", "DESTINATION_UNAVAILABLE"),
        ("no bucket", "DESTINATION_REFUSED"),
        ("wrong secret", "DESTINATION_REFUSED"),
    ],
)
def test_failing_destination_fails_the_job(place, prefix, name, code):
    made = place.copies.create([place.upload(content(1000))], place.destination(name, prefix + "/{file_id}"))
    job = place.copies.finished(made.copy_job_id)
    (item,) = place.copies.items(made.copy_job_id)
    assert (place.copies.status(made.copy_job_id), item.error_code) == ("FAILED", code)
    assert item.error_message and SECRET not in item.error_message
    assert (job.failed_items, job.terminal_reason) == (1, "1 of 1 items failed")


def test_certificate_of_an_unknown_authority_fails_the_job(gateway_with, login, tmp_path):
    authority = Authority(tmp_path, "authority")
    keys = [{"id": "COPIER", "secret_file": secret_file(tmp_path, SECRET), "access": "write"}]
    tls = authority.tls("object-store", addresses=("127.0.0.1",))
    store = gateway_with({"object_store": {"static_keys": keys}, "tls": tls}).object_store
    common = {"bucket": "data", "access_key_id": "COPIER", "secret_file": secret_file(tmp_path, SECRET)}
    named = {"kind": "oss", "endpoint": f"https://{store}", "authorities": str(authority.path)} | common
    unnamed = {"kind": "oss", "endpoint": f"https://{store.replace('127.0.0.1', 'localhost')}"} | common
    gateway = gateway_with({"copy": {"destinations": [named, unnamed]}})
    admin = login(gateway)
    copies, uploader = Copies(admin), Fleet.create(admin).uploader()
    Upload.create(uploader).put(content(1000)).complete()
    (found,) = admin.list_all()
    for configured, expected in ((named, "SUCCEEDED"), (unnamed, "FAILED")):
        destination = {"endpoint": configured["endpoint"], "bucket": "data"}
        made = copies.create([found.file_id], destination)
        copies.finished(made.copy_job_id)
        (item,) = copies.items(made.copy_job_id)
        assert copies.status(made.copy_job_id) == expected, item
    assert item.error_code == "DESTINATION_REFUSED" and "certificate" in item.error_message


def copied_to(handler: type, kind: str, gateway_with, login, tmp_path):
    """Copies one object to a store whose requests `handler` answers, and returns the job's item."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        destination = {"endpoint": f"http://127.0.0.1:{server.server_port}", "bucket": "copies"}
        key = {"access_key_id": "AK", "secret_file": secret_file(tmp_path, SECRET)}
        admin = login(gateway_with({"copy": {"destinations": [{"kind": kind} | destination | key]}}))
        Upload.create(Fleet.create(admin).uploader()).put(content(1000)).complete()
        (found,) = admin.list_all()
        copies = Copies(admin)
        made = copies.create([found.file_id], destination)
        copies.finished(made.copy_job_id)
        (item,) = copies.items(made.copy_job_id)
        server.shutdown()
    assert item.file_id == found.file_id
    return item


def test_a_redirect_is_not_followed(gateway_with, login, tmp_path):
    requested = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def redirect(self):
            requested.append((self.command, self.path))
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_POST = redirect

        def log_message(self, *_):
            pass

    item = copied_to(Elsewhere, "s3", gateway_with, login, tmp_path)
    assert item.error_code == "DESTINATION_REFUSED"
    assert {path for _, path in requested} == {f"/copies/{item.file_id}"}


@pytest.mark.parametrize(
    "kind, condition", [("s3", ("If-None-Match", "*")), ("oss", ("x-oss-forbid-overwrite", "true"))]
)
def test_unreadable_destination_gets_a_conditional_write(gateway_with, login, tmp_path, kind, condition):
    requested = []

    class WriteOnly(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.respond(403)

        def do_PUT(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            requested.append(self.headers.get(condition[0]))
            self.respond(412, b"<Error><Code>PreconditionFailed</Code><Message>it is there</Message></Error>")

        def respond(self, status: int, body: bytes = b""):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    item = copied_to(WriteOnly, kind, gateway_with, login, tmp_path)
    assert (item.error_code, requested) == ("DESTINATION_OCCUPIED", [condition[1]])


def test_some_items_fail(place, prefix):
    file_ids = [place.upload(content(100, seed)) for seed in (1, 2)]
    (place.folder / prefix / file_ids[0]).mkdir(parents=True)
    made = place.copies.create(file_ids, place.destination("folder", prefix + "/{file_id}"))
    job = place.copies.finished(made.copy_job_id)
    assert place.copies.status(made.copy_job_id) == "PARTIAL_FAILED"
    assert place.copies.states(made.copy_job_id) == ["FAILED_TERMINAL", "SUCCEEDED"]
    assert (job.completed_items, job.failed_items) == (1, 1)
    failed = place.admin.stubs.gateway.COPY_ITEM_STATUS_FAILED_TERMINAL
    (item,) = place.copies.items(made.copy_job_id, statuses=[failed])
    assert (item.file_id, item.error_code) == (file_ids[0], "DESTINATION_FAILED")
    assert str(place.folder) not in item.error_message
    assert sorted(os.listdir(place.folder / prefix)) == sorted(file_ids)


def test_deleted_source_fails_its_item(place, prefix):
    file_ids = [place.upload(content(100, seed)) for seed in range(4)]
    # Three jobs occupy the workers, the fourth waits.
    blocking = place.copies.create(file_ids[:3], place.destination("silent", prefix + "/{file_id}"))
    eventually(lambda: place.copies.states(blocking.copy_job_id).count("COPYING") == 3)
    made = place.copies.create(file_ids[3:], place.destination("folder", prefix + "/{file_id}"))
    place.admin.object_management("DeleteObject", file_id=file_ids[3])
    place.copies.cancel(blocking.copy_job_id)
    place.copies.finished(made.copy_job_id)
    (item,) = place.copies.items(made.copy_job_id)
    assert item.error_code == "SOURCE_NOT_FOUND"
