"""A folder that comes back as the folder: the paths of its files, from the device to whoever downloads them."""

import filecmp
import io
import json
import os
import zipfile

import grpc
import pytest
from support.client import partial_name
from support.commands import REFUSED
from support.gateway import eventually
from support.uploads import content, fresh_seeds

BAGS = {
    "bags/run 1/metadata.yaml": 300,
    "bags/run 1/run 1_0.mcap": 90_000,
    "bags/run 2/metadata.yaml": 310,
    "bags/run 2/.hidden": 10,
    "bags/run 3/deep/er/metadata.yaml": 320,
    "bags/notes.txt": 40,
}


@pytest.fixture
def bags(tmp_path):
    for name, size in BAGS.items():
        (path := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(size, next(fresh_seeds)))
    return tmp_path / "bags"


def is_same(one, other) -> bool:
    compared = filecmp.dircmp(one, other, ignore=[])
    return (
        not (compared.left_only or compared.right_only or compared.funny_files)
        and filecmp.cmpfiles(one, other, compared.common_files, shallow=False)[1:] == ([], [])
        and all(is_same(f"{one}/{name}", f"{other}/{name}") for name in compared.common_dirs)
    )


def test_folder_comes_back_as_the_folder(device, user, bags, run, tmp_path):
    device.done("upload", bags, "--tag", f"run={run}")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert is_same(bags, tmp_path / "back")
    # Once more, nothing changes; and with the device's folder before it.
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert is_same(bags, tmp_path / "back")
    user.done("download", f"run={run}", "--to", tmp_path / "all", "--name", "{device}/{path}")
    assert is_same(bags, tmp_path / "all" / device.device_id)
    planned = user.done("download", f"run={run}", "--to", tmp_path / "new", "--dry-run")
    assert f"{tmp_path}/new/run 3/deep/er/metadata.yaml" in planned
    assert not (tmp_path / "new").exists()


def test_uploaded_twice_comes_back_once(device, user, bags, run, tmp_path):
    for _ in range(2):
        device.done("upload", bags, "--tag", f"run={run}")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert is_same(bags, tmp_path / "back")


@pytest.fixture
def long_names(tmp_path):
    """A folder with names up to the limit of file systems, and one that looks like that of an incomplete file."""
    (folder := tmp_path / "long").mkdir()
    names = ["k" * length for length in (200, 245, 250, 251, 255)] + ["é" * 127, "l" * 251 + ".bin"]
    for name in [*names, "drive.log", "drive.log.part", "ok1", "ok2"]:
        (folder / name).write_bytes(content(5000, next(fresh_seeds)))
    return folder


def test_names_of_every_length_come_back(device, user, run, long_names, tmp_path):
    device.done("upload", long_names, "--tag", f"run={run}")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert is_same(long_names, tmp_path / "back")
    # A file of the user stays, also where the number makes the name too long.
    for name in ("k" * 255, "l" * 251 + ".bin"):
        (tmp_path / "back" / name).write_text("of the user")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert (tmp_path / "back" / ("k" * 251 + " (2)")).read_bytes() == (long_names / ("k" * 255)).read_bytes()
    assert (tmp_path / "back" / ("l" * 247 + " (2).bin")).exists()
    assert (tmp_path / "back" / ("k" * 255)).read_text() == "of the user"


def test_files_that_look_incomplete_stay_as_they_are(device, user, run, long_names, tmp_path):
    device.done("upload", long_names, "--tag", f"run={run}")
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "ok1.part").write_text("of the user")
    user.done("download", f"run={run}", "--to", tmp_path / "back", "--parallel", "1")
    assert (tmp_path / "back" / "ok1.part").read_text() == "of the user"
    (tmp_path / "back" / "ok1.part").unlink()
    assert is_same(long_names, tmp_path / "back")


def test_file_that_cannot_be_written_stops_no_other(device, user, run, long_names, tmp_path):
    device.done("upload", long_names, "--tag", f"run={run}")
    name = "k" * 255
    (listed,) = [found for found in user.objects(f"run={run}") if found["relative_path"] == name]
    # A folder where the incomplete file would be.
    (blocker := tmp_path / "back" / partial_name(name, listed["file_id"])).mkdir(parents=True)
    done = user.run("download", f"run={run}", "--to", tmp_path / "back")
    assert done.returncode == REFUSED
    assert done.stdout.splitlines()[-1].startswith("10 files downloaded: ")
    assert done.stdout.splitlines()[-1].endswith(", 1 failed")
    assert f"cannot write {tmp_path}/back/{name}: Is a directory" in done.stderr
    assert "/proc/" not in done.stdout + done.stderr
    blocker.rmdir()
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert is_same(long_names, tmp_path / "back")


def test_folder_is_listed_downloaded_and_deleted_by_its_path(device, user, bags, run, tmp_path):
    """Listed, downloaded and deleted by its path."""
    device.done("upload", bags, "--tag", f"run={run}")
    folder = f'run={run} path:"run 1/*"'
    listed = json.loads(user.done("ls", folder, "--json"))["objects"]
    assert sorted(each["relative_path"] for each in listed) == ["run 1/metadata.yaml", "run 1/run 1_0.mcap"]
    assert "run 1/metadata.yaml" in user.done("ls", folder, "--columns", "relative_path")
    user.done("download", folder, "--to", tmp_path / "one")
    assert is_same(bags / "run 1", tmp_path / "one" / "run 1")
    assert os.listdir(tmp_path / "one") == ["run 1"]
    user.done("rm", "--filter", folder, "--yes")
    assert len(json.loads(user.done("ls", f"run={run}", "--json"))["objects"]) == len(BAGS) - 2
    (exact,) = json.loads(user.done("ls", f"run={run} path:notes.txt", "--json"))["objects"] or [None]
    assert exact["name"] == "notes.txt"


def test_file_given_itself_has_no_path(device, user, bags, run, tmp_path):
    device.done("upload", bags / "run 1" / "metadata.yaml", "--tag", f"run={run}")
    (listed,) = json.loads(user.done("ls", f"run={run}", "--json"))["objects"]
    assert (listed["name"], listed["relative_path"]) == ("metadata.yaml", "")


def test_path_survives_an_interrupted_upload(device, user, bags, run, network, tmp_path):
    network.rpc.target = "127.0.0.1:1"
    try:
        device.run(
            "upload", bags, "--include", "er", "--include", "metadata.yaml", "--retry-for", "0", "--tag", f"run={run}"
        )
    finally:
        network.point_at(network.gateway)
    device.done("upload", bags, "--include", "metadata.yaml", "--resume", "--tag", f"run={run}")
    listed = json.loads(user.done("ls", f"run={run}", "--json"))["objects"]
    assert sorted(each["relative_path"] for each in listed) == [
        "run 1/metadata.yaml",
        "run 2/metadata.yaml",
        "run 3/deep/er/metadata.yaml",
    ]


def test_archive_has_the_paths(device, user, bags, run, network, network_fleet):
    device.done("upload", bags, "--tag", f"run={run}")
    listed = json.loads(user.done("ls", f"run={run}", "--json"))["objects"]
    stub = network_fleet.user.stubs.gateway.ObjectArchiveServiceStub(network.gateway.channel("gateway"))
    request = network_fleet.user.stubs.gateway.ZipObjectsRequest(file_ids=[each["file_id"] for each in listed])
    metadata = [("authorization", f"Bearer {network_fleet.user.token}")]
    data = b"".join(piece.data for piece in stub.ZipObjects(request, metadata=metadata, timeout=60))
    names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    assert names == {f"{device.device_id}/{name.removeprefix('bags/')}" for name in BAGS}


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        "./a",
        "a/.",
        "a\tb/c",
        "a/\x7f",
        "a/" * 32 + "a",
        "a" * 256,
        "ab/" * 400,
    ],
)
def test_path_that_breaks_the_rule_is_refused(network_fleet, path):
    uploader = network_fleet.uploader()

    with pytest.raises(grpc.RpcError) as refusal:
        uploader.create(relative_path=path)
    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert 'client_hints["relative_path"] must be a relative path' in refusal.value.details()


def test_link_in_the_target_leads_nowhere(device, user, bags, run, tmp_path):
    device.done("upload", bags, "--tag", f"run={run}", "--include", "run 1/*")
    (tmp_path / "back").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "back" / "run 1").symlink_to(tmp_path / "elsewhere")
    done = user.run("download", f"run={run}", "--to", tmp_path / "back")
    assert done.returncode == REFUSED
    assert f"cannot create the folder {tmp_path}/back/run 1: it is a link or a file" in done.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []
    # The target itself may be a link: the user chose it.
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    user.done("download", f"run={run}", "--to", tmp_path / "link")
    assert (tmp_path / "elsewhere" / "run 1" / "metadata.yaml").exists()


def test_two_devices_of_one_path_get_a_number(device, user, bags, run, tmp_path, network_fleet):
    device.done("upload", bags, "--tag", f"run={run}", "--include", "notes.txt")
    (bags / "notes.txt").write_text("other notes")
    device.done("upload", bags, "--tag", f"run={run}", "--include", "notes.txt")
    (bags / "NOTES.txt").write_text("shouted notes")
    device.done("upload", bags, "--tag", f"run={run}", "--include", "NOTES.txt")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert sorted(os.listdir(tmp_path / "back")) == ["NOTES.txt", "notes (2).txt", "notes.txt"]


def test_names_with_control_characters_are_escaped(device, user, run, tmp_path):
    (folder := tmp_path / "odd" / "tab\tfolder").mkdir(parents=True)
    (folder / "line\nfeed.txt").write_bytes(content(10))
    output = device.done("upload", tmp_path / "odd", "--tag", f"run={run}")
    assert "\t" not in output and output.count("\n") == 2
    assert 'is stored as "line%0Afeed.txt" and under the path "tab%09folder/line%0Afeed.txt"' in output
    (listed,) = json.loads(user.done("ls", f"run={run}", "--json"))["objects"]
    assert (listed["name"], listed["relative_path"]) == ("line%0Afeed.txt", "tab%09folder/line%0Afeed.txt")
    device.done("upload", folder / "line\nfeed.txt", "--tag", f"run={run}")
    user.done("download", f"run={run}", "--to", tmp_path / "back")
    assert (tmp_path / "back" / "tab%09folder" / "line%0Afeed.txt").read_bytes() == content(10)


def test_agent_keeps_the_path(binary, device, user, bags, run, tmp_path):
    (tmp_path / "agent.json").write_text(
        json.dumps({"directories": [{"path": str(bags), "settle_seconds": 1, "tags": {"run": run}}]})
    )

    def paths() -> set[str]:
        return {each["relative_path"] for each in json.loads(user.done("ls", f"run={run}", "--json"))["objects"]}

    agent = device.start("agent", "run", "--config", str(tmp_path / "agent.json"))
    try:
        eventually(lambda: "run 3/deep/er/metadata.yaml" in paths())
    finally:
        agent.terminate()
        agent.communicate(timeout=60)
