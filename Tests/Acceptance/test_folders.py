"""Folders as one entry of a list: by gRPC, by REST and on the command line, with what is done to all their files."""

import io
import json
import urllib.parse
import zipfile

import grpc
import pytest
from support.commands import REFUSED
from support.gateway import eventually
from support.parties import unique
from support.raw import fetch
from support.uploads import content, fresh_seeds

RECORDING = {
    "metadata.yaml": 300,
    "run_0.mcap": 5000,
    "run_1.mcap": 4000,
    "cameras/front.mp4": 700,
    "cameras/rear.mp4": 800,
}


@pytest.fixture
def gateway(network):
    return network.gateway


@pytest.fixture
def admin(network_fleet):
    return network_fleet.user


@pytest.fixture
def recording(device, run, tmp_path):
    """Uploads a folder of a new name beside a file, and returns its name."""
    name = unique("recording")
    for path, size in RECORDING.items():
        (file := tmp_path / "data" / name / path).parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content(size, next(fresh_seeds)))
    (tmp_path / "data" / "notes.txt").write_bytes(content(50, next(fresh_seeds)))
    device.done("upload", tmp_path / "data", "--tag", f"run={run}")
    return name


def folders(admin, run, **fields):
    return admin.list_all(filter=f"raw_tags.run={run}", group_folders=True, **fields)


def test_folder_is_one_entry_on_pages_of_every_size(admin, device, recording, run):
    for size in (1, 2, 100):
        for order in ("", "name", "size desc", "recorded"):
            listed = folders(admin, run, page_size=size, order_by=order)
            assert sorted(found.folder.path for found in listed) == ["", recording], (size, order)
    (found,) = (found for found in folders(admin, run) if found.folder.path)
    assert found.folder.objects == 5 and found.folder.size_bytes == sum(RECORDING.values())
    assert found.folder.filter == f"device={device.device_id} folder:{recording}"
    inside = admin.list_all(filter=found.folder.filter, group_folders=True)
    assert sorted(each.folder.path or each.relative_path for each in inside) == [
        f"{recording}/{name}" for name in ("cameras", "metadata.yaml", "run_0.mcap", "run_1.mcap")
    ]
    assert len(admin.list_all(filter=found.folder.filter)) == 5


def test_folders_that_begin_on_later_pages_are_one_entry_each(admin, device, run, tmp_path):
    names = [unique("recording") for _ in range(3)]
    for name in names:
        (folder := tmp_path / "data" / name).mkdir(parents=True)
        for part in range(2):
            (folder / f"{part}.mcap").write_bytes(content(10, next(fresh_seeds)))
    device.done("upload", tmp_path / "data", "--tag", f"run={run}")
    for order in ("", "name", "size desc"):
        listed = folders(admin, run, page_size=1, order_by=order)
        assert sorted(found.folder.path for found in listed) == sorted(names), order


def test_rest_has_folders(gateway, admin, recording, run):
    query = urllib.parse.urlencode({"filter": f"raw_tags.run={run}", "group_folders": "true"})
    reply = fetch(
        gateway.listeners["web"], "GET", f"/v1/objects?{query}", b"", {"Authorization": f"Bearer {admin.token}"}
    )
    entries = json.loads(reply.body)["objects"]
    (folder,) = (entry["folder"] for entry in entries if "folder" in entry)
    assert folder["path"] == recording and folder["objects"] == "5"


def test_files_of_a_folder_are_downloaded_and_deleted_together(gateway, admin, recording, run):
    (folder,) = (found.folder for found in folders(admin, run) if found.folder.path)
    fields = {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"}
    body = json.dumps({"filter": folder.filter}).encode()
    reply = fetch(gateway.listeners["web"], "POST", "/v1/objects:zip", body, fields)
    with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
        assert archive.testzip() is None
        inside = sorted(name.split("/", 1)[1] for name in archive.namelist())
        assert inside == sorted(f"{recording}/{name}" for name in RECORDING)
    deleted = admin.object_management("DeleteObjects", filter=folder.filter, reason="a person is in it")
    assert deleted.matching_objects == 5
    eventually(lambda: [found.name for found in folders(admin, run)] == ["notes.txt"])


def test_command_line_lists_folders(user, recording, run):
    (row,) = (row for row in user.json("ls", f"run={run}", "--folders")["objects"] if row["folder"])
    assert (row["name"], row["objects"], row["size_bytes"]) == (f"{recording}/", 5, sum(RECORDING.values()))
    assert row["folder"]["path"] == recording
    printed = user.done("ls", f"run={run}", "--folders")
    assert printed.splitlines()[0].split()[:3] == ["NAME", "OBJECTS", "SIZE"]
    assert f"{recording}/" in printed and "10.5 KiB" in printed
    inner = user.json("ls", row["folder"]["filter"], "--folders")["objects"]
    names = {each["name"] for each in inner}
    assert names == {f"{recording}/cameras/", "metadata.yaml", "run_0.mcap", "run_1.mcap"}
    assert len(user.json("ls", row["folder"]["filter"])["objects"]) == 5


def test_path_that_is_no_folder_is_refused(admin, user):
    with pytest.raises(grpc.RpcError) as error:
        admin.list_all(filter="folder:/etc")
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "byte 7: expected the path of a folder, such as run7/cameras" in error.value.details()
    assert "expected the path of a folder" in user.refused(REFUSED, "ls", 'folder:"a/../b"')
