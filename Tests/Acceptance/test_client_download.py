"""`data-gateway ls` and `download`: the commands of users."""

import json
import signal

import pytest
from support.client import SignedIn, Stage, end, partial_name
from support.commands import OK, REFUSED, USAGE
from support.gateway import eventually
from support.parties import unique
from support.uploads import completed, content

PART = 256 * 1024
SIZE = 8 * PART
CONFIGURATION = {"uploads": {"part_size_bytes": 16 * PART}}


@pytest.fixture(scope="module")
def uploader(network_fleet):
    return network_fleet.uploader()


@pytest.fixture
def store(network):
    yield network.store
    network.store.forget()
    network.store.release()


@pytest.fixture(scope="module")
def stored(uploader, user) -> tuple[str, bytes]:
    """A file id and its bytes."""
    run, data = unique("run"), content(SIZE)
    completed(uploader, data, {"run": run})
    (found,) = user.objects(f"raw_tags.run={run}")
    return found["file_id"], data


def test_ls_filters_and_pages(user, uploader):
    run = unique("run")
    for number in range(5):
        completed(uploader, b"x" * number, {"run": run, "number": str(number)})
    found = user.objects(f"raw_tags.run={run}")
    assert [each["size_bytes"] for each in found] == [4, 3, 2, 1, 0]
    assert [each["size_bytes"] for each in user.objects(f"raw_tags.run={run} size>2")] == [4, 3]
    assert user.objects(f"raw_tags.run={run}", "--limit", "2") == found[:2]
    assert user.objects(f"raw_tags.run={run} raw_tags.number=7") == []
    table = user.done("ls", f"raw_tags.run={run}").splitlines()
    assert table[0].split() == ["NAME", "SIZE", "DEVICE", "CREATED", "TAGS", "FILE", "ID"]
    assert [line.split()[-1] for line in table[1:]] == [each["file_id"] for each in found]
    assert user.done("ls", f"raw_tags.run={run} raw_tags.number=7") == "no objects\n"


def test_ls_says_what_is_wrong_with_a_filter(user):
    refused = user.run("ls", "status:verified OR size>much")
    assert refused.returncode == REFUSED and "DATA_GATEWAY_INVALID_ARGUMENT" in refused.stderr
    assert user.run("ls", "--limit", "0").returncode == USAGE


def test_download_creates_the_folder(user, stored, store, tmp_path):
    file_id, data = stored
    events = [
        json.loads(line)
        for line in user.done("download", file_id, "--by-id", "--to", tmp_path / "a" / "b", "--json").splitlines()
    ]
    assert [events[0]["event"], events[-1]["event"]] == ["begun", "completed"]
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [file_id]
    assert (tmp_path / "a" / "b" / file_id).read_bytes() == data


def test_empty_object_is_downloaded(user, uploader, tmp_path):
    run = unique("run")
    completed(uploader, b"", {"run": run})
    (found,) = user.objects(f"raw_tags.run={run}")
    user.done("download", found["file_id"], "--by-id", "--to", tmp_path)
    assert (tmp_path / found["file_id"]).read_bytes() == b""


def test_download_resumes_after_a_broken_connection(user, stored, store, tmp_path):
    file_id, data = stored
    before = store.received
    for share in (0.1, 0.5, 0.9):
        store.on_received(before + int(SIZE * share), store.cut)
    user.done("download", file_id, "--by-id", "--to", tmp_path)
    assert (tmp_path / file_id).read_bytes() == data
    assert store.received - before < SIZE + PART


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_download_is_resumed(user, stored, store, tmp_path, number):
    file_id, data = stored
    stage, before = Stage(), store.received
    store.on_received(before + SIZE // 2, stage)
    client = user.start("download", file_id, "--by-id", "--to", tmp_path)
    stage.wait()
    # The half that was passed on may still be on its way into the file.
    eventually(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
    end(client, number)
    store.cut()
    stage.let_go()
    assert [path.name for path in tmp_path.iterdir()] == [partial_name(file_id, file_id)]
    user.done("download", file_id, "--by-id", "--to", tmp_path)
    assert (tmp_path / file_id).read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == [file_id]


@pytest.mark.parametrize("left", ["all", "too-much", "other-bytes"])
def test_partial_file_of_an_earlier_download_is_compared(user, stored, store, tmp_path, left):
    file_id, data = stored
    contents = {"all": data, "too-much": data + b"x", "other-bytes": b"y" * 1000}
    (tmp_path / partial_name(file_id, file_id)).write_bytes(contents[left])
    before = store.received
    user.done("download", file_id, "--by-id", "--to", tmp_path)
    assert (tmp_path / file_id).read_bytes() == data
    if left == "all":
        assert store.received - before < PART


def test_failed_download_says_why(user, stored, tmp_path):
    file_id, _ = stored
    refused = user.run("download", "no-such-file", "--to", tmp_path)
    assert refused.returncode == REFUSED and "no-such-file" in refused.stderr
    assert user.run("download", "../escape", "--to", tmp_path).returncode == REFUSED
    (tmp_path / "file").write_text("")
    refused = user.run("download", file_id, "--by-id", "--to", tmp_path / "file")
    assert refused.returncode == REFUSED and str(tmp_path / "file") in refused.stderr
    assert user.run("download").returncode == USAGE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_stranger_has_to_sign_in(binary, network, tmp_path):
    stranger = SignedIn(binary, network.gateway, tmp_path)
    assert stranger.run("logout").returncode == OK
    for command in (["ls"], ["download", "x"]):
        refused = stranger.run(*command)
        assert refused.returncode == REFUSED and "run data-gateway login" in refused.stderr
