"""`upload` of files that the gateway has, had, or has in part: what is sent, and what the command says."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from support.client import Stage
from support.commands import OK, REFUSED
from support.uploads import content, fresh_seeds

PART = 256 * 1024
SIZE = 3 * PART + 1
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}


@pytest.fixture
def bags(tmp_path):
    """Returns a folder with three files in two folders."""
    for name in ("1/drive.mcap", "1/metadata.yaml", "2/drive.mcap"):
        (path := tmp_path / "bags" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(1000, next(fresh_seeds)))
    return tmp_path / "bags"


def reasons(events: list[dict]) -> list[str]:
    return [event["reason"] for event in events if event["event"] == "skipped"]


def paths(user, run: str) -> list[str]:
    return sorted(each["relative_path"] for each in user.objects(f"raw_tags.run={run}"))


def test_second_upload_of_a_folder_sends_nothing(device, network, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    sent = network.store.sent
    output = device.done("upload", bags, "--tag", f"run={run}")
    assert output == "no files uploaded, 3 already stored\n"
    assert network.store.sent == sent and len(paths(user, run)) == 3
    # A file that was added, and one that was written to.
    (bags / "2" / "notes.txt").write_bytes(content(10, next(fresh_seeds)))
    (bags / "1" / "drive.mcap").write_bytes(content(1000, next(fresh_seeds)))
    output = device.done("upload", bags, "--tag", f"run={run}", "--skip-existing")
    assert output.splitlines()[-1].startswith("2 files uploaded: ") and output.endswith(", 2 already stored\n")
    assert paths(user, run) == ["1/drive.mcap", "1/drive.mcap", "1/metadata.yaml", "2/drive.mcap", "2/notes.txt"]


def test_device_without_its_record_asks_the_gateway(device, network, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    record = device.folder / "delivered.jsonl"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    record.unlink()
    sent = network.store.sent
    assert reasons(device.events_of("upload", bags, "--tag", f"run={run}")) == ["stored"] * 3
    assert network.store.sent == sent
    # The record is the same again: the files are not read the next time.
    known = {line["path"]: (line["crc64"], line["file_id"]) for line in lines}
    again = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["path"]: (line["crc64"], line["file_id"]) for line in again} == known


def test_deleted_file_is_sent_again_only_on_demand(device, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    user.done("rm", "--filter", f"run={run} path:1/*", "--yes")
    output = device.done("upload", bags, "--tag", f"run={run}")
    assert output == "no files uploaded, 1 already stored, 2 deleted at the gateway (--again uploads them again)\n"
    path = bags / "1" / "drive.mcap"
    assert "it was deleted at the gateway; --again uploads it again" in device.done("upload", path)
    planned = device.events_of("upload", bags, "--dry-run", "--again", "--tag", f"run={run}")
    assert [each["event"] for each in planned] == ["planned", "planned", "skipped"]
    events = device.events_of("upload", bags, "--again", "--tag", f"run={run}")
    assert reasons(events) == ["stored"] and events[-1]["uploaded_files"] == 2
    assert reasons(device.events_of("upload", bags, "--again", "--tag", f"run={run}")) == ["stored"] * 3


def test_purged_file_counts_as_deleted(device, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    user.done("rm", "--filter", f"run={run}", "--yes")
    user.done("trash", "purge", "--filter", f"run={run}", "--yes")
    assert reasons(device.events_of("upload", bags)) == ["deleted"] * 3
    (device.folder / "delivered.jsonl").unlink()
    assert reasons(device.events_of("upload", bags)) == ["deleted"] * 3


def test_equal_bytes_at_another_path_are_another_file(device, user, run, bags):
    device.done("upload", bags / "1", "--tag", f"run={run}")
    shutil.copy(bags / "1" / "metadata.yaml", bags / "1" / "copy.yaml")
    shutil.copy(bags / "1" / "metadata.yaml", bags / "2" / "metadata.yaml")
    assert "1 file uploaded" in device.done("upload", bags / "1", "--tag", f"run={run}")
    # The second folder is to be whole at the gateway, too.
    assert "2 files uploaded" in device.done("upload", bags / "2", "--tag", f"run={run}")
    assert paths(user, run) == ["copy.yaml", "drive.mcap", "drive.mcap", "metadata.yaml", "metadata.yaml"]
    for folder in ("1", "2"):
        assert "no files uploaded" in device.done("upload", bags / folder, "--tag", f"run={run}")


def test_moved_folder_is_not_sent_again(device, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    moved = bags.rename(bags.parent / "moved")
    assert reasons(device.events_of("upload", moved)) == ["stored"] * 3
    # The same files, by their own paths.
    assert reasons(device.events_of("upload", moved / "1" / "drive.mcap", moved / "2")) == ["stored"] * 2


def test_file_is_named_when_it_is_skipped(device, run, bags):
    path = bags / "1" / "drive.mcap"
    (_, *_, done) = device.events_of("upload", path)
    assert device.done("upload", path) == f"skipped {path}: the gateway has it as file {done['file_id']}\n"


def test_gateway_without_the_call_leaves_the_record_of_the_device(device, network, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    # A server that knows no call at all.
    server = grpc.server(ThreadPoolExecutor(1))
    network.rpc.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        os.utime(bags / "1" / "metadata.yaml")
        assert reasons(device.events_of("upload", bags / "2", bags / "1" / "drive.mcap")) == ["stored"] * 2
        refused = device.refused(REFUSED, "upload", bags, "--retry-for", "0")
        assert "metadata.yaml" in refused and "UNIMPLEMENTED" in refused
    finally:
        server.stop(None)


def test_same_command_continues_after_an_interruption(device, network, user, run, tmp_path, bags):
    (bags / "large.mcap").write_bytes(content(SIZE, next(fresh_seeds)))
    command = ("upload", bags, "--tag", f"run={run}")
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start(*command, "--files", "1"), network)
    planned = device.events_of(*command, "--dry-run")
    assert [each["file"] for each in planned if each.get("is_continued")] == [str(bags / "large.mcap")]
    before = network.store.bodies
    device.done(*command)
    assert network.store.bodies - before < SIZE
    assert paths(user, run) == ["1/drive.mcap", "1/metadata.yaml", "2/drive.mcap", "large.mcap"]
    assert device.journals == []


def test_file_that_changed_after_an_interruption_starts_over(device, network, user, run, tmp_path, bags):
    (large := bags / "large.mcap").write_bytes(content(SIZE, next(fresh_seeds)))
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", bags, "--tag", f"run={run}"), network)
    large.write_bytes(content(SIZE, next(fresh_seeds)))
    result = device.run("upload", bags, "--tag", f"run={run}")
    assert result.returncode == OK, result.stderr
    assert f"{large} changed after its upload began" in result.stderr
    user.done("download", f"run={run} path:large.mcap", "--to", tmp_path / "down")
    assert (tmp_path / "down" / "large.mcap").read_bytes() == large.read_bytes()
    assert len(paths(user, run)) == 4


def test_continued_upload_says_that_it_keeps_its_tags(device, network, user, run, tmp_path):
    (path := tmp_path / "drive.mcap").write_bytes(content(SIZE, next(fresh_seeds)))
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    result = device.run("upload", path, "--tag", "run=another")
    assert (result.returncode, len(user.objects(f"raw_tags.run={run}"))) == (OK, 1)
    assert f"{path} keeps the tags with which its upload began (run={run})" in result.stderr


def test_file_in_upload_by_another_process_is_left_to_it(device, network, run, bags):
    (large := bags / "large.mcap").write_bytes(content(SIZE, next(fresh_seeds)))
    stage = Stage()
    network.store.before("partNumber=2&", stage)
    first = device.start("upload", large, "--tag", f"run={run}")
    stage.wait()
    events = device.events_of("upload", bags, "--tag", f"run={run}")
    assert reasons(events) == ["busy"] and events[-1]["uploaded_files"] == 3
    stage.let_go()
    first.communicate(timeout=60)
    assert first.returncode == OK


def test_stored_files_are_deleted_after_their_bytes_were_compared(device, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    user.done("rm", "--filter", f"run={run} path:2/*", "--yes")
    device.done("upload", bags, "--tag", f"run={run}", "--delete-after")
    # What is no longer at the gateway stays.
    assert [path for path in bags.rglob("*") if path.is_file()] == [bags / "2" / "drive.mcap"]


def test_dry_run_counts_and_deletes_like_the_upload(device, user, run, bags):
    device.done("upload", bags, "--tag", f"run={run}")
    user.done("rm", "--filter", f"run={run} path:2/*", "--yes")
    command = ("upload", bags, "--delete-after")
    counts = ", 2 already stored, 1 deleted at the gateway (--again uploads it again)"
    output = device.done(*command, "--dry-run").splitlines()
    assert output[-1] == f"no files to upload{counts}"
    deleted = [path for path in bags.rglob("*") if path.is_file() and path.parent.name != "2"]
    assert sorted(line for line in output if "delete " in line) == sorted(
        f"would delete {path} after the gateway verified it" for path in deleted
    )
    planned = device.events_of(*command, "--dry-run", "--again")
    assert [each["event"] for each in planned].count("deletion_planned") == 3
    assert all(path.exists() for path in deleted)
    assert device.done(*command).splitlines()[-1] == f"no files uploaded{counts}"


def test_dry_run_says_what_the_upload_then_does(device, user, run, bags):
    device.done("upload", bags / "1", "--tag", f"run={run}")
    command = ("upload", bags, bags / "1", "--tag", f"run={run}")
    output = device.done(*command, "--dry-run")
    assert f"would skip {bags}/1/drive.mcap: the gateway has it as file " in output
    assert f"would upload {bags}/2/drive.mcap: 1000 B, run={run}" in output
    assert output.splitlines()[-1] == "1 file, 1000 B, 2 already stored"
    events = device.events_of(*command)
    assert (len(reasons(events)), events[-1]["uploaded_files"]) == (2, 1)
