"""Tests of `object …`, contexts, and the forms of output, from a user's point of view."""

import csv
import io
import json
import signal
import subprocess
import time
import urllib.request

import pytest
from support import process
from support.client import SignedIn, end
from support.commands import OK, REFUSED, USAGE, CommandLine
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import Fleet, unique
from support.proxy import Proxy
from support.raw import fetch_url
from support.recordings import recording
from support.terminal import Terminal
from support.uploads import FILE_NAME_TAG, Upload, completed, content


@pytest.fixture
def stored(device, tmp_path) -> tuple[str, bytes]:
    """Uploads an object; returns its name, which is unique, and its bytes."""
    path = tmp_path / f"{unique('name')}.log"
    path.write_bytes(content(1000))
    device.done("upload", path, "--tag", "color=red")
    return path.name, path.read_bytes()


def test_walk_from_upload_to_restore(device, user, tmp_path):
    """The first steps of a new user, each with the output of the previous one."""
    run = unique("run")
    (folder := tmp_path / "recordings").mkdir()
    for name in ("first.log", "second.log"):
        (folder / f"{run}-{name}").write_bytes(name.encode())
    device.done("upload", folder, "--tag", f"run={run}")
    (line,) = user.done("object", "find", f"name:{run}-sec*").splitlines()[1:]
    name, file_id = line.split()[0], line.split()[-1]
    assert name == f"{run}-second.log"
    assert FILE_NAME_TAG not in line
    user.done("download", name, "--to", tmp_path / "down")
    assert (tmp_path / "down" / name).read_bytes() == b"second.log"
    url = user.done("object", "share", name).splitlines()[0]
    assert urllib.request.urlopen(url).read() == b"second.log"
    for command, removed in ((("object", "rm"), name), (("rm",), f"{run}-first.log")):
        assert "to the trash; it is deleted at" in user.done(*command, removed)
    assert "no object matches" in user.run("object", "show", name).stderr
    assert "no object has the name" in user.run("object", "rm", name).stderr
    assert file_id in user.done("trash", "list")
    user.done("object", "restore", name)
    assert f"run={run}" in user.done("object", "show", name)


def test_shared_link_works_as_long_as_asked(user, stored):
    name, data = stored
    (link,) = json.loads(user.done("object", "share", name, "--expires", "2h", "--json"))["links"]
    assert abs(link["expires_at_unix"] - time.time() - 7200) < 600
    assert urllib.request.urlopen(link["url"]).read() == data
    assert (
        "--expires is too long for the gateway: lifetime_seconds must be 0, or 1 to 604800"
        in user.run("object", "share", name, "--expires", "8d").stderr
    )
    assert user.run("object", "share", name, "--expires", "soon").returncode == USAGE


def test_upload_is_aborted_by_an_operator(network, login, user):
    uploader = Fleet.create(login(network.gateway)).uploader()
    upload = Upload.of(uploader, uploader.create(file_size="200001"))
    upload.send_parts(content(100_000), upload.store.initiate())
    (listed,) = [
        each
        for each in json.loads(user.done("uploads", "list", "--json"))["uploads"]
        if each["logical_upload_id"] == upload.logical_id
    ]
    assert listed["progress"] == 49
    assert upload.id in user.done("uploads", "list", "--output", "wide")
    done = user.done("uploads", "abort", upload.logical_id, "--reason", "a test")
    assert done == f"aborted {upload.logical_id}\n"
    assert upload.id not in user.done("uploads", "list", "--output", "wide")
    missing = user.run("uploads", "abort", "01a203bf-7b6e-7000-8a67-0c4b0a2e5f11")
    assert missing.returncode == REFUSED and "the upload does not exist" in missing.stderr


def test_object_is_written_to_standard_output(user, stored):
    name, data = stored
    done = subprocess.run([user.binary, "object", "cat", name], capture_output=True, env=user.environment)
    assert (done.returncode, done.stdout) == (OK, data), done.stderr


def test_object_that_several_match_is_refused(device, user, tmp_path):
    run = unique("run")
    for number in range(2):
        (tmp_path / f"{number}.log").write_bytes(b"x" * number)
    device.done("upload", tmp_path / "*.log", "--tag", f"run={run}")
    refused = user.run("object", "cat", f"raw_tags.run={run}")
    assert refused.returncode == REFUSED and "2 objects match" in refused.stderr


def test_usage_is_summed_by_group(device, user, tmp_path):
    run = unique("run")
    for number, size in enumerate((10, 20, 30)):
        (tmp_path / f"{number}.{'log' if number else 'json'}").write_bytes(b"x" * size)
    device.done("upload", tmp_path / "*.*", "--tag", f"run={run}")
    response = json.loads(user.done("object", "du", f"raw_tags.run={run}", "--by", "type", "--json"))
    assert (response["objects"], response["bytes"]) == (3, 60)
    assert sorted(group["size_bytes"] for group in response["groups"]) == [10, 50]
    assert "3 objects, 60 B" in user.done("object", "du", f"raw_tags.run={run}")


def test_lists_name_the_devices(binary, gateway, admin, uploader, tmp_path):
    run = unique("run")
    admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name="Picker 041")
    completed(uploader, recording(), {"run": run, FILE_NAME_TAG: "drive.mcap"})
    upload = uploader.create(file_name="late.mcap")
    user = CommandLine(binary, gateway, tmp_path).login()
    filter = f"raw_tags.run={run}"
    # The gateway reads the recording in the background.
    found = eventually(lambda: next((each for each in user.json("ls", filter)["objects"] if each["topics"]), None))
    name = {"device_id": uploader.device_id, "device_name": "Picker 041"}
    assert found["topics"] == ["/camera/front", "/imu"] and found.items() >= name.items()
    table = user.run("ls", filter).stdout.splitlines()
    assert table[0].split()[:3] == ["NAME", "SIZE", "DEVICE"] and "Picker 041" in table[1]
    assert uploader.device_id not in table[1]
    shown = user.json("object", "show", found["file_id"])
    assert shown.items() >= name.items() and shown["topics"] == found["topics"]
    assert f"Picker 041 ({uploader.device_id})" in user.run("object", "du", filter).stdout
    (listed,) = (
        each
        for each in user.json("uploads", "list")["uploads"]
        if each["logical_upload_id"] == upload.logical_upload_id
    )
    assert listed.items() >= name.items()
    user.run("rm", found["file_id"])
    (trashed,) = user.json("trash", "list", filter)["objects"]
    assert trashed.items() >= name.items()


@pytest.mark.parametrize("response, code", [("y", OK), ("n", REFUSED)])
def test_removal_by_filter_asks(user, stored, response, code):
    name, _ = stored
    terminal = Terminal()
    command = [user.binary, "rm", "--filter", f'name="{name}"']
    client = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command],
        stdin=terminal.client_side,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=user.environment,
    )
    terminal.type(f"{response}\n")
    client.communicate(timeout=60)
    terminal.opened()
    assert client.returncode == code
    assert "Delete 1 object, 1000 B? [y/N]" in terminal.closed().text
    # There is no terminal for the confirmation.
    assert "--yes" in user.run("rm", "--filter", f'name="{name}"').stderr


def test_list_is_printed_in_every_format(user, stored):
    name, _ = stored
    table = user.done("ls", name, "--columns", "name,size_bytes").splitlines()
    assert [line.split() for line in table] == [["NAME", "SIZE"], [name, "1000", "B"]]
    (row,) = csv.DictReader(io.StringIO(user.done("ls", name, "--output", "csv", "--columns", "name,size_bytes,tags")))
    assert (row["name"], row["size_bytes"], row["tags"]) == (name, "1000", "color=red, model=mk2")
    assert "CRC64 ECMA" in user.done("ls", name, "--output", "wide")
    assert json.loads(user.done("ls", name, "--output", "json"))["objects"][0]["name"] == name
    refused = user.run("ls", name, "--columns", "nothing")
    assert refused.returncode == USAGE and "unknown column nothing" in refused.stderr


def test_error_is_json_with_json(user):
    refused = user.run("site", "show", "999999", "--json")
    error = json.loads(refused.stderr)["error"]
    assert refused.stdout == ""
    assert (error["exit_code"], error["status"]) == (REFUSED, "NOT_FOUND")
    assert "999999" in error["message"]


def test_interrupted_backup_leaves_nothing(binary, network, stored, tmp_path):
    admin = Proxy()
    admin.target = network.gateway.listeners["admin"]
    try:
        user = SignedIn(binary, network.gateway, tmp_path)
        user.environment["DATA_GATEWAY_ADMIN"] = admin.address
        held = admin.hold("down")
        client = user.start("backup", "--to", tmp_path / "file.backup")
        eventually(lambda: (tmp_path / "file.backup.partial").exists() and held.is_set())
        _, errors = end(client, signal.SIGINT)
        assert client.returncode == REFUSED
        assert "the backup was interrupted" in errors
        assert list(tmp_path.glob("file.backup*")) == []
    finally:
        admin.close()


def test_one_address_leads_to_all_listeners(binary, network, stored, tmp_path):
    user = SignedIn(binary, network.gateway, tmp_path)
    for name in ("DATA_GATEWAY_ADMIN", "DATA_GATEWAY_AUTH", "DATA_GATEWAY_GATEWAY"):
        del user.environment[name]
    web = network.gateway.listeners["web"]
    arguments = ("login", "--user", "admin", "--password-stdin", "--host")
    done = user.run(*arguments, f"http://{web}", input=ADMIN_PASSWORD + "\n")
    assert done.returncode == OK, done.stderr
    user.done("site", "list")
    assert stored[0] in user.done("ls", stored[0])
    # Another sign-in keeps what the first one found.
    done = user.run(*arguments[:-1], "--auth-server", network.gateway.listeners["auth"], input=ADMIN_PASSWORD + "\n")
    assert done.returncode == OK, done.stderr
    user.done("site", "list")
    assert stored[0] in user.done("ls", stored[0])
    ops = network.gateway.listeners["ops"]
    assert "does not name the listeners" in user.run(*arguments, f"http://{ops}", input="x\n").stderr
    # Without a scheme it is cleartext on loopback.
    assert "AUTH_INVALID_CREDENTIAL" in user.run(*arguments, web, input="x\n").stderr


def test_contexts_keep_sessions_apart(binary, network, tmp_path):
    first = SignedIn(binary, network.gateway, tmp_path)
    del first.environment["DATA_GATEWAY_AUTH"]
    address = network.gateway.listeners["auth"]
    first.done("context", "add", "other", "--auth-server", address)
    assert "you are not signed in" in first.run("site", "list").stderr
    assert "you are not signed in" in first.run("whoami").stderr
    assert "exists already" in first.run("context", "add", "other", "--auth-server", address).stderr
    listed = json.loads(first.done("context", "list", "--json"))["contexts"]
    assert [(each["name"], each["is_selected"]) for each in listed] == [("default", False), ("other", True)]
    assert first.done("logout") == "you were not signed in\n"
    done = first.run("login", "--user", "admin", "--password-stdin", input=ADMIN_PASSWORD + "\n")
    assert done.returncode == OK, done.stderr
    assert first.done("logout") == "signed out\n"
    listed = json.loads(first.done("context", "list", "--json"))["contexts"]
    assert [(each["auth_server"], each["user_name"]) for each in listed[1:]] == [(f"http://{address}", "")]
    web = network.gateway.listeners["web"]
    first.done("context", "add", "third", "--host", f"http://{web}")
    assert json.loads(first.done("context", "list", "--json"))["contexts"][2]["auth_server"] == f"http://{address}"
    first.environment["DATA_GATEWAY_CONTEXT"] = "default"
    first.done("site", "list")
    del first.environment["DATA_GATEWAY_CONTEXT"]
    first.done("context", "use", "default")
    first.done("site", "list")
    assert "does not exist" in first.run("context", "use", "nowhere").stderr
    assert first.run("context", "use", "../escape").returncode == USAGE


def test_status_shows_what_can_be_asked(user, network, stored):
    ops = network.gateway.listeners["ops"]
    state = json.loads(user.done("status", "--ops", ops, "--json"))
    assert (state["is_serving"], state["uploads_in_progress"], state["not_known"]) == (True, 0, [])
    assert state["stored_objects"] > 0 and state["free_bytes"] > 0 and state["corrupted_objects"] == 0
    (missing,) = json.loads(user.done("status", "--ops", "127.0.0.1:1", "--json"))["not_known"]
    assert "the ops listener 127.0.0.1:1 is not available" in missing
    assert user.done("uploads", "list") == "no uploads in progress\n"


def test_support_bundle_has_no_secret(binary, network, tmp_path):
    (tmp_path / "secret").write_text("a secret of some length")
    (tmp_path / "secret").chmod(0o600)
    shop = {"url": "http://127.0.0.1:1/", "secret_file": str(tmp_path / "secret")}
    (tmp_path / "config").write_text(json.dumps({"webhooks": {"shop": shop}, "log": {"level": "debug"}}))
    command = [binary, "support-bundle", "--to", tmp_path / "bundle", "--config", tmp_path / "config"]
    options = ["--ops", network.gateway.listeners["ops"], "--data-dir", tmp_path]
    process.run(*command, *options, env={"PATH": "/usr/bin"})
    text = (tmp_path / "bundle").read_text()
    assert "a secret of some length" not in text
    bundle = json.loads(text)
    assert "data_gateway_serving 1" in bundle["metrics"]
    assert {"log.level": "debug"}.items() <= {
        each["key"]: each["value"] for each in bundle["configuration"]["settings"]
    }.items()
    assert bundle["configuration"]["faults"] == [] and bundle["machine"]["free_bytes"] > 0
    assert "File exists" in subprocess.run([*command, *options], capture_output=True, text=True).stderr


def test_root_of_the_web_listener_leads_to_the_console(network):
    response = fetch_url(f"http://{network.gateway.listeners['web']}/")
    assert (response.status, response.headers["location"]) == (307, "/console/")


def test_terminal_greets_with_the_consoles_address(binary, tmp_path):
    terminal = Terminal()
    listeners = ["auth", "gateway", "admin", "device-init", "object-store", "web", "ops"]
    options = [word for name in listeners for word in (f"--{name}-listen", "127.0.0.1:0")]
    serving = subprocess.Popen(
        [binary, "serve", "--data-dir", tmp_path / "data", *options],
        stdout=terminal.client_side,
        stderr=subprocess.DEVNULL,
    )
    terminal.opened()
    try:
        terminal.wait_for("stop ")
        assert "console       http://127.0.0.1:" in terminal.text
        assert f"the password is in {tmp_path}/data/initial-admin-password" in terminal.text
    finally:
        serving.terminate()
        serving.wait(30)
    terminal.closed()
