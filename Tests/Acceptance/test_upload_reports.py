"""What `upload` says about failures, retries and names."""

import os
import signal

import pytest
from support.client import Stage, end
from support.commands import OK, REFUSED
from support.parties import unique
from support.terminal import Terminal
from support.uploads import content, fresh_seeds

PART = 256 * 1024
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}


@pytest.fixture
def folder(tmp_path):
    (folder := tmp_path / "bags").mkdir()
    return folder


def fill(folder, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(content(100, next(fresh_seeds)))


#: A tag of more bytes than the gateway accepts is made of the name of such a file.
BAD = ("--tag-template", "x={stem}" + "{stem}" * 30)


def test_failures_are_repeated_at_the_end(device, folder):
    fill(folder, "a.txt", "z.txt", *(f"{'n' * 150}{number:02}.txt" for number in range(23)))
    for name in (b"caf\xe9.txt", b"\xff.txt"):
        with open(os.fsencode(folder) + b"/" + name, "wb") as file:
            file.write(b"x")
    result = device.run("upload", folder, *BAD)
    assert result.returncode == REFUSED
    # Each file whose name is not UTF-8 counts.
    assert result.stdout.splitlines()[-1].startswith("2 files uploaded: ")
    assert result.stdout.endswith(", 25 failed\n")
    _, end = result.stderr.split("25 files failed:\n")
    *named, more = end.splitlines()
    assert len(named) == 20 and more == "  and 4 more"
    assert r"\xFF.txt, caf\xE9.txt" in named[0]
    assert all(f"/{'n' * 150}" in line and "must" in line for line in named[1:])


def test_quiet_upload_says_errors_only(device, folder):
    fill(folder, "a.txt")
    result = device.run("upload", folder, "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (OK, "", "")
    fill(folder, "b.txt", "n" * 150)
    result = device.run("upload", folder, "--quiet", *BAD)
    assert (result.returncode, result.stdout) == (REFUSED, "")
    (line,) = result.stderr.splitlines()
    assert f"{folder}/{'n' * 150}" in line


def test_retries_name_the_file_and_the_step(device, network, folder):
    (large := folder / "large.mcap").write_bytes(content(2 * PART + 1, next(fresh_seeds)))
    network.store.cut_at(network.store.sent + PART // 2)
    events = [event for event in device.events_of("upload", large) if event["event"] == "waiting"]
    assert [(event["file"], event["operation"]) for event in events] == [(str(large), "part 1")]
    other = folder / "other.mcap"
    other.write_bytes(content(2 * PART + 1, next(fresh_seeds)))
    network.store.cut_at(network.store.sent + PART // 2)
    result = device.run("upload", other)
    assert f"data-gateway: {other}: part 1: the object store is not available: " in result.stderr


def test_call_that_is_retried_is_named_with_its_file(device, network, folder):
    fill(folder, "a.txt")
    (path,) = folder.iterdir()
    network.store.on_reply("PUT ", lambda: cut_next(network.rpc))
    events = device.events_of("upload", path)
    waits = [event for event in events if event["event"] == "waiting"]
    assert {(event["file"], event["operation"]) for event in waits} == {(str(path), "CompleteUpload")}
    assert all("HTTP/2 error" not in event["reason"] for event in waits)
    assert events[-1]["event"] == "completed"


def cut_next(proxy) -> None:
    """Cuts the connection on which the next byte arrives."""
    proxy.on_received(proxy.received + 1, proxy.cut)


def test_upload_that_ended_before_its_first_part_has_lost_nothing(device, network, folder):
    (large := folder / "large.mcap").write_bytes(content(3 * PART + 1, next(fresh_seeds)))
    stage = Stage()
    network.store.before("partNumber=1&", stage)
    client = device.start("upload", large)
    stage.wait()
    end(client, signal.SIGINT)
    # What was sent of the part does not arrive.
    network.store.cut()
    stage.let_go()
    assert device.events()[-1] == "initiated"
    result = device.run("upload", large)
    assert (result.returncode, result.stderr) == (OK, "")


def test_terminal_shows_one_line_for_the_retries_of_a_step(binary, device, network, folder):
    (large := folder / "large.mcap").write_bytes(content(PART + 1, next(fresh_seeds)))
    network.store.on_reply(r"POST .*\?uploads", network.store.cut, times=4)
    terminal = Terminal()
    process = device.start("upload", large, stdout=terminal.client_side, stderr=terminal.client_side)
    terminal.opened()
    assert process.wait(120) == OK
    terminal.closed()
    assert sum("InitiateMultipartUpload: " in line for line in terminal.left) == 1, terminal.left


def test_skipped_links_are_reported_once(device, folder):
    fill(folder, "a.txt")
    (folder / "run").mkdir()
    links = [folder / f"{number}.txt" for number in range(5)] + [folder / "latest", folder / "run" / "b.txt"]
    for link in links:
        link.symlink_to("run" if link.name == "latest" else folder / "a.txt")
    note = f"data-gateway: 7 symbolic links are left out: {', '.join(map(str, links[:5]))} and 2 more\n"
    for options in (["--dry-run"], []):
        result = device.run("upload", folder, *options)
        assert (result.returncode, result.stderr) == (OK, note)
    (event,) = [event for event in device.events_of("upload", folder) if event["event"] == "links"]
    assert (event["count"], event["files"]) == (7, [str(link) for link in links])
    # Any file may be in a directory. A link that is named itself is followed.
    result = device.run("upload", folder, "--include", "b.txt")
    assert result.stderr == f"data-gateway: 2 symbolic links are left out: {links[-2]}, {links[-1]}\n"
    result = device.run("upload", folder, "--include", "b.txt", "--exclude", "latest")
    assert result.stderr == f"data-gateway: 1 symbolic link is left out: {links[-1]}\n"
    assert f"uploaded {links[-1]}" in device.done("upload", links[-1])


def test_changed_names_are_reported(device, user, folder):
    run = unique("run")
    names = ["back\\slash.txt", ".hidden", "trailing.", "trailing ", "plain.txt"]
    fill(folder, *names)
    output = device.done("upload", folder, "--tag", f"run={run}").splitlines()
    assert f'{folder}/back\\slash.txt is stored as "slash.txt"; its path stays "back\\slash.txt"' in output
    assert f'{folder}/.hidden is stored as "_hidden"; its path stays ".hidden"' in output
    assert sum('is stored as "trailing"' in line for line in output) == 2
    assert not any("plain.txt is stored as" in line for line in output)
    stored = sorted(each["name"] for each in user.objects(f"raw_tags.run={run}"))
    assert stored == ["_hidden", "plain.txt", "slash.txt", "trailing", "trailing"]
    (folder / ".hidden").write_bytes(b"changed")
    events = device.events_of("upload", folder / ".hidden", "--tag", f"run={run}")
    assert events[-1]["stored_name"] == "_hidden"
    (folder / ".hidden").write_bytes(b"changed again")
    (planned,) = device.events_of("upload", folder / ".hidden", "--dry-run")
    assert planned["stored_name"] == "_hidden"


def test_folder_that_is_not_kept_is_reported(device, user, folder):
    run = unique("run")
    deep = folder.joinpath(*["d"] * 33)
    deep.mkdir(parents=True)
    fill(deep, "a.txt")
    output = device.done("upload", folder, "--tag", f"run={run}")
    assert "a.txt is stored without its path, which has more than 1024 bytes or 32 names" in output
    (found,) = user.objects(f"raw_tags.run={run}")
    assert (found["name"], found["relative_path"]) == ("a.txt", "")
