"""`data-gateway init` and `upload`: the device's side, against a real gateway with an unreliable network."""

import json
import os
import signal
import stat

import pytest
from support.client import Device, SignedIn, Stage, end
from support.commands import OK, REFUSED, UNREACHABLE, USAGE
from support.gateway import eventually
from support.parties import Uploader, init_device
from support.uploads import FILE_NAME_TAG, content, fresh_seeds

PART = 256 * 1024
#: Three parts and a shorter one.
SIZE = 3 * PART + 1234
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}


def arrived(user: SignedIn, run: str, tmp_path, count: int = 1) -> list[bytes]:
    """Returns the contents of the objects with the run's tag; there must be `count` of them."""
    ids = [found["file_id"] for found in user.objects(f"raw_tags.run={run}")]
    assert len(ids) == count
    user.done("download", *ids, "--by-id", "--to", tmp_path / "arrived")
    return [(tmp_path / "arrived" / id).read_bytes() for id in ids]


def file_with(tmp_path, size: int, name: str = "drive.mcap"):
    path = tmp_path / name
    path.write_bytes(content(size, next(fresh_seeds)))
    return path


# init


def test_init_writes_what_the_sdks_write(initialized, network):
    assert initialized.config.keys() == {"api_key", "tags"}
    assert initialized.config["tags"] == {"model": "mk2"}
    endpoints = json.loads((initialized.folder / "archebase-endpoints.json").read_text())
    assert endpoints.keys() == {"auth", "gateway", "deviceInit"}
    assert all(set(endpoint) == {"scheme", "host", "port"} for endpoint in endpoints.values())
    host, port = network.rpc.address.split(":")
    assert endpoints["gateway"] == {"scheme": "http", "host": host, "port": int(port)}
    for file in initialized.folder.glob("*.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_device_that_lost_its_key_replaces_it(binary, network, network_fleet, tmp_path):
    device_id = network_fleet.register().device_id
    # The response to the first InitDevice was lost.
    init_device(network.gateway, network_fleet.user.stubs, device_id)
    device = Device(binary, network, tmp_path / "device")
    refused = device.init(device_id)
    assert refused.returncode == REFUSED
    assert "--reinit" in refused.stderr and "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED" in refused.stderr
    assert device.init(device_id, "--reinit").returncode == OK
    first = device.config["api_key"]
    assert "already has a key" in device.refused(REFUSED, "init", device_id)
    assert device.init(device_id, "--reinit").returncode == OK
    assert device.config["api_key"] != first
    device.done("upload", file_with(tmp_path, 100))


def test_init_names_a_malformed_id_before_an_existing_key(device):
    assert "must be YYMMDD-NNNNNN, not 'foo'" in device.refused(USAGE, "init", "foo")


def test_retries_end_in_the_given_time(device, tmp_path):
    endpoints = json.loads((device.folder / "archebase-endpoints.json").read_text())
    endpoints["auth"]["port"] = 1
    (device.folder / "archebase-endpoints.json").write_text(json.dumps(endpoints))
    client = device.start("upload", file_with(tmp_path, 10), "--retry-for", "1", "--json")
    output, _ = client.communicate(timeout=120)
    assert client.returncode == UNREACHABLE
    waits = [json.loads(line)["milliseconds"] for line in output.splitlines() if '"waiting"' in line]
    assert 1 <= len(waits) <= 2 and sum(waits) <= 1000


def test_init_of_an_unknown_device_is_refused(binary, network, tmp_path):
    device = Device(binary, network, tmp_path / "device")
    for device_id, code in (("nonsense", "DEVICE_ID_INVALID"), ("991231-999999", "DEVICE_NOT_FOUND")):
        refused = device.init(device_id)
        assert refused.returncode == REFUSED and code in refused.stderr
    assert not (device.folder / "archebase-config.json").exists()


def test_a_folder_that_cannot_be_written_takes_no_key(binary, network, network_fleet, tmp_path):
    device_id = network_fleet.register().device_id
    (tmp_path / "device").write_text("a file")
    refused = Device(binary, network, tmp_path / "device").init(device_id)
    assert refused.returncode == REFUSED and "Not a directory" in refused.stderr
    assert init_device(network.gateway, network_fleet.user.stubs, device_id).api_key


# upload


@pytest.mark.parametrize("size", [0, 1, PART, PART + 1, SIZE])
def test_uploads_files_of_any_size(device, user, run, tmp_path, size):
    path = file_with(tmp_path, size)
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert [event["event"] for event in events][0] == "begun"
    done = events[-1]
    assert done["event"] == "completed"
    parts = 0 if size <= PART else -(-size // PART)
    assert (done["size_bytes"], done["part_count"]) == (size, parts)
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert device.journals == []


def test_several_files_with_tags_are_uploaded_in_parallel(device, user, run, tmp_path, network_fleet):
    files = [file_with(tmp_path, SIZE + index, f"{index}.mcap") for index in range(3)]
    output = device.done("upload", *files, "--tag", f"run={run}", "--tag", "weather=rain", "--parallel", "3")
    assert len(output.splitlines()) == 4 and output.splitlines()[-1].startswith("3 files uploaded: ")
    assert sorted(arrived(user, run, tmp_path, 3)) == sorted(file.read_bytes() for file in files)
    filters = [f"raw_tags.{FILE_NAME_TAG}=1.mcap", "raw_tags.weather=rain", "raw_tags.model=mk2"]
    assert all(user.objects(f"raw_tags.run={run} {filter}") for filter in filters)
    assert len(user.objects(f"raw_tags.run={run} {filters[0]}")) == 1


def test_the_command_line_is_checked(device, tmp_path):
    path = file_with(tmp_path, 10)
    for arguments in (
        [],
        [path, "--parallel", "0"],
        [path, "--resume", "--restart"],
        [path, "--tag", "a=1", "--tag", "a=2"],
        [path, "--retry-for", "-1"],
        [path, ""],
        ["-", "--name", ""],
    ):
        device.refused(USAGE, "upload", *arguments)
    assert "FILE must not be empty" in device.refused(USAGE, "upload", "")
    assert device.journals == []


def test_missing_file_is_refused_and_the_others_are_uploaded(device, user, run, tmp_path):
    path = file_with(tmp_path, 10)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The name is not UTF-8.
    (strange := tmp_path / os.fsdecode(b"\xff.bin")).write_bytes(b"x")
    files = (tmp_path / "nothing", pipe, strange, path)
    for options in (["--dry-run"], []):
        message = device.refused(REFUSED, "upload", *files, "--tag", f"run={run}", *options)
        assert "No such file" in message and "is not a regular file" in message
        assert f"cannot read {tmp_path}/\N{REPLACEMENT CHARACTER}.bin: its name is not UTF-8" in message
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert device.journals == []


def test_device_without_a_key_is_refused_with_the_reason(binary, network, tmp_path):
    device = Device(binary, network, tmp_path / "nowhere")
    assert "data-gateway init" in device.refused(REFUSED, "upload", file_with(tmp_path, 10))


def test_wrong_key_is_refused_with_the_reason(device, tmp_path):
    wrong = device.config | {"api_key": "nonsense"}
    (device.folder / "archebase-config.json").write_text(json.dumps(wrong))
    message = device.refused(REFUSED, "upload", file_with(tmp_path, 10))
    assert "AUTH_INVALID_CREDENTIAL" in message and "--reinit" in message


def test_folder_that_cannot_hold_journals_is_named(device, tmp_path):
    (device.folder / "uploads").write_text("a file")
    message = device.refused(REFUSED, "upload", file_with(tmp_path, 10))
    assert f"cannot list {device.folder}/uploads" in message and "Not a directory" in message


@pytest.mark.parametrize("damage", ["{", '{"api_key": 1, "tags": {}}', '{"tags": {}}'])
def test_a_damaged_configuration_names_its_file(device, tmp_path, damage):
    (device.folder / "archebase-config.json").write_text(damage)
    assert "archebase-config.json" in device.refused(REFUSED, "upload", file_with(tmp_path, 10))


def test_unreachable_gateway_is_exit_code_3(device, tmp_path):
    endpoints = json.loads((device.folder / "archebase-endpoints.json").read_text())
    endpoints["auth"]["port"] = 1
    (device.folder / "archebase-endpoints.json").write_text(json.dumps(endpoints))
    client = device.start("upload", file_with(tmp_path, 10), "--retry-for", "0")
    output, errors = client.communicate(timeout=120)
    assert client.returncode == UNREACHABLE, (output, errors)
    assert "try again later" in errors


# Interruptions

#: The points at which the client is killed: the proxy, the request's line, and whether before, during, or at its
#: response.
STAGES = {
    "create-not-answered": ("rpc", None, None),
    "initiate-not-sent": ("store", r"POST .*\?uploads", 0),
    "initiate-not-answered": ("store", r"POST .*\?uploads", None),
    "first-part-not-sent": ("store", "partNumber=1&", 0),
    "within-the-first-part": ("store", "partNumber=1&", PART // 2),
    "first-part-not-answered": ("store", "partNumber=1&", None),
    "within-the-third-part": ("store", "partNumber=3&", PART // 3),
    "last-part-not-answered": ("store", "partNumber=4&", None),
    "join-not-sent": ("store", r"POST .*\?uploadId", 0),
    "join-not-answered": ("store", r"POST .*\?uploadId", None),
}


def stop_at(network, name: str, device, path) -> Stage:
    stage = Stage()
    proxy, line, after = STAGES[name]
    if line is None:
        # The response after FindStoredFiles' is CreateLogicalUpload's: a dry run shows how long the first one is.
        before = network.rpc.received
        device.done("upload", path, "--dry-run")
        stage.is_held = None
        network.rpc.on_received(2 * network.rpc.received - before + 1, lambda: holding(network, stage, "down"))
        stage.wait = lambda: eventually(lambda: stage.is_held is not None and stage.is_held.is_set())
    elif after is None:
        network.store.on_reply(line, stage)
    else:
        network.store.before(line, stage, after)
    return stage


def holding(network, stage, direction: str) -> None:
    stage.is_held = network.rpc.hold(direction)


@pytest.mark.parametrize("name", STAGES)
def test_upload_resumes_after_a_kill_at_every_stage(device, network, user, run, tmp_path, name):
    path = file_with(tmp_path, SIZE)
    before = network.store.bodies
    stage = stop_at(network, name, device, path)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert device.journals == []
    assert network.store.bodies - before - SIZE < PART


@pytest.mark.parametrize("direction", ["up", "down"])
def test_upload_resumes_after_a_kill_while_completing(device, network, user, run, tmp_path, direction):
    """CompleteUpload did not arrive, or its response was lost."""
    path = file_with(tmp_path, SIZE)
    before = network.store.bodies
    stage = Stage()

    def hold():
        held = network.rpc.hold(direction)
        stage.wait = lambda: eventually(held.is_set)

    network.store.on_reply(r"POST .*\?uploadId", hold)
    client = device.start("upload", path, "--tag", f"run={run}")
    eventually(lambda: "wait" in vars(stage))
    stage.kill(client, network)
    assert device.events()[-1] == "stored"
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before - SIZE < PART


def test_upload_resumes_after_repeated_kills(device, network, user, run, tmp_path):
    size = 12 * PART
    path = file_with(tmp_path, size)
    before = network.store.bodies
    kills = 0
    for part in (2, 5, 5, 9, 12):
        stage = Stage()
        network.store.before(f"partNumber={part}&", stage, PART // 2)
        stage.kill(device.start("upload", path, "--resume", "--tag", f"run={run}"), network)
        kills += 1
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before - size < kills * PART


def test_a_small_file_whose_put_was_not_answered_is_not_put_again(device, network, user, run, tmp_path):
    path = file_with(tmp_path, PART)
    before = network.store.bodies
    stage = Stage()
    network.store.on_reply("PUT ", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before == PART


def test_upload_survives_a_network_that_breaks(device, network, user, run, tmp_path):
    size = 8 * PART
    path = file_with(tmp_path, size)
    before = network.store.bodies
    cuts = [network.store.sent + int(PART * share) for share in (0.5, 2.2, 4.9, 7.7)]
    network.store.cut_at(*cuts)
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert sum(event["event"] == "waiting" for event in events) >= len(cuts)
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before - size < len(cuts) * PART


def test_interrupted_upload_is_acknowledged_and_continued(device, network, user, run, tmp_path):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=2&", stage, PART // 2)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    _, errors = end(client, signal.SIGINT)
    assert client.returncode == REFUSED
    assert "the same command continues the upload" in errors
    stage.let_go()
    assert device.events()[-1] == "acknowledged"
    assert f"continuing {path}: " in device.done("upload", path, "--tag", f"run={run}")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_restart_aborts_the_earlier_upload(device, network, user, run, tmp_path, network_fleet):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=2&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    path.write_bytes(content(SIZE + 7, next(fresh_seeds)))
    device.done("upload", path, "--restart", "--tag", f"run={run}")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_two_at_once_do_not_upload_the_same_file(device, network, user, run, tmp_path):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=2&", stage)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    output = f"data-gateway: {path}: another process is uploading it\n"
    assert device.refused(REFUSED, "upload", path, "--resume") == output
    stage.let_go()
    client.communicate(timeout=60)
    assert client.returncode == OK
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_terminal_shows_the_progress(device, network, tmp_path):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    terminal, client_side = os.openpty()
    client = device.start("upload", path, stderr=client_side)
    os.close(client_side)
    stage.wait()
    seen = b""
    # Until the third part is given up, which makes no progress.
    while b"trying again: drive.mcap  [#######.....]   66%  512 KiB/769 KiB" not in seen:
        seen += os.read(terminal, 4096)
    stage.let_go()
    output, _ = client.communicate(timeout=60)
    os.close(terminal)
    assert client.returncode == OK
    assert output.startswith(f"uploaded {path}: 769 KiB in 0:")


# A changing file


@pytest.mark.parametrize("change", ["grows", "is-rewritten"])
def test_a_file_that_changes_while_it_is_uploaded_is_refused(device, network, user, run, tmp_path, change):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=2&", stage, PART // 2)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    with open(path, "r+b") as file:
        if change == "grows":
            file.seek(0, os.SEEK_END)
        file.write(b"more")
    stage.let_go()
    _, errors = client.communicate(timeout=60)
    assert client.returncode == REFUSED
    assert "upload it again" in errors
    assert device.journals == []
    assert user.objects(f"raw_tags.run={run}") == []


def test_a_file_that_changed_since_is_not_resumed(device, network, user, run, tmp_path):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    path.write_bytes(content(SIZE, next(fresh_seeds)))
    assert "upload it again" in device.refused(REFUSED, "upload", "--resume")
    assert user.objects(f"raw_tags.run={run}") == []
    device.done("upload", path, "--tag", f"run={run}")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_a_file_that_was_deleted_after_its_last_part_is_completed(device, network, user, run, tmp_path):
    path = file_with(tmp_path, SIZE)
    data = path.read_bytes()
    stage = Stage()
    network.store.on_reply(r"POST .*\?uploadId", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    path.unlink()
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [data]


def test_upload_of_a_removed_file_is_given_up_once(device, network, user, run, tmp_path):
    (tmp_path / "bags").mkdir()
    paths = [file_with(tmp_path / "bags", SIZE), file_with(tmp_path, SIZE, "other.mcap")]
    for path, part in zip(paths, (3, 2), strict=True):
        stage = Stage()
        network.store.before(f"partNumber={part}&", stage)
        stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    data = paths[1].read_bytes()
    # With its directory, which is no disk that was not mounted.
    paths[0].unlink()
    paths[0].parent.rmdir()
    planned = device.refused(REFUSED, "upload", "--resume", "--dry-run")
    assert f"{paths[0]} was removed: its upload would be aborted" in planned
    output = device.refused(REFUSED, "upload", "--resume")
    assert f"{paths[0]} was removed before it was uploaded, and its upload was aborted" in output
    assert arrived(user, run, tmp_path) == [data]
    assert device.journals == []
    assert device.done("upload", "--resume") == "there are no unfinished uploads\n"


def test_upload_that_was_aborted_elsewhere_is_explained(device, network, network_fleet, run, tmp_path):
    path = file_with(tmp_path, SIZE)
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    (journal,) = device.journals
    logical = json.loads(journal.read_text().splitlines()[1])["created"]["logical"]
    uploader = Uploader(network.gateway, network_fleet.user.stubs, device.config["api_key"]).sign_in()
    uploader.abort(logical, "wrong robot")
    assert "wrong robot" in device.refused(REFUSED, "upload", "--resume")
    assert device.journals == []
