"""Copy jobs into folders, moto's S3 and another gateway, with both dialects: what is copied, and which jobs are refused."""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from support import s3
from support.commands import REFUSED, CommandLine
from support.copies import Copies
from support.copy_place import INVALID, PART_SIZE, SECRET, Place, new_prefix, open_place
from support.gateway import Gateway, eventually
from support.monitoring import logged, samples
from support.oss import Credentials
from support.parties import Fleet, unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import MIB, Upload, content


@pytest.fixture(scope="module")
def place(gateway_with, login, tmp_path_factory) -> Iterator[Place]:
    with open_place(gateway_with, login, tmp_path_factory) as place:
        yield place


@pytest.fixture
def prefix() -> str:
    return new_prefix()


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


def test_shared_destination_of_organizations_is_logged(gateway_with, login, stubs, tmp_path):
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
        users[name] = admin.create_organization(name, password)
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


def test_the_same_key_gives_the_same_job(place, prefix, stubs):
    file_id, key = place.upload(content(10)), unique("key")
    destination = place.destination("folder", prefix + "/{file_id}")
    made = place.copies.create([file_id], destination, idempotency_key=key)
    assert place.copies.create([file_id], destination, idempotency_key=key).copy_job_id == made.copy_job_id
    assert place.copies.create([file_id], destination).copy_job_id != made.copy_job_id
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        place.copies.create([file_id], place.destination("folder", prefix), idempotency_key=key)
    assert "idempotency_key" in refusal.message


def test_same_key_returns_the_same_job_after_removal_of_the_destination(gateway_with, login, stubs, tmp_path):
    gateway = gateway_with({"copy": {"destinations": [{"kind": "directory", "root": str(tmp_path)}]}})
    admin = login(gateway)
    Upload.create(Fleet.create(admin).uploader()).put(content(10)).complete()
    (found,) = admin.list_all()
    requested = ([found.file_id], {"endpoint": f"file://{tmp_path}"})
    made = Copies(admin).create(*requested, idempotency_key="key")
    Copies(admin).finished(made.copy_job_id)
    gateway.stop()
    gateway.config.write_text("{}")
    gateway.start()
    copies = Copies(login(gateway))
    assert copies.create(*requested, idempotency_key="key").copy_job_id == made.copy_job_id
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        copies.create(*requested)
    assert "copy.destinations" in refusal.message


@pytest.mark.parametrize(
    "template", ["fixed", "/{file_id}", "../{file_id}", "a\\{file_id}", "x" * 1024, "{file_id}/.."]
)
def test_templates_without_distinct_keys_are_refused(place, template, stubs):
    file_ids = [place.upload(content(10, seed)) for seed in (1, 2)]
    with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
        place.copies.create(file_ids, place.destination("folder", template))
    assert "destination.key_template" in refusal.message


def test_templates_with_invalid_file_names_are_refused(place, stubs):
    file_id = place.upload(content(10))
    for template in ("a//{file_id}", "{file_id}/", "x" * 256 + "{file_id}", ".data-gateway-copy-{file_id}"):
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            place.copies.create([file_id], place.destination("folder", template))
        assert "destination.key_template" in refusal.message


def test_unlisted_destinations_are_refused(place, stubs):
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


def test_unknown_files_are_refused(place, stubs):
    file_id = place.upload(content(10))
    destination = place.destination("folder", "")
    for ids in [[], [""], [file_id, file_id], [f"f{n}" for n in range(1001)]]:
        with refused(stubs, "INVALID_ARGUMENT", INVALID) as refusal:
            place.copies.create(ids, destination)
        assert "file_ids" in refusal.message
    with refused(stubs, "NOT_FOUND") as refusal:
        place.copies.create([file_id, "no-such-file"], destination)
    assert "no-such-file" in refusal.message


def test_jobs_belong_to_their_organization(place, prefix, stubs):
    name, password = unique("org"), "a password of some length"
    boss = place.admin.create_organization(name, password)
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


def test_items_are_listed_page_by_page(place, prefix, stubs):
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


def test_copy_command_takes_names_and_filters_and_makes_paths(place, prefix, binary, tmp_path):
    command = CommandLine(binary, place.gateway, tmp_path)
    command.login()
    file_ids = [place.upload(content(size)) for size in (11_111, 11_112)]
    endpoint = place.endpoints["folder"]["endpoint"]
    made = command.json(
        "copy", "create", "size>=11111 size<=11112", "--to", endpoint, "--key", prefix + "/{device}/{date}/{stem}-x"
    )
    assert made["total_items"] == 2
    place.copies.finished(made["copy_job_id"])
    keys = {item["destination_object_key"] for item in command.json("copy", "items", made["copy_job_id"])["items"]}
    assert len(keys) == 2 and all(key.startswith(prefix + "/") and len(key.split("/")) == 5 for key in keys)
    assert "FILE" not in "".join(keys) and "{" not in "".join(keys)
    assert made["copy_job_id"] in {job["copy_job_id"] for job in command.json("copy", "list")["jobs"]}
    for template, word in [("{colour}", "{colour}"), ("{name", "{name"), ("../{name}", "segments")]:
        refusal = command.refused(REFUSED, "copy", "create", file_ids[0], "--to", endpoint, "--key", template)
        assert word in refusal
    by_default = command.json("copy", "create", file_ids[0], "--to", endpoint)["copy_job_id"]
    place.copies.finished(by_default)
    assert len(command.json("copy", "items", by_default)["items"][0]["destination_object_key"].split("/")) == 3


def test_copy_command_keeps_the_paths_of_a_folder(place, prefix, binary, tmp_path):
    command = CommandLine(binary, place.gateway, tmp_path)
    command.login()
    run = unique("run")
    names = [f"{run}_{number}/metadata.yaml" for number in (1, 2)] + [f"{run}_2/deep/.{run}"]
    for seed, name in enumerate(names):
        reply = place.uploader.create(relative_path=name)
        Upload.of(place.uploader, reply).put(content(10, seed)).complete({"run": run})
    endpoint = place.endpoints["folder"]["endpoint"]

    def keys(*arguments: str) -> list[str]:
        job_id = command.json("copy", "create", *arguments, "--to", endpoint)["copy_job_id"]
        place.copies.finished(job_id)
        items = command.json("copy", "items", job_id)["items"]
        assert {item["error_code"] for item in items} == {""}
        return sorted(item["destination_object_key"] for item in items)

    by_default = keys(f"run={run}")
    assert sorted(key.split("/", 2)[2] for key in by_default) == sorted(names)
    assert keys(f"run={run}", "--key", prefix + "/{path}") == sorted(f"{prefix}/{name}" for name in names)
    # An object that is given by its id is a file, not a folder.
    file_id = command.json("ls", f"run={run} path:{run}_1/*")["objects"][0]["file_id"]
    assert len(keys(file_id)[0].split("/")) == 3


def test_name_never_replaces_the_copy_of_another_object(place, prefix):
    file_ids = [place.upload(content(10, seed)) for seed in (3, 4)]
    names = []
    for file_id in (*file_ids, *file_ids):
        made = place.copies.create([file_id], place.destination("folder", prefix + "/{stem}"))
        place.copies.finished(made.copy_job_id)
        names.append(place.copies.items(made.copy_job_id)[0])
    assert names[0].destination_object_key == names[2].destination_object_key
    assert names[1].destination_object_key == names[3].destination_object_key
    assert [item.error_code for item in names] == [""] * 4


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
