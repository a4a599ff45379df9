"""The output of the commands: every command with `--json` is run once, and its values and tables have the forms of the manual."""

import json
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from support.gateway import eventually
from support.parties import PASSWORD, Fleet
from support.terminal import Terminal
from support.totp import App
from support.tour import Tour, commands
from support.uploads import Upload, content

pytestmark = pytest.mark.sqlite

#: Commands that print bytes, or need what a test cannot arrange here: an identity of a provider, an event that was given up, a server.
ELSEWHERE = {
    "object cat",
    "identity unlink",
    "events redeliver",
    "objects copy",
    "objects show",
    "objects stop",
    "database copy",
    "database migrate",
    "cluster init",
}
LONG_NAME = "sensor_front_left_camera_" * 4 + ".log"
#: Commands that print a table.
LISTS = [
    "ls",
    "object find",
    "object du",
    "storage",
    "object operation list",
    "uploads list",
    "uploads list-failed",
    "trash list",
    "audit",
    "device list",
    "device suite list",
    "site list",
    "user list",
    "org list",
    "key list --site Plant",
    "session list",
    "token list",
    "copy list",
    "context list",
    "config show --config config.json5",
    "events webhooks",
    "events deliveries pipeline",
    "events dead-letters",
    "statistics",
]
#: A time, an id or an address whose end is missing.
CUT = re.compile(r"(\d{4}-\d\d-\d|[0-9a-f]{8}-|(?:^|/)\d{6}-|127\.0\.|https?:|deviceSuites|user:)[^ ]*…", re.M)
#: The names that earlier releases gave to values, and which stay for one release, with the ones beside them.
FORMER = {"status": "state", "bytes": "size_bytes"}


@pytest.fixture(scope="module")
def tour(binary, gateway_with, login, tmp_path_factory) -> Tour:
    home = tmp_path_factory.mktemp("tour")
    (home / "copies").mkdir()
    (home / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    gateway = gateway_with(
        {
            "copy": {"destinations": [{"kind": "directory", "root": str(home / "copies")}]},
            "webhooks": {"pipeline": {"url": "http://127.0.0.1:9/", "secret_file": str(home / "secret")}},
        }
    )
    tour = Tour(binary, gateway, home)
    things = devices_and_keys(tour)
    objects(tour, gateway, things)
    uploader = Fleet.create(login(gateway)).uploader()
    for _ in range(2):
        Upload.create(uploader)
    tour.run("uploads abort", tour.run("uploads list")["uploads"][0]["logical_upload_id"])
    tour.run("uploads list-failed")
    organizations_and_users(tour)
    gateway_itself(tour, gateway)
    yield tour


def devices_and_keys(tour: Tour) -> dict:
    site = tour.run("site create", "Plant 1")["site_id"]
    for command in ("list", "show", "disable", "enable"):
        tour.run(f"site {command}", *([] if command == "list" else [site]))
    tour.run("site rename", site, "Plant")
    tour.run("site set-time-zone", site, "Europe/Berlin")
    tour.run("site set-silent-after", site, "5d")
    suite = tour.run("device suite create", "--site", site, "--display-name", "Arms")["name"]
    tour.run("device suite list")
    tour.run("device suite show", suite)
    tour.run("device suite rename", suite, "Right arms")
    tour.run("device suite set-silent-after", suite, "never")
    device = tour.run("device register", "--suite", suite)["device_id"]
    for command in ("show", "disable", "enable", "allow-reinit", "retire", "unretire"):
        tour.run(f"device {command}", device)
    tour.run("device suite add", suite, device)
    tour.run("device suite remove", suite, device)
    tour.run("device suite add", suite, device)
    for command in ("device list", "device export"):
        tour.run(command)
    tour.run("device update", device, "--tag", "line=4")
    (tour.home / "devices.csv").write_text(f"device_id,suite,display_name\n991231-000001,{suite},Arm 7\n")
    tour.run("device import", "devices.csv")
    tour.run("device config", device, "--host", "http://127.0.0.1")
    for command in (["announce", "--host", "http://127.0.0.1"], ["show"], ["withdraw"]):
        tour.run(f"device address {command[0]}", *command[1:])
    tour.run("quickstart", "--host", "http://127.0.0.1")
    tour.run("device rotate", "--all")
    other = tour.run("site create", "Plant 2")["site_id"]
    tour.run("device delete", tour.run("device register")["device_id"])
    key = tour.run("key create", "--site", other, "--name", "uploader")["api_key_id"]
    for command in ("show", "disable", "enable", "rotate"):
        tour.run(f"key {command}", key)
    tour.run("key list", "--site", other)
    tour.run("key delete", key)
    tour.run("device suite delete", tour.run("device suite create", "--site", other, "--display-name", "B")["name"])
    tour.run("site delete", other)
    return {"device": device}


def objects(tour: Tour, gateway, things: dict) -> None:
    listeners = gateway.listeners
    endpoints = [(f"--{name}", f"http://{listeners[name]}") for name in ("auth", "gateway", "device-init")]
    tour.run("init", things["device"], *(word for pair in endpoints for word in pair))
    for number in range(4):
        (tour.home / f"drive{number}.log").write_bytes(content(1000 + number, seed=number))
        tour.run("upload", tour.home / f"drive{number}.log", "--tag", f"run={number}")
    (tour.home / LONG_NAME).write_bytes(b"long")
    tour.run("upload", tour.home / LONG_NAME, "--tag", "description=a tag of some length")
    tour.run("ls")
    tour.run("download", "drive0.log", "drive1.log", "--to", tour.home / "down")
    for command in ("find", "show", "share"):
        tour.run(f"object {command}", "drive0.log")
    tour.run("object du")
    tour.run("storage")
    tour.run("object tag", "drive0.log", "--tag", "weather=rain")
    tour.run("object list-corrupted")
    tour.run("rm", "drive0.log")
    tour.run("trash list")
    tour.run("trash restore", "drive0.log")
    tour.run("object rm", "drive1.log")
    tour.run("object restore", "drive1.log")
    tour.run("rm", "drive1.log")
    tour.run("trash purge", "drive1.log")
    operation = tour.run("rm", "--filter", "run=2", "--yes")["operation"]["operation_id"]
    eventually(lambda: tour.run("object operation show", operation)["progress_percent"] == 100)
    tour.run("object operation list")
    tour.run("object operation cancel", operation)
    tour.run("object operation undo", operation)
    tour.run("trash empty", "--yes")
    tour.run("trash show")
    tour.run("trash set", 20, "--dry-run")
    tour.run("object retention set", 400, "--rule", "0:run=0")
    tour.run("object retention show")
    job = tour.run("copy create", "drive0.log", "--to", f"file://{tour.home}/copies")["copy_job_id"]
    for command in ("show", "items", "list"):
        tour.run(f"copy {command}", *([] if command == "list" else [job]))
    tour.run("copy cancel", tour.run("copy create", "drive3.log", "--to", f"file://{tour.home}/copies")["copy_job_id"])
    agent(tour)


def agent(tour: Tour) -> None:
    (tour.home / "watched").mkdir()
    (tour.device_folder / "agent.json").write_text(json.dumps({"directories": [{"path": str(tour.home / "watched")}]}))
    tour.run("agent check")
    with (tour.home / "agent.log").open("wb") as log:
        process = subprocess.Popen([tour.binary, "agent", "run", "--json"], env=tour.environment, stderr=log)
        try:
            eventually(lambda: tour.plain("agent status").returncode == 0)
            tour.run("agent status")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    tour.printed["agent run"] = [json.loads(line) for line in (tour.home / "agent.log").read_text().splitlines()]


def organizations_and_users(tour: Tour) -> None:
    tour.run("org create", "acme", "--admin", "boss", "--password-stdin", input=PASSWORD + "\n")
    for command in (["list"], ["show", "acme"], ["update", "acme", "--display-name", "A"], ["sign-in"]):
        tour.run(f"org {command[0]}", *command[1:])
    tour.run("org delete", "acme", code=None)
    tour.run("user create", "ada", "--role", "admin", "--password-stdin", input=PASSWORD + "\n")
    tour.run("user list")
    invited = tour.run("user invite", "ida", "--role", "viewer")
    tour.run("user list-invitations")
    tour.run("user withdraw-invitation", invited["invitation_id"])
    tour.run("user show", "ada")
    tour.run("user find", "--email", "ada@example.com")
    tour.run("user update", "ada", "--role", "admin")
    tour.run("user passwd", "ada", "--password-stdin", input=PASSWORD + "\n")
    tour.run("user reset-second-factor", "ada", code=None)
    tour.run("user create", "robot", "--role", "service")
    tour.run("user credential", "robot")
    tour.run("user delete", "robot")
    tour.run("identity list")
    tour.run("context add", "second", "--auth-server", tour.environment["DATA_GATEWAY_AUTH"])
    tour.run("context list")
    tour.run("context use", "default")
    tour.run("whoami")
    tour.run("session list")
    tour.run("session revoke", "--others")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    tour.run("token create", "ci", "--expires", tomorrow.isoformat(timespec="seconds"))
    tour.run("token revoke", tour.run("token list")["api_tokens"][0]["token_id"])
    account(tour)


def account(tour: Tour) -> None:
    """Changes the account of a user of the tour's own, and signs out."""
    ada = Tour.__new__(Tour)
    ada.__dict__ |= tour.__dict__ | {"environment": tour.environment | {"DATA_GATEWAY_SESSION": f"{tour.home}/ada"}}
    ada.run("login", "--user", "ada", "--password-stdin", input=PASSWORD + "\n")
    ada.run("account show")
    ada.run("account passwd", "--password-stdin", input=f"{PASSWORD}\n{PASSWORD}!\n")
    process = subprocess.Popen(
        [ada.binary, "account", "second-factor", "enable", "--password-stdin", "--json"],
        env=ada.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(f"{PASSWORD}!\n")
    process.stdin.flush()
    app = App(process.stderr.readline().split()[-1])
    output, errors = process.communicate(app.code() + "\n", timeout=60)
    assert process.returncode == 0, errors
    ada.printed["account second-factor enable"] = [json.loads(output)]
    codes = ada.run("account second-factor recovery-codes", app.code(1))["recovery_codes"]
    ada.run("account second-factor disable", codes[0])
    ada.run("logout")


def gateway_itself(tour: Tour, gateway) -> None:
    (tour.home / "config.json5").write_text("{}")
    for command in ("config check", "config show"):
        tour.run(command, "--config", "config.json5")
    for command in ("clock show", "clock confirm", "keys rotate", "status", "audit", "statistics", "version"):
        tour.run(command, code=None if command == "clock confirm" else 0)
    tour.run("events webhooks")
    tour.run("events test", "pipeline")
    tour.run("events retry", "pipeline")
    tour.run("events deliveries", "pipeline")
    tour.run("events dead-letters")
    tour.run("backup", "--to", "archive")
    tour.run("backup verify", "archive")
    tour.run("restore", "--from", "archive", "--data-dir", "restored")
    tour.run("doctor", "--data-dir", "restored", code=None)


def values(value, path: str = ""):
    """Returns every object in a value of JSON, with its place."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            yield from values(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from values(inner, path + "[]")


def printed(tour: Tour):
    for command, outputs in tour.printed.items():
        for output in outputs:
            for path, members in values(output):
                yield f"{command}: {path}", members


def test_tour_visits_every_command_with_json(tour, binary):
    assert set(commands(binary)) - set(tour.printed) == ELSEWHERE


def test_every_time_is_rfc_3339(tour):
    former = 0
    for place, members in printed(tour):
        for name, value in members.items():
            if name.endswith("_unix"):
                assert name.removesuffix("_unix") in members, (place, name)
                former += 1
            elif name.endswith("_at"):
                assert value is None or datetime.fromisoformat(value).tzinfo, (place, name, value)
                seconds = members.get(f"{name}_unix")
                assert not seconds or datetime.fromisoformat(value).timestamp() == seconds, (place, name)
    assert former > 0


def test_every_enum_has_a_name(tour):
    names = {"status", "state", "kind", "type", "role", "mode", "source"}
    for place, members in printed(tour):
        for name in names & members.keys():
            if isinstance(members[name], int):
                assert isinstance(members.get(FORMER.get(name)), str), (place, name)


def test_every_former_name_has_a_present_one(tour):
    for place, members in printed(tour):
        if "bytes" in members:
            assert members["size_bytes"] == members["bytes"], place


def test_listeners_of_the_status_are_objects(tour):
    (status,) = tour.printed["status"]
    listeners = {each["name"]: each for each in status["listeners"]}
    address = tour.environment["DATA_GATEWAY_ADMIN"]
    expected = {"name": "admin", "address": address, "port": int(address.split(":")[1]), "tls": False}
    assert listeners["admin"] == expected
    assert f"admin {address}" in status["listener_addresses"]


def shown(tour, command: str, columns: int, zone: str = "UTC") -> str:
    """Returns what the command prints on a terminal of that width."""
    environment = tour.environment | {"NO_COLOR": "1", "TZ": zone}
    terminal = Terminal.running([tour.binary, *command.split()], environment, tour.home, columns)
    assert terminal.process.wait(60) == 0, terminal.text
    return terminal.closed().text


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("command", LISTS)
def test_list_fits_the_terminal(tour, command, columns):
    text = shown(tour, command, columns)
    lines = text.splitlines()
    assert lines and max(map(len, lines)) <= columns, text
    assert not CUT.search(text), text


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_audit_shows_whole_times_and_sentences_that_end_with_a_word(tour, columns):
    lines = shown(tour, "audit", columns, "Asia/Shanghai").splitlines()
    assert lines[0].split()[0] == "AT" and lines[0].split()[-1] == "SENTENCE"
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00"
    assert any(re.match(rf"{time}  (system  .*)?admin signed in$", line) for line in lines), lines


@pytest.mark.parametrize("columns", [40, 60])
def test_narrow_list_of_uploads_keeps_the_id_that_abort_needs(tour, columns):
    (upload,) = tour.run("uploads list")["uploads"]
    text = shown(tour, "uploads list", columns)
    assert upload["logical_upload_id"] in text
    assert ("PROGRESS" in text) == (columns == 60)


def test_links_of_several_objects_are_whole(tour):
    command = [tour.binary, "object", "share", "drive0.log", "drive3.log"]
    terminal = Terminal.running(command, tour.environment, tour.home, 60)
    assert terminal.process.wait(60) == 0
    lines = terminal.closed().text.splitlines()
    urls = [line for line in lines if "://" in line]
    assert [line for line in lines if line.endswith(".log")] == ["drive0.log", "drive3.log"]
    assert len(urls) == 2 and all(line.startswith("http") and " " not in line for line in urls)
