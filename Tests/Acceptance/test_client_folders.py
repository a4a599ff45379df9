"""Tests of `upload` with directories, patterns and standard input, and of `download` by name and by filter."""

import json
import os
import signal
import subprocess
import time

import pytest
from support.client import SignedIn, end
from support.commands import OK, REFUSED, USAGE
from support.gateway import eventually
from support.parties import unique
from support.terminal import Terminal
from support.uploads import content, fresh_seeds

PART = 256 * 1024
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}


@pytest.fixture
def tree(tmp_path):
    """Returns a directory with two runs, each with a recording and a log."""
    root = tmp_path / "tree"
    for number in (1, 2):
        (folder := root / "plant" / f"run{number}").mkdir(parents=True)
        (folder / "drive.mcap").write_bytes(content(2 * PART + number, next(fresh_seeds)))
        (folder / "notes.log").write_bytes(content(100 + number, next(fresh_seeds)))
    return root


def names(user: SignedIn, run: str) -> list[str]:
    return sorted(each["name"] for each in user.objects(f"raw_tags.run={run}"))


def test_directory_is_uploaded_with_tags_of_its_paths(device, user, run, tree):
    output = device.done(
        *("upload", tree, "--include", "*.mcap", "--tag", f"run={run}"),
        *("--tag-template", "folder={dir-1}", "--tag-template", "missing={dir9}"),
    )
    found = user.objects(f"raw_tags.run={run}")
    assert sorted((each["name"], each["tags"]["folder"]) for each in found) == [
        ("drive.mcap", "run1"),
        ("drive.mcap", "run2"),
    ]
    assert all("missing" not in each["tags"] for each in found)
    assert output.splitlines()[-1].startswith("2 files uploaded: 1.00 MiB in ")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["tree/plant/*/notes.log"], ["notes.log", "notes.log"]),
        (["tree/plant/run1", "tree/plant/run1/notes.log"], ["drive.mcap", "notes.log"]),
        (["tree", "--exclude", "run1/*", "--exclude", "*.mcap"], ["notes.log", "notes.log"]),
        (["tree", "--exclude", "plant/run1/**", "--include", "*.log"], ["notes.log"]),
    ],
)
def test_upload_selects_files_by_its_arguments(device, user, run, tree, tmp_path, arguments, expected):
    paths = [tmp_path / each if each.startswith("tree") else each for each in arguments]
    device.done("upload", *paths, "--tag", f"run={run}")
    assert names(user, run) == expected


def test_pattern_without_files_is_refused(device, tree):
    assert "no file matches the pattern" in device.refused(REFUSED, "upload", f"{tree}/*.nothing")
    assert "unknown placeholder {what}" in device.refused(USAGE, "upload", tree, "--tag-template", "a={what}")


def test_dry_run_uploads_nothing(device, user, run, tree):
    events = device.events_of(
        "upload", tree, "--tag", f"run={run}", "--tag-template", "day={date}", "--dry-run", "--include", "*.log"
    )
    assert [event["event"] for event in events] == ["planned", "planned"]
    assert events[0]["tags"] == {"run": run, "day": time.strftime("%Y-%m-%d", time.gmtime())}
    assert user.objects(f"raw_tags.run={run}") == []


def test_files_are_deleted_once_they_arrived(device, user, run, tree, tmp_path):
    held = tree / "plant/run1/notes.log"
    with held.open("ab"):
        message = device.refused(REFUSED, "upload", tree, "--tag", f"run={run}", "--delete-after")
    assert "another process has it open for writing" in message
    assert [path for path in tree.rglob("*") if path.is_file()] == [held]
    assert len(names(user, run)) == 4


def test_nothing_is_deleted_that_was_refused(device, tree):
    (device.folder / "archebase-config.json").write_text(json.dumps(device.config | {"api_key": "nonsense"}))
    device.refused(REFUSED, "upload", tree, "--delete-after")
    assert len([path for path in tree.rglob("*") if path.is_file()]) == 4


def test_standard_input_is_uploaded_under_a_name(device, user, run, tmp_path):
    data = content(3 * PART + 5)
    command = [str(device.binary), "upload", "-", "--name", "piped.bin", "--tag", f"run={run}"]
    environment = {"PATH": os.environ["PATH"], "DATA_GATEWAY_DEVICE_DIR": str(device.folder)}
    done = subprocess.run(command, input=data, capture_output=True, env=environment, timeout=120)
    assert done.returncode == OK, done.stderr
    assert done.stdout.startswith(b"uploaded piped.bin: ")
    user.done("download", f"raw_tags.run={run}", "--to", tmp_path / "down")
    assert (tmp_path / "down/piped.bin").read_bytes() == data
    assert list((device.folder / "spool").iterdir()) == []
    assert "--name" in device.refused(USAGE, "upload", "-")
    assert "--delete-after" in device.refused(USAGE, "upload", "-", "--name", "piped.bin", "--delete-after")


def test_rate_is_limited_over_all_files(device, run, tree):
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    start = time.monotonic()
    device.done("upload", tree, "--tag", f"run={run}", "--limit-rate", "512KiB", "--files", "4", "--parallel", "2")
    # The limit permits a burst of a quarter of a second.
    assert time.monotonic() - start >= size / (512 * 1024) - 0.5


# download


@pytest.fixture(scope="module")
def stored(initialized, tmp_path_factory) -> tuple[str, str, bytes]:
    """Uploads three objects, two of which have the same name; returns the tag of their run, the name of one, and its bytes."""
    root, run, name = tmp_path_factory.mktemp("stored"), unique("run"), unique("name") + ".bin"
    for folder, file in (("a", name), ("b", "twin.log"), ("c", "twin.log")):
        (root / folder).mkdir()
        (root / folder / file).write_bytes(content(PART + 1, seed=ord(folder)))
    initialized.done("upload", root, "--tag", f"run={run}", "--tag-template", "folder={dir}")
    return run, name, (root / "a" / name).read_bytes()


def test_object_is_downloaded_by_its_name(user, stored, tmp_path):
    _, name, data = stored
    user.done("download", name, "--to", tmp_path)
    assert (tmp_path / name).read_bytes() == data
    assert "already downloaded" in user.done("download", name, "--to", tmp_path)


def test_filter_downloads_each_object_once_under_a_name_of_its_own(user, stored, tmp_path):
    run, name, _ = stored
    options = ["--to", tmp_path, "--name", "{name}"]
    for summary in ("3 files downloaded: ", "3 files already there"):
        output = user.done("download", f"raw_tags.run={run}", *options)
        assert output.splitlines()[-1].startswith(summary)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "twin (2).log", "twin.log"])


def test_names_are_made_of_a_template(user, stored, tmp_path):
    run, name, data = stored
    user.done("download", f"raw_tags.run={run}", "--to", tmp_path, "--name", "{tag:folder}/{stem}-x.{ext}")
    assert (tmp_path / "a" / name.replace(".bin", "-x.bin")).read_bytes() == data
    assert (tmp_path / "b/twin-x.log").exists() and (tmp_path / "c/twin-x.log").exists()
    refused = user.run("download", f"raw_tags.run={run}", "--to", tmp_path, "--name", "{tag:nothing}")
    assert refused.returncode == REFUSED and "has no {tag:nothing}" in refused.stderr


def test_filter_that_matches_nothing_is_refused(user, tmp_path):
    refused = user.run("download", unique("nothing"), "--to", tmp_path)
    assert refused.returncode == REFUSED and "no object matches the filter" in refused.stderr


# the terminal


def test_progress_follows_the_size_of_the_window(device, run, tree):
    terminal = Terminal(120)
    client = device.start("upload", tree, "--tag", f"run={run}", "--limit-rate", "32KiB", stderr=terminal.client_side)
    terminal.opened()
    terminal.wait_for("left")
    seen = len(terminal.drawn)
    assert any("[" in line for line in terminal.drawn[:seen])
    terminal.resize(40)
    # Lines may have been on their way when the window changed.
    widths = lambda: [len(line) for line in terminal.drawn[seen:] if "files" in line]
    narrow = lambda: next((widths()[at:] for at, width in enumerate(widths()) if width < 40), [])
    eventually(lambda: len(narrow()) > 3)
    assert max(narrow()) < 40
    end(client, signal.SIGINT)
    terminal.closed()


@pytest.mark.parametrize("columns", [30, 60, 200])
def test_progress_fits_the_window(device, run, tree, columns):
    terminal = Terminal(columns)
    client = device.start("upload", tree, "--tag", f"run={run}", "--limit-rate", "512KiB", stderr=terminal.client_side)
    terminal.opened()
    assert client.communicate(timeout=120) and client.returncode == OK
    bars = [line for line in terminal.closed().drawn if "files" in line]
    assert bars and all(len(line) < columns for line in bars), bars
    assert any("4 files" in line for line in bars)
