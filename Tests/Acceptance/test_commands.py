"""The command line, used like by an operator and by a script."""

import json
import stat

import pytest
from support.commands import OK, REFUSED, UNREACHABLE, USAGE, CommandLine
from support.gateway import ADMIN_PASSWORD
from support.parties import User, init_device, unique, unique_device_id

COMMANDS = [
    ["serve"],
    ["login"],
    ["site", "create"],
    ["device", "suite", "create"],
    ["device", "register"],
    ["device", "list"],
    ["device", "show"],
    ["user", "create"],
    ["user", "credential"],
    ["copy", "create"],
    ["copy", "show"],
    ["keys", "rotate"],
    ["backup"],
    ["restore"],
    ["doctor"],
]


@pytest.fixture(scope="module")
def operator(binary, gateway, tmp_path_factory) -> CommandLine:
    """The admin of `system`, signed in."""
    return CommandLine(binary, gateway, tmp_path_factory.mktemp("operator")).login()


@pytest.fixture(scope="module")
def suite(operator) -> str:
    site = operator.json("site", "create", unique("site"))
    return operator.json("device", "suite", "create", "--site", str(site["site_id"]), "--display-name", "Suite")["name"]


@pytest.mark.parametrize("command", [[], ["device"], ["device", "suite"], ["site"], ["user"], *COMMANDS], ids=" ".join)
def test_help_describes_the_command(stranger, command):
    done = stranger.run(*command, "--help")
    assert done.returncode == OK
    assert done.stderr == ""
    assert " ".join(["data-gateway", *command]) in done.stdout


def test_help_names_every_command(stranger):
    text = stranger.run("--help").stdout
    for command in COMMANDS:
        assert command[0] in text


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["nonsense"],
        ["device"],
        ["device", "nonsense"],
        ["site", "create"],
        ["site", "create", "a", "b"],
        ["site", "create", "a", "--nonsense"],
        ["device", "show"],
        ["device", "suite", "create", "--site", "x"],
        ["user", "create", "somebody", "--role"],
        ["device", "list", "--server", "nonsense"],
        ["serve"],
    ],
    ids=" ".join,
)
def test_usage_error_points_to_help(stranger, command):
    message = stranger.refused(USAGE, *command)
    assert "--help" in message


def test_login_stores_its_token_for_its_owner_only(stranger):
    stranger.login()
    assert stat.S_IMODE(stranger.session.stat().st_mode) == 0o600
    assert ADMIN_PASSWORD not in stranger.session.read_text()


def test_login_without_a_session_variable_uses_the_home_directory(stranger, tmp_path):
    del stranger.environment["DATA_GATEWAY_SESSION"]
    stranger.login()
    path = tmp_path / ".config" / "data-gateway" / "session.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_wrong_login_stores_no_session(stranger):
    message = stranger.refused(REFUSED, "login", "--user", "admin", "--password-stdin", input="wrong\n")
    assert "wrong\n" not in message
    assert not stranger.session.exists()


def test_a_command_before_login_says_what_to_do(stranger):
    assert "data-gateway login" in stranger.refused(REFUSED, "device", "list")


def test_unreachable_server_is_named(operator):
    message = operator.refused(UNREACHABLE, "device", "list", "--server", "127.0.0.1:1")
    assert "127.0.0.1:1" in message


def test_site_create_makes_a_site(operator, admin):
    name = unique("site")
    site = operator.json("site", "create", name)
    assert site["name"] == name
    assert admin.admin("GetSite", site_id=int(site["site_id"])).site.name == name
    done = operator.run("site", "create", unique("site"))
    assert done.returncode == OK
    assert done.stdout.strip()
    with pytest.raises(json.JSONDecodeError):
        json.loads(done.stdout)


def test_commands_register_and_show_a_device(operator, suite, gateway, stubs):
    device_id = unique_device_id()
    created = operator.json(
        "device", "register", device_id, "--suite", suite, "--display-name", "Arm", "--tag", "line=3", "--tag", "a=b=c"
    )
    assert created["device_id"] == device_id
    assert created["tags"] == {"line": "3", "a": "b=c"}
    assert init_device(gateway, stubs, device_id).tags == {"line": "3", "a": "b=c"}
    shown = operator.json("device", "show", device_id)
    assert shown["name"] == f"devices/{device_id}"
    assert "initialized" in shown["status"].lower()
    assert device_id in operator.run("device", "show", device_id).stdout


def test_device_register_assigns_an_id(operator, suite):
    device = operator.json("device", "register", "--suite", suite)
    assert device["device_id"][:6] == unique_device_id()[:6]


def test_device_list_shows_the_devices_of_a_suite(operator):
    site = operator.json("site", "create", unique("site"))
    suite = operator.json("device", "suite", "create", "--site", str(site["site_id"]), "--display-name", "S")["name"]
    assert operator.json("device", "list", "--suite", suite)["devices"] == []
    expected = {operator.json("device", "register", "--suite", suite)["device_id"] for _ in range(3)}
    assert {device["device_id"] for device in operator.json("device", "list", "--suite", suite)["devices"]} == expected
    table = operator.run("device", "list", "--suite", suite).stdout
    assert all(device_id in table for device_id in expected)


def test_user_create_makes_a_user_who_can_sign_in(operator, gateway, stubs):
    name, password = unique("user"), "a password of some length"
    user = operator.json("user", "create", name, "--role", "admin", "--password-stdin", input=password + "\n")
    assert (user["user_name"], user["role"]) == (name, "admin")
    assert "password" not in user
    assert User.login(gateway, stubs, "system", name, password)


@pytest.mark.parametrize(
    "command, hint",
    [
        (["device", "show", "991231-999999"], "991231-999999"),
        (["device", "register", "nonsense"], "YYMMDD-NNNNNN"),
        (["device", "suite", "create", "--site", "999999999", "--display-name", "S"], "999999999"),
    ],
    ids=["unknown", "malformed", "no site"],
)
def test_refused_command_explains_itself(operator, command, hint):
    message = operator.refused(REFUSED, *command)
    assert hint in message
    assert len(message.strip().splitlines()) <= 3
    failed = operator.run(*command, "--json")
    assert (failed.returncode, failed.stdout) == (REFUSED, "")
