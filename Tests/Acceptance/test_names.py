"""The names of files: in lists, in download links, in the browser's folder and on the command line."""

import re
from urllib.parse import unquote

import pytest
from support import s3
from support.client import SignedIn
from support.oss import Oss2
from support.parties import unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import FILE_NAME_TAG, Upload, completed, content

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture(scope="module")
def user(binary, gateway, tmp_path_factory) -> SignedIn:
    return SignedIn(binary, gateway, tmp_path_factory.mktemp("user"))


def listed(admin, run: str):
    (found,) = admin.list_all(filter=f"raw_tags.run={run}")
    return found


def stored(uploader, run: str, data: bytes = b"data", tags: dict | None = None, **hints: str) -> Upload:
    upload = Upload.of(uploader, uploader.create(**hints)).put(data)
    upload.complete({"run": run} | (tags or {}))
    return upload


def disposition(response) -> str:
    """Returns the name under which a browser saves a response."""
    (name,) = re.findall(r"filename\*=UTF-8''(\S+)$", response.headers["content-disposition"])
    return unquote(name)


def test_list_shows_what_the_client_reported(uploader, admin, fleet, run):
    data = PNG + b"more"
    times = {"recorded_from": "2026-11-20T08:00:00.25Z", "recorded_to": "2026-11-20T09:00:00+01:00"}
    stored(uploader, run, data, {"weather": "rain"}, file_name="morning run.png", file_size="104", **times)
    found = listed(admin, run)
    assert found.name == "morning run.png"
    assert found.content_type == "image/png"
    assert found.device_id == uploader.device_id
    assert found.site_id == fleet.site_id
    assert dict(found.tags) == {"run": run, "weather": "rain"}
    assert found.recorded_from.ToJsonString() == "2026-11-20T08:00:00.250Z"
    assert found.recorded_to.ToJsonString() == "2026-11-20T08:00:00Z"
    assert not found.HasField("trashed_at")
    response = fetch_url(admin.objects("RequestDownload", file_ids=[found.file_id]).files[0].read.uri)
    assert response.headers["x-oss-hash-crc64ecma"] == found.crc64_ecma


def test_name_of_the_deployed_sdk_comes_with_its_tag(uploader, admin, run):
    stored(uploader, run, tags={FILE_NAME_TAG: "/private/var/mobile/IMG 7.HEIC"})
    assert listed(admin, run).name == "IMG 7.HEIC"
    assert listed(admin, run).content_type == "image/heic"


def test_hint_overrides_the_tag(uploader, admin, run):
    stored(uploader, run, tags={FILE_NAME_TAG: "tag.bin"}, file_name="hint.bin")
    assert listed(admin, run).name == "hint.bin"


def test_file_without_a_name_is_called_by_device_and_time(uploader, admin, run):
    stored(uploader, run)
    name = listed(admin, run).name
    assert re.fullmatch(uploader.device_id + r"_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ", name), name


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\a\\CON.txt", "_CON.txt"),
        ("in\u202evoice\u200b.exe", "invoice.exe"),
        ('a"b;c\r\n.mcap', "a_b;c.mcap"),
        (".profile", "_profile"),
        ("測試 é.mcap", "測試 é.mcap"),
        ("x" * 400 + ".mcap", "x" * 195 + ".mcap"),
    ],
)
def test_hostile_name_becomes_a_harmless_one(uploader, admin, run, hint, name):
    stored(uploader, run, file_name=hint)
    found = listed(admin, run)
    assert found.name == name
    (location,) = admin.objects("RequestDownload", file_ids=[found.file_id]).files
    assert location.name == name
    assert disposition(fetch_url(location.read.uri)) == name


@pytest.mark.parametrize(
    "hints", [{"file_size": "a lot"}, {"file_size": "-1"}, {"recorded_from": "yesterday"}, {"x": "y"}]
)
def test_hint_of_another_form_is_no_reason_to_refuse_a_file(uploader, admin, run, hints):
    stored(uploader, run, **hints)
    assert listed(admin, run).size_bytes == 4


def test_upload_in_progress_has_its_name_and_size(uploader, admin, stubs, gateway):
    reply = uploader.create(file_name="long.mcap", file_size=str(5 << 30))
    service = stubs.gateway.UploadManagementServiceStub(gateway.channel("admin"))
    metadata = [("authorization", f"Bearer {admin.token}")]
    page = service.ListUploads(stubs.gateway.ListUploadsRequest(page_size=1000), metadata=metadata)
    (found,) = [each for each in page.uploads if each.upload_id == reply.upload_id]
    assert (found.file_name, found.file_size_bytes) == ("long.mcap", 5 << 30)


def test_restart_keeps_the_name(uploader, admin, run):
    first = uploader.create(file_name="kept.mcap")
    upload = Upload.create(uploader, restart_from=first.upload_id).put(b"data")
    upload.complete({"run": run})
    assert listed(admin, run).name == "kept.mcap"


def test_completion_returns_the_file_id_each_time(uploader, admin, run):
    upload = Upload.create(uploader).put(b"data")
    file_id = upload.complete({"run": run}).file_id
    assert file_id == listed(admin, run).file_id
    assert upload.complete({"run": run}).file_id == file_id


def test_each_id_of_a_file_finds_it(uploader, admin, run, stubs):
    upload = stored(uploader, run, b"the bytes")
    file_id = listed(admin, run).file_id
    for known in (file_id, upload.id, upload.logical_id):
        (location,) = admin.objects("RequestDownload", file_ids=[known]).files
        assert location.file_id == file_id
        assert fetch_url(location.read.uri).body == b"the bytes"
        assert admin.object_management("GetObject", file_id=known).object.file_id == file_id
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.objects("RequestDownload", file_ids=[file_id, upload.id])
    admin.object_management("DeleteObject", file_id=upload.logical_id)
    assert admin.list_all(filter=f"raw_tags.run={run}") == []


def test_type_comes_from_the_bytes_and_the_link_serves_it(uploader, admin, run):
    stored(uploader, run, PNG, file_name="picture.bin")
    found = listed(admin, run)
    assert found.content_type == "image/png"
    response = fetch_url(admin.objects("RequestDownload", file_ids=[found.file_id]).files[0].read.uri)
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-disposition"].startswith("attachment;")


def test_changed_name_in_a_link_is_refused(uploader, admin, run):
    stored(uploader, run, file_name="mine.mcap")
    (location,) = admin.objects("RequestDownload", file_ids=[listed(admin, run).file_id]).files
    assert fetch_url(location.read.uri.replace("mine.mcap", "yours.exe")).status == 403


OVERRIDES = {
    "response-cache-control": "no-store",
    "response-content-disposition": 'inline; filename="a b.txt"',
    "response-content-encoding": "identity",
    "response-content-language": "de",
    "response-content-type": "text/plain",
    "response-expires": "0",
}


def assert_overridden(response):
    assert response.status == 200
    for name, value in OVERRIDES.items():
        assert response.headers[name.removeprefix("response-")] == value
    assert response.headers["content-security-policy"] == "sandbox"


def test_oss_client_chooses_fields_of_the_answer(upload):
    upload.put(content(1000))
    credentials = upload.credentials
    for version in ("v1", "v4"):
        bucket = Oss2(credentials, version).bucket
        url = bucket.sign_url("GET", credentials.key, 60, params=dict(OVERRIDES), slash_safe=True)
        assert_overridden(fetch_url(url))


def test_s3_client_chooses_fields_of_the_answer(upload):
    upload.put(content(1000))
    credentials = upload.credentials
    client = s3.client(credentials)
    chosen = {
        "Response" + "".join(word.title() for word in name.split("-")[1:]): value
        for name, value in OVERRIDES.items()
        if name != "response-expires"
    }
    name = {"Bucket": credentials.bucket, "Key": credentials.key}
    reply = client.get_object(**name, **chosen, ResponseExpires=0)
    assert reply["ContentDisposition"] == OVERRIDES["response-content-disposition"]
    assert reply["ContentType"] == "text/plain"
    assert reply["CacheControl"] == "no-store"
    assert reply["ContentLanguage"] == "de"


def test_download_saves_under_the_name(user, uploader, admin, run, tmp_path):
    upload = stored(uploader, run, b"first", file_name="drive.mcap")
    user.done("download", upload.id, "--to", tmp_path)
    assert (tmp_path / "drive.mcap").read_bytes() == b"first"
    # An identical file is not downloaded again, and another file of the same name does not overwrite the first one.
    assert "already downloaded" in user.done("download", upload.id, "--to", tmp_path)
    other = stored(uploader, unique("run"), b"second", file_name="drive.mcap")
    user.done("download", other.id, "--to", tmp_path)
    assert (tmp_path / "drive (2).mcap").read_bytes() == b"second"
    assert (tmp_path / "drive.mcap").read_bytes() == b"first"
    user.done("download", other.id, "--by-id", "--to", tmp_path)
    file_id = admin.list_all(filter=f"raw_tags.run={run}")[0].file_id
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"drive (2).mcap", "drive.mcap"}
    assert file_id not in names


def test_ls_shows_names(user, uploader, run):
    completed(uploader, b"x" * 2000, {"run": run, FILE_NAME_TAG: "seen.csv"})
    header, row = user.done("ls", f"raw_tags.run={run}").splitlines()
    assert header.split()[:4] == ["NAME", "SIZE", "DEVICE", "CREATED"]
    assert row.split()[0] == "seen.csv"
    assert uploader.device_id in row


def test_ls_lists_in_the_chosen_order(user, uploader, run):
    for name, size in (("b.csv", 300), ("a.csv", 100), ("c.csv", 200)):
        completed(uploader, b"x" * size, {"run": run, FILE_NAME_TAG: name})

    def names(*options: str) -> list[str]:
        return [line.split()[0] for line in user.done("ls", f"raw_tags.run={run}", *options).splitlines()[1:]]

    assert names() == ["c.csv", "a.csv", "b.csv"]
    assert names("--order-by", "size") == ["a.csv", "c.csv", "b.csv"]
    assert names("--order-by", "name desc", "--limit", "2") == ["c.csv", "b.csv"]
    assert "order_by must be created, recorded, size or name" in user.run("ls", "--order-by", "weight").stderr


def test_all_objects_are_listed_in_the_chosen_order(admin, uploader, run):
    """Pages without a filter follow an index."""
    for name, size in (("b.csv", 1), ("a.csv", 2), ("c.csv", 3)):
        completed(uploader, b"x" * size, {"run": run, FILE_NAME_TAG: name})
    for order, value in (
        ("size", lambda found: found.size_bytes),
        ("name desc", lambda found: found.name.encode().lower()),
        ("created", lambda found: found.created_at_unix),
    ):
        found, token = [], ""
        for _ in range(2):
            page = admin.objects("ListObjects", order_by=order, page_size=2, page_token=token)
            found, token = [*found, *page.objects], page.next_page_token
        assert [object.file_id for object in found] == list(dict.fromkeys(object.file_id for object in found))
        assert [*map(value, found)] == sorted(map(value, found), reverse=order.endswith("desc"))
