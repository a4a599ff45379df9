"""Copy jobs into folders, moto's S3 and another gateway, with both dialects; including all kinds of failures."""

import http.server
import os
import socket
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import s3
from support.certificates import Authority
from support.commands import REFUSED, CommandLine
from support.copies import Copies, Moto, secret_file
from support.gateway import Gateway, eventually
from support.monitoring import logged, samples
from support.oss import Credentials
from support.parties import Fleet, User, unique
from support.ports import free_port
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import Upload, content

MIB = 1024 * 1024
#: The smallest part size of a destination.
PART_SIZE = 5 * MIB
SECRET = "a secret of the second gateway"
INVALID = "DATA_GATEWAY_INVALID_ARGUMENT"


@pytest.fixture(scope="module")
def moto():
    server = Moto()
    server.client.create_bucket(Bucket="copies")
    yield server
    server.close()


@pytest.fixture(scope="module")
def second(gateway_with, tmp_path_factory) -> Gateway:
    """Another gateway, with a static key that may write below `copies/`."""
    key = {
        "id": "COPIER",
        "secret_file": secret_file(tmp_path_factory.mktemp("secrets"), SECRET),
        "prefix": "copies/",
        "access": "write",
    }
    return gateway_with({"object_store": {"static_keys": [key]}})


@pytest.fixture(scope="module")
def silent():
    """The endpoint of a server that accepts connections and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@dataclass
class Place:
    """A gateway with objects, and the destinations of its copy jobs."""

    gateway: Gateway
    admin: User
    fleet: Fleet
    folder: Path
    endpoints: dict[str, dict]
    moto: Moto
    second: Gateway

    def __post_init__(self):
        self.copies = Copies(self.admin)
        self.uploader = self.fleet.uploader()

    def upload(self, data: bytes, uploader=None, user: User | None = None) -> str:
        """Uploads a new object and returns its file id."""
        run = unique("run")
        upload = Upload.create(uploader or self.uploader)
        (upload.multipart if data else upload.put)(data).complete({"run": run})
        (found,) = (user or self.admin).list_all(filter=f"raw_tags.run={run}")
        return found.file_id

    def destination(self, name: str, template: str) -> dict:
        return self.endpoints[name] | {"key_template": template}

    def found(self, name: str, key: str) -> bytes | None:
        """Returns the content of a destination under a key."""
        if name == "folder":
            path = self.folder / key
            return path.read_bytes() if path.exists() else None
        client, bucket = self._client(name)
        try:
            return client.get_object(Bucket=bucket, Key=key)["Body"].read()
        except client.exceptions.NoSuchKey:
            return None

    def _client(self, name: str):
        """Returns a client of a bucket, and its name."""
        if name == "moto":
            return self.moto.client, "copies"
        credentials = Credentials(
            "data", f"http://{self.second.object_store}", "", "COPIER", SECRET, None, "", PART_SIZE
        )
        return s3.client(credentials), "data"

    def put(self, name: str, key: str, data: bytes) -> None:
        """Writes content to a destination that no copy job wrote."""
        if name == "folder":
            (self.folder / key).write_bytes(data)
        else:
            client, bucket = self._client(name)
            client.put_object(Bucket=bucket, Key=key, Body=data)


@pytest.fixture(scope="module")
def place(gateway_with, login, moto, second, silent, tmp_path_factory) -> Place:
    folder, secrets = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("keys")
    right = {"access_key_id": "COPIER", "secret_file": secret_file(secrets, SECRET), "part_size_bytes": PART_SIZE}
    wrong = right | {"secret_file": secret_file(secrets, "another")}
    store = f"http://{second.object_store}"
    alias = store.replace("127.0.0.1", "localhost")
    destinations = {
        "folder": {"kind": "directory", "root": str(folder)},
        "moto": {"kind": "s3", "endpoint": moto.endpoint, "bucket": "copies"} | right,
        "no bucket": {"kind": "s3", "endpoint": moto.endpoint, "bucket": "absent"} | right,
        "oss": {"kind": "oss", "endpoint": store, "bucket": "data"} | right,
        "s3": {"kind": "s3", "endpoint": alias, "bucket": "data"} | right,
        "wrong secret": {"kind": "oss", "endpoint": store, "bucket": "another"} | wrong,
        "nobody": {"kind": "s3", "endpoint": f"http://127.0.0.1:{free_port()}", "bucket": "copies"} | right,
        "silent": {"kind": "s3", "endpoint": silent, "bucket": "copies"} | right,
    }
    gateway = gateway_with(
        {
            "uploads": {"part_size_bytes": MIB},
            "copy": {"destinations": list(destinations.values()), "retry_seconds": 2, "workers": 3},
        }
    )
    endpoints = {
        name: {"endpoint": f"file://{configured['root']}"}
        if name == "folder"
        else {"endpoint": configured["endpoint"], "bucket": configured["bucket"]}
        for name, configured in destinations.items()
    }
    admin = login(gateway)
    return Place(gateway, admin, Fleet.create(admin), folder, endpoints, moto, second)


@pytest.fixture
def prefix() -> str:
    """The prefix of the test's own keys; the second gateway's static key is limited to it."""
    return f"copies/{unique('test')}"


@pytest.mark.parametrize("name", ["folder", "moto", "oss", "s3"])
def test_objects_are_copied(place, prefix, name):
    contents = [content(1000), b"", content(2 * PART_SIZE + 12345, seed=2)]
    file_ids = [place.upload(data) for data in contents]
    made = place.copies.create(file_ids, place.destination(name, prefix + "/{file_id}.mcap"))
    assert (made.total_items, made.estimated_total_bytes) == (3, sum(map(len, contents)))
    job = place.copies.finished(made.copy_job_id)
    items = place.copies.items(made.copy_job_id)
    assert place.copies.status(made.copy_job_id) == "SUCCEEDED", items
    assert (job.completed_items, job.failed_items, job.skipped_items, job.total_items) == (3, 0, 0, 3)
    assert job.copied_bytes == job.total_bytes == sum(map(len, contents))
    assert 0 < job.created_at_unix <= job.started_at_unix <= job.finished_at_unix
    assert [item.file_id for item in items] == file_ids
    for item, data in zip(items, contents, strict=False):
        assert item.destination_object_key == f"{prefix}/{item.file_id}.mcap"
        assert place.found(name, item.destination_object_key) == data
    # Existing content is not sent again.
    again = place.copies.create(file_ids, place.destination(name, prefix + "/{file_id}.mcap"))
    job = place.copies.finished(again.copy_job_id)
    assert (place.copies.status(again.copy_job_id), job.skipped_items) == ("SUCCEEDED", 3)


@pytest.mark.parametrize("name", ["folder", "moto", "oss"])
def test_only_what_copies_of_the_organization_wrote_is_written_over(place, prefix, name):
    own, theirs = place.upload(content(1000)), place.upload(content(2000, seed=2))
    first = place.copies.create([own], place.destination(name, prefix + "/own"))
    place.copies.finished(first.copy_job_id)
    again = place.copies.create([theirs], place.destination(name, prefix + "/own"))
    place.copies.finished(again.copy_job_id)
    assert place.copies.status(again.copy_job_id) == "SUCCEEDED"
    assert place.found(name, prefix + "/own") == content(2000, seed=2)
    # Another program's content at the same destination.
    place.put(name, prefix + "/theirs", b"somebody else's")
    made = place.copies.create([own], place.destination(name, prefix + "/theirs"))
    place.copies.finished(made.copy_job_id)
    (item,) = place.copies.items(made.copy_job_id)
    assert (place.copies.status(made.copy_job_id), item.error_code) == ("FAILED", "DESTINATION_OCCUPIED")
    assert place.found(name, prefix + "/theirs") == b"somebody else's"


def test_organizations_share_no_destination_without_a_word(gateway_with, login, stubs, tmp_path):
    shared, listed = tmp_path / "shared", tmp_path / "listed"
    for folder in (shared, listed):
        folder.mkdir()
    gateway = gateway_with(
        {
            "copy": {
                "destinations": [
                    {"kind": "directory", "root": str(shared)},
                    {"kind": "directory", "root": str(listed), "organizations": ["acme"]},
                ]
            }
        }
    )
    admin, password = login(gateway), "a password of some length"
    users, files = {}, {}

    def create(name: str) -> None:
        admin.admin(
            "CreateOrganization", organization=name, bootstrap_admin_user_name="boss", bootstrap_admin_password=password
        )
        users[name] = User.login(gateway, stubs, name, "boss", password)
        Upload.create(Fleet.create(users[name]).uploader()).put(content(100, seed=len(users))).complete()
        (files[name],) = (found.file_id for found in users[name].list_all())

    def copy(name: str, folder, template: str) -> str:
        copies = Copies(users[name])
        destination = {"endpoint": f"file://{folder}", "key_template": template}
        made = copies.create([files[name]], destination)
        copies.finished(made.copy_job_id)
        (item,) = copies.items(made.copy_job_id)
        return item.error_code or copies.status(made.copy_job_id)

    create("acme")
    # A single organization needs no folder of its own.
    assert copy("acme", shared, "a") == "SUCCEEDED"
    create("other")
    for name in users:
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            copy(name, shared, "b")
        assert f"go below file://{shared}/{name}/" in refusal.message
        assert copy(name, shared, f"{name}/b") == "SUCCEEDED"
        assert copy(name, shared / name, "c") == "SUCCEEDED"
    with refused(stubs, "INVALID_ARGUMENT", INVALID):
        copy("other", shared / "acme", "b")
    assert copy("acme", listed, "b") == "SUCCEEDED"
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        copy("other", listed, "other/b")
    assert "copy.destinations" in refusal.message
    gateway.stop()
    gateway.start()
    line = logged(gateway, event="several organizations share a copy destination")
    assert line["destination"] == f"file://{shared}"


def test_a_folder_has_whole_files_only(place, prefix):
    file_id = place.upload(content(3 * MIB))
    made = place.copies.create([file_id], place.destination("folder", prefix + "/{file_id}"))
    place.copies.finished(made.copy_job_id)
    assert os.listdir(place.folder / prefix) == [file_id]
    below = {"endpoint": f"{place.endpoints['folder']['endpoint']}/below/it", "key_template": prefix + "/{file_id}"}
    place.copies.finished(place.copies.create([file_id], below).copy_job_id)
    assert (place.folder / "below/it" / prefix / file_id).stat().st_size == 3 * MIB


def test_a_link_leads_nowhere(place, prefix, tmp_path):
    file_id = place.upload(content(1000))
    (place.folder / prefix).mkdir(parents=True)
    (place.folder / prefix / "out").symlink_to(tmp_path)
    made = place.copies.create([file_id], place.destination("folder", prefix + "/out/{file_id}"))
    place.copies.finished(made.copy_job_id)
    (item,) = place.copies.items(made.copy_job_id)
    assert (place.copies.status(made.copy_job_id), item.error_code) == ("FAILED", "DESTINATION_FAILED")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["folder", "moto", "oss"])
def test_a_job_goes_on_after_a_kill(place, prefix, name):
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


def test_a_stop_in_the_middle(place, prefix):
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
    made = place.copies.create([file_id], place.destination("moto", prefix + "/{file_id}"))
    eventually(lambda: place.copies.job(made.copy_job_id).copied_bytes > 0, every=0.005)
    place.copies.cancel(made.copy_job_id)
    place.copies.finished(made.copy_job_id)
    assert place.copies.states(made.copy_job_id) == ["CANCELED"]
    uploads = client.list_multipart_uploads(Bucket="copies").get("Uploads", [])
    assert [upload for upload in uploads if upload["Key"].startswith(prefix)] == []
    assert place.found("moto", f"{prefix}/{file_id}") is None


def test_cancel_of_what_a_killed_gateway_was_at(place, prefix):
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
def test_a_destination_that_fails(place, prefix, name, code):
    made = place.copies.create([place.upload(content(1000))], place.destination(name, prefix + "/{file_id}"))
    job = place.copies.finished(made.copy_job_id)
    (item,) = place.copies.items(made.copy_job_id)
    assert (place.copies.status(made.copy_job_id), item.error_code) == ("FAILED", code)
    assert item.error_message and SECRET not in item.error_message
    assert (job.failed_items, job.terminal_reason) == (1, "1 of 1 items failed")


def test_a_certificate_that_nobody_vouches_for(gateway_with, login, tmp_path):
    authority = Authority(tmp_path, "authority")
    certificate, key, _ = authority.issue("store", addresses=("127.0.0.1",))
    keys = [{"id": "COPIER", "secret_file": secret_file(tmp_path, SECRET), "access": "write"}]
    tls = {"certificate": str(certificate), "key": str(key), "listeners": ["object-store"]}
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


def test_a_redirect_is_not_followed(gateway_with, login, tmp_path):
    asked = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def redirect(self):
            asked.append((self.command, self.path))
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_POST = redirect

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        destination = {"endpoint": f"http://127.0.0.1:{server.server_port}", "bucket": "copies"}
        key = {"access_key_id": "AK", "secret_file": secret_file(tmp_path, SECRET)}
        admin = login(gateway_with({"copy": {"destinations": [{"kind": "s3"} | destination | key]}}))
        Upload.create(Fleet.create(admin).uploader()).put(content(1000)).complete()
        (found,) = admin.list_all()
        copies = Copies(admin)
        made = copies.create([found.file_id], destination)
        copies.finished(made.copy_job_id)
        (item,) = copies.items(made.copy_job_id)
        server.shutdown()
    assert item.error_code == "DESTINATION_REFUSED"
    assert {path for _, path in asked} == {f"/copies/{found.file_id}"}


@pytest.mark.parametrize(
    "kind, condition", [("s3", ("If-None-Match", "*")), ("oss", ("x-oss-forbid-overwrite", "true"))]
)
def test_a_store_that_does_not_say_what_is_there_is_asked_not_to_write_over_it(
    gateway_with, login, tmp_path, kind, condition
):
    asked = []

    class WriteOnly(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(403)

        def do_PUT(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(self.headers.get(condition[0]))
            self.answer(412, b"<Error><Code>PreconditionFailed</Code><Message>it is there</Message></Error>")

        def answer(self, status: int, body: bytes = b""):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WriteOnly) as server:
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
    assert (item.error_code, asked) == ("DESTINATION_OCCUPIED", [condition[1]])


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


def test_a_source_that_was_deleted(place, prefix):
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


def test_the_same_key_gives_the_same_job(place, prefix, stubs):
    file_id, key = place.upload(content(10)), unique("key")
    destination = place.destination("folder", prefix + "/{file_id}")
    made = place.copies.create([file_id], destination, idempotency_key=key)
    assert place.copies.create([file_id], destination, idempotency_key=key).copy_job_id == made.copy_job_id
    assert place.copies.create([file_id], destination).copy_job_id != made.copy_job_id
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        place.copies.create([file_id], place.destination("folder", prefix), idempotency_key=key)
    assert "idempotency_key" in refusal.message


def test_the_same_key_gives_the_same_job_where_the_destination_is_gone(gateway_with, login, stubs, tmp_path):
    gateway = gateway_with({"copy": {"destinations": [{"kind": "directory", "root": str(tmp_path)}]}})
    admin = login(gateway)
    Upload.create(Fleet.create(admin).uploader()).put(content(10)).complete()
    (found,) = admin.list_all()
    asked = ([found.file_id], {"endpoint": f"file://{tmp_path}"})
    made = Copies(admin).create(*asked, idempotency_key="key")
    Copies(admin).finished(made.copy_job_id)
    gateway.stop()
    gateway.config.write_text("{}")
    gateway.start()
    copies = Copies(login(gateway))
    assert copies.create(*asked, idempotency_key="key").copy_job_id == made.copy_job_id
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        copies.create(*asked)
    assert "copy.destinations" in refusal.message


@pytest.mark.parametrize(
    "template", ["fixed", "/{file_id}", "../{file_id}", "a\\{file_id}", "x" * 1024, "{file_id}/.."]
)
def test_templates_that_make_no_keys(place, template, stubs):
    file_ids = [place.upload(content(10, seed)) for seed in (1, 2)]
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        place.copies.create(file_ids, place.destination("folder", template))
    assert "destination.key_template" in refusal.message


def test_names_that_no_file_can_have(place, stubs):
    file_id = place.upload(content(10))
    for template in ("a//{file_id}", "{file_id}/", "x" * 256 + "{file_id}", ".data-gateway-copy-{file_id}"):
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            place.copies.create([file_id], place.destination("folder", template))
        assert "destination.key_template" in refusal.message


def test_destinations_that_are_not_listed(place, stubs):
    file_id = place.upload(content(10))
    listed = place.endpoints
    for destination in (
        {},
        {"endpoint": "http://127.0.0.1:1", "bucket": "copies"},
        listed["moto"] | {"bucket": "others"},
        listed["moto"] | {"region": "eu-west-1"},
        {"endpoint": "file:///etc"},
        {"endpoint": listed["folder"]["endpoint"] + "/../x"},
        listed["folder"] | {"bucket": "copies"},
        listed["moto"] | {"kms_key_id": "key"},
        listed["moto"] | {"account_id": "1"},
    ):
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            place.copies.create([file_id], destination)
        assert "destination" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", INVALID):
        place.copies.call("CreateCopyJob", file_ids=[file_id])


def test_files_that_are_not_there(place, stubs):
    file_id = place.upload(content(10))
    destination = place.destination("folder", "")
    for ids in [[], [""], [file_id, file_id], [f"f{n}" for n in range(1001)]]:
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            place.copies.create(ids, destination)
        assert "file_ids" in refusal.message
    with refused(stubs, "NOT_FOUND") as refusal:
        place.copies.create([file_id, "no-such-file"], destination)
    assert "no-such-file" in refusal.message


def test_jobs_are_their_organizations(place, prefix, stubs):
    name, password = unique("org"), "a password of some length"
    place.admin.admin(
        "CreateOrganization", organization=name, bootstrap_admin_user_name="boss", bootstrap_admin_password=password
    )
    boss = User.login(place.gateway, stubs, name, "boss", password)
    ours = place.upload(content(10))
    theirs = place.upload(content(10), Fleet.create(boss).uploader(), boss)
    destination = place.destination("folder", prefix + "/{file_id}")
    made = Copies(boss).create([theirs], destination)
    with refused(stubs, "NOT_FOUND"):
        Copies(boss).create([ours], destination)
    job = place.copies.create([ours], destination)
    for method in ("GetCopyJob", "ListCopyJobItems", "CancelCopyJob"):
        with refused(stubs, "NOT_FOUND"):
            boss.copies(method, copy_job_id=job.copy_job_id)
    # The organization system sees all jobs.
    assert place.copies.finished(made.copy_job_id).completed_items == 1


def test_items_page_by_page(place, prefix, stubs):
    file_ids = [place.upload(content(10, seed)) for seed in range(5)]
    made = place.copies.create(file_ids, place.destination("folder", prefix + "/{file_id}"))
    place.copies.finished(made.copy_job_id)
    assert [item.file_id for item in place.copies.items(made.copy_job_id, page_size=2)] == file_ids
    page = place.copies.call("ListCopyJobItems", copy_job_id=made.copy_job_id, page_size=2)
    assert (len(page.items), page.total_size) == (2, 5)
    failed = stubs.gateway.COPY_ITEM_STATUS_FAILED_TERMINAL
    none = place.copies.call("ListCopyJobItems", copy_job_id=made.copy_job_id, statuses=[failed])
    assert (len(none.items), none.total_size, none.next_page_token) == (0, 0, "")
    with refused(stubs, "INVALID_ARGUMENT", INVALID):
        place.copies.call("ListCopyJobItems", copy_job_id=made.copy_job_id, statuses=[77])
    other = {"copy_job_id": made.copy_job_id, "page_token": page.next_page_token, "statuses": [failed]}
    with refused(stubs, "INVALID_ARGUMENT", INVALID):
        place.copies.call("ListCopyJobItems", **other)


def test_a_presigned_url_of_a_static_key_reads_what_was_copied(place, prefix):
    data = content(1000)
    made = place.copies.create([place.upload(data)], place.destination("s3", prefix + "/x"))
    place.copies.finished(made.copy_job_id)
    credentials = Credentials("data", f"http://{place.second.object_store}", "", "COPIER", SECRET, None, "", PART_SIZE)
    params = {"Bucket": "data", "Key": prefix + "/x"}
    url = s3.client(credentials).generate_presigned_url("get_object", Params=params)
    assert fetch_url(url).body == data


def test_copy_command_creates_and_follows_a_job(place, prefix, binary, tmp_path):
    command = CommandLine(binary, place.gateway, tmp_path)
    command.environment["DATA_GATEWAY_GATEWAY"] = place.gateway.listeners["gateway"]
    command.login()
    file_ids = [place.upload(content(10, seed)) for seed in (1, 2)]
    endpoint = place.endpoints["folder"]["endpoint"]
    made = command.json("copy", "create", *file_ids, "--to", endpoint, "--key", prefix + "/{file_id}")
    assert made["total_items"] == 2 and made["status"] in ("COPY_JOB_STATUS_QUEUED", "COPY_JOB_STATUS_RUNNING")
    job_id = made["copy_job_id"]
    place.copies.finished(job_id)
    job = command.json("copy", "show", job_id)
    assert (job["status"], job["completed_items"]) == ("COPY_JOB_STATUS_SUCCEEDED", 2)
    assert job["destination"]["endpoint"] == endpoint
    items = command.json("copy", "items", job_id)["items"]
    assert [item["status"] for item in items] == ["COPY_ITEM_STATUS_SUCCEEDED"] * 2
    assert command.json("copy", "items", job_id, "--status", "failed")["items"] == []
    assert "succeeded" in command.run("copy", "show", job_id).stdout
    assert all(file_id in command.run("copy", "items", job_id).stdout for file_id in file_ids)
    assert command.json("copy", "cancel", job_id, "--reason", "late")["status"] == "COPY_JOB_STATUS_SUCCEEDED"
    assert "copy.destinations" in command.refused(REFUSED, "copy", "create", file_ids[0], "--to", "file:///etc")


def counts(gateway: Gateway) -> Counter:
    """Returns the metrics of copies, by name and label."""
    found = ((name.removeprefix("data_gateway_"), labels, value) for name, labels, value in samples(gateway))
    return Counter({(name, *labels.values()): int(value) for name, labels, value in found if name.startswith("cop")})


def test_metrics_count_copied_and_failed_items(place, prefix):
    def made(destination: str, file_ids: list[str]) -> str:
        return place.copies.create(file_ids, place.destination(destination, prefix + "/{file_id}")).copy_job_id

    def counted(before: Counter, **expected: int) -> bool:
        """Returns whether the counters increased by this, and every gauge is back to its value."""
        after = counts(place.gateway) - before
        after.pop(("copy_retries_total",), None)
        return after == {tuple(name.split("__")): count for name, count in expected.items()}

    file_id = place.upload(content(10))
    start = counts(place.gateway)
    place.copies.finished(made("folder", [file_id]))
    assert eventually(
        lambda: counted(start, copy_jobs_total__succeeded=1, copy_items_total__succeeded=1, copied_bytes_total=10)
    )
    start = counts(place.gateway)
    place.copies.finished(made("folder", [file_id]))
    assert eventually(lambda: counted(start, copy_jobs_total__succeeded=1, copy_items_total__skipped=1))
    start = counts(place.gateway)
    place.copies.finished(made("nobody", [file_id]))
    assert eventually(lambda: counted(start, copy_jobs_total__failed=1, copy_items_total__failed=1))
    assert counts(place.gateway)["copy_retries_total",] > start["copy_retries_total",]

    start = counts(place.gateway)
    waiting = made("silent", [file_id, *(place.upload(content(10, seed)) for seed in range(4))])
    assert eventually(lambda: counted(start, copy_jobs__running=1, copy_items__copying=3, copy_items__queued=2))
    place.copies.cancel(waiting)
    place.copies.finished(waiting)
    assert eventually(lambda: counted(start, copy_jobs_total__canceled=1, copy_items_total__canceled=5))
