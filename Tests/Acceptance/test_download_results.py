"""What `download` says about each file and about all of them."""

import json
import signal
import time

import pytest
from support.client import Stage, end
from support.commands import REFUSED
from support.parties import unique
from support.uploads import content

SIZE = 512 * 1024


@pytest.fixture
def stored(device, tmp_path):
    """Uploads files, and returns the filter that finds them."""

    def store(names: list[str], size: int = 1000) -> str:
        (folder := tmp_path / "source").mkdir()
        for number, name in enumerate(names):
            (folder / name).write_bytes(content(size, seed=number))
        run = unique("run")
        device.done("upload", folder, "--tag", f"run={run}")
        return f"run={run}"

    return store


@pytest.fixture
def down(tmp_path):
    return tmp_path / "down"


def corrupt(network, user, filter: str) -> None:
    """Changes the stored bytes of the objects, so that they do not match their checksum."""
    for found in user.objects(filter):
        (file,) = network.gateway.data.glob(f"store/data/*/{found['file_id']}")
        file.write_bytes(bytes(found["size_bytes"]))


def requested(user) -> int:
    days = json.loads(user.done("statistics", "--days", "2", "--json"))["days"]
    return sum(day["requested_objects"] for day in days)


def test_existing_files_are_counted_apart_and_not_requested(user, stored, down):
    filter = stored(["a.log", "b.log", "c.log"])
    before = requested(user)
    assert user.done("download", filter, "--to", down).splitlines()[-1].startswith("3 files downloaded: ")
    assert requested(user) == before + 3
    (one,) = down.rglob("b.log")
    one.unlink()
    summary = user.done("download", filter, "--to", down).splitlines()[-1]
    assert summary.startswith("2 files already there, 1 downloaded: 1000 B in ")
    assert requested(user) == before + 4
    events = [json.loads(line) for line in user.done("download", filter, "--to", down, "--json").splitlines()]
    assert [each["was_already_there"] for each in events if each["event"] == "completed"] == [True] * 3
    assert (events[-1]["already_there_files"], events[-1]["downloaded_files"], events[-1]["downloaded_bytes"]) == (
        3,
        0,
        0,
    )
    assert user.done("download", filter, "--to", down).splitlines()[-1] == "3 files already there"
    user.done("download", filter, "--dry-run")
    assert requested(user) == before + 4


def test_failures_name_their_files_and_are_repeated_at_the_end(network, user, stored, down):
    names = [f"bad{number:02}.log" for number in range(22)]
    filter = stored([*names, "good.log"])
    corrupt(network, user, f"{filter} name:bad*")
    failed = user.run("download", filter, "--to", down)
    assert failed.returncode == REFUSED
    assert [path.name for path in down.rglob("*.log")] == ["good.log"]
    assert failed.stdout.splitlines()[-1].startswith("1 file downloaded: ")
    assert failed.stdout.splitlines()[-1].endswith(", 22 failed")
    lines = failed.stderr.splitlines()
    assert all(any(name in line for line in lines[:22]) for name in names)
    heading, *repeated, more = lines[22:]
    assert heading == "22 files failed:"
    assert len(repeated) == 20 and {f"data-gateway: {line.strip()}" for line in repeated} <= set(lines[:22])
    assert more == "  and 2 more"
    assert not [found for found in user.objects(filter) if found["file_id"] in failed.stderr]


def test_interrupted_download_names_the_file(network, user, stored, down):
    filter = stored(["drive.log", "other.log"], SIZE)
    stage = Stage()
    network.store.on_received(network.store.received + SIZE // 2, stage)
    client = user.start("download", filter, "--to", down, "--parallel", "1")
    stage.wait()
    output, errors = end(client, signal.SIGINT)
    network.store.forget()
    stage.let_go()
    assert client.returncode == REFUSED
    ids = [found["file_id"] for found in user.objects(filter)]
    assert "the transfer was interrupted; the same command continues the download" in errors
    assert any(f"{name}: the transfer" in errors for name in ("drive.log", "other.log"))
    assert not any(each in output + errors for each in ids)
    assert output.splitlines()[-1].endswith("1 failed, 1 not downloaded")


def test_object_that_does_not_exist_is_an_error_without_an_event(user, down):
    failed = user.run("download", unique("nothing"), "--to", down, "--json")
    assert (failed.returncode, failed.stdout) == (REFUSED, "")
    assert json.loads(failed.stderr)["error"]["exit_code"] == REFUSED


def test_object_that_does_not_exist_stops_no_other(user, stored, down):
    filter = stored(["there.log"])
    missing = unique("nothing")
    failed = user.run("download", missing, f"{filter} name:there.log", "size>much", "--to", down)
    assert failed.returncode == REFUSED
    assert [path.name for path in down.rglob("*.log")] == ["there.log"]
    summary = failed.stdout.splitlines()[-1]
    assert summary.startswith("1 file downloaded: ") and summary.endswith(", 2 failed")
    lines = failed.stderr.splitlines()
    assert f"no object matches the filter {missing}" in lines[0]
    assert lines[2] == "2 files failed:" and missing in lines[3]
    planned = user.run("download", missing, f"{filter} name:there.log", "--to", down, "--dry-run")
    assert planned.returncode == REFUSED and planned.stdout.endswith("there.log: 1000 B\n1 object\n")


def test_rate_of_all_downloads_is_limited(user, stored, down):
    filter = stored(["a.log", "b.log"], SIZE)
    start = time.monotonic()
    user.done("download", filter, "--to", down, "--limit-rate", "256KiB")
    # The limit permits a burst of a quarter of a second.
    assert time.monotonic() - start >= 2 * SIZE / (256 * 1024) - 0.5
