"""Devices in tables: import, export, and the information with which a device finds the gateway."""

import csv
import io
import json

import pytest
import zxingcpp
from PIL import Image
from support.commands import OK, REFUSED, UNREACHABLE, USAGE, CommandLine
from support.parties import init_patiently, unique, unique_device_id
from support.ports import free_port


@pytest.fixture(scope="module")
def operator(binary, gateway, new_organization, tmp_path_factory) -> CommandLine:
    """An operator of a separate organization, whose devices belong to this module only."""
    organization = new_organization().organization
    command_line = CommandLine(binary, gateway, tmp_path_factory.mktemp("operator"))
    command = ["login", "--organization", organization, "--user", "boss", "--password-stdin"]
    assert command_line.run(*command, input="a password of some length\n").returncode == OK
    return command_line


@pytest.fixture(scope="module")
def suites(operator) -> list[str]:
    site = operator.json("site", "create", unique("site"))["site_id"]
    create = ["device", "suite", "create", "--site", str(site), "--display-name"]
    return [operator.json(*create, name)["name"] for name in ("A", "B")]


@pytest.fixture
def table(tmp_path):
    """Writes a file and returns its path."""

    def write(text: str | bytes) -> str:
        path = tmp_path / "fleet.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write


def exported(operator) -> dict[str, dict]:
    done = operator.run("device", "export")
    assert done.returncode == OK
    return {row["device_id"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


def test_a_fleet_is_registered_once(operator, suites, table, gateway, stubs):
    first, second = unique_device_id(), unique_device_id()
    # The format of a spreadsheet: byte order mark, CRLF, quotes.
    path = table(
        "\ufeffdevice_id,suite,display_name,description,tags,tag:line\r\n"
        f'{first},{suites[0]},"Arm, ""left""",,a=1;b=x=y,3\r\n'
        f"{second},{suites[0].split('/')[1]},工厂,second,,\r\n"
    )
    dry = operator.json("device", "import", path, "--dry-run")
    assert (dry["dry_run"], dry["registered"], dry["updated"], dry["unchanged"]) == (True, 2, 0, 0)
    assert first not in exported(operator)
    done = operator.json("device", "import", path)
    assert (done["registered"], done["updated"], done["unchanged"]) == (2, 0, 0)
    assert [(device["line"], device["outcome"]) for device in done["devices"]] == [(2, "registered"), (3, "registered")]
    again = operator.json("device", "import", path)
    assert (again["registered"], again["updated"], again["unchanged"]) == (0, 0, 2)
    device = operator.json("device", "show", first)
    assert (device["display_name"], device["suite"]) == ('Arm, "left"', suites[0])
    assert device["tags"] == {"a": "1", "b": "x=y", "line": "3"}
    assert init_patiently(gateway, stubs, first).tags == device["tags"]


def test_import_changes_only_differing_cells(operator, suites, table):
    device_id = unique_device_id()
    operator.json("device", "register", device_id, "--suite", suites[0], "--description", "D", "--tag", "a=1")
    updated_at = operator.json("device", "show", device_id)["updated_at"]
    assert operator.json("device", "import", table(f"device_id,tag:a\n{device_id},1\n"))["unchanged"] == 1
    assert operator.json("device", "show", device_id)["updated_at"] == updated_at
    text = operator.run("device", "import", table(f"device_id,suite,tag:a,tag:b\n{device_id},{suites[1]},,2\n")).stdout
    assert text == f"{device_id}  updated  tags, suite\n0 registered, 1 updated, 0 unchanged\n"
    device = operator.json("device", "show", device_id)
    assert (device["suite"], device["tags"], device["description"]) == (suites[1], {"b": "2"}, "D")


def test_import_of_an_export_changes_nothing(operator, suites, table):
    device_id = unique_device_id()
    register = ["device", "register", device_id, "--suite", suites[0], "--display-name", 'x,"y"', "--tag", "a;b=1\\2;"]
    operator.json(*register)
    assert exported(operator)[device_id]["display_name"] == 'x,"y"'
    done = operator.run("device", "export")
    result = operator.json("device", "import", table(done.stdout))
    assert (result["registered"], result["updated"]) == (0, 0)
    assert result["unchanged"] == len(exported(operator))
    assert operator.json("device", "export") == operator.json("device", "list")


def test_a_table_comes_from_a_pipe_with_the_titles_of_suites(operator, suites):
    device_id = unique_device_id()
    operator.json("device", "register", device_id, "--suite", suites[0])
    text = operator.run("device", "export").stdout
    (line,) = (line for line in text.splitlines(keepends=True) if line.startswith(device_id))
    table = text.splitlines(keepends=True)[0] + line.replace(suites[0], "B")
    assert operator.json("device", "import", "-", input=table)["updated"] == 1
    assert operator.json("device", "show", device_id)["suite"] == suites[1]
    message = operator.refused(REFUSED, "device", "import", "-", input=table.replace(",B,", ",C,"))
    assert message == (
        'standard input:2: suite: no suite is named "C"\ndata-gateway: standard input has 1 problem: nothing was changed\n'
    )


def test_a_file_with_mistakes_changes_nothing_and_names_them_all(operator, suites, table):
    good, other = unique_device_id(), unique_device_id()
    path = table(
        "device_id,suite,tags\n"
        f"{good},{suites[0]},a=1\n"
        "nonsense,,\n"
        f"{other},deviceSuites/999999,\n"
        f"{good},,\n"
        f"{unique_device_id()},,a\n"
    )
    message = operator.refused(REFUSED, "device", "import", path)
    lines = message.splitlines()
    assert [line.removeprefix(path).split(": ")[:2] for line in lines[:-1]] == [
        [":3", "device_id"],
        [":4", "suite"],
        [":5", "device_id"],
        [":6", "tags"],
    ]
    assert "deviceSuites/999999 does not exist" in lines[1]
    assert "4 problems" in lines[-1] and "nothing was changed" in lines[-1]
    assert good not in exported(operator)
    # Without the gateway, the file's own errors are reported.
    message = operator.refused(REFUSED, "device", "import", path, "--server", f"127.0.0.1:{free_port()}")
    assert "3 problems" in message and "999999" not in message
    whole = table(f"device_id,suite\n{other},{suites[0]}\n")
    operator.refused(UNREACHABLE, "device", "import", whole, "--server", f"127.0.0.1:{free_port()}")


def test_refused_lines_are_named_and_the_rest_imported(operator, table, fleet):
    # A device of another organization is invisible, but its id is taken.
    taken, free = fleet.register().device_id, unique_device_id()
    message = operator.refused(REFUSED, "device", "import", table(f"device_id\n{taken}\n{free}\n"))
    assert f":2: device_id: device {taken} already exists" in message
    assert "1 of 2 lines were refused" in message
    assert free in exported(operator)


def test_retired_device_is_refused_with_the_way_back(operator, table):
    retired, new = operator.json("device", "register")["device_id"], unique_device_id()
    operator.json("device", "retire", retired)
    says = f"device {retired} is retired: 'device unretire {retired}' returns it to use"
    path = table(f"device_id,display_name\n{new},New\n{retired},Old\n")
    for options in (["--dry-run"], []):
        message = operator.refused(REFUSED, "device", "import", path, *options)
        assert f"{path}:3: device_id: {says}" in message and "nothing was changed" in message
    assert new not in exported(operator)
    assert says in operator.refused(REFUSED, "device", "register", retired)


def test_long_file_is_imported_whole(operator, suites, table):
    ids = [unique_device_id() for _ in range(600)]
    path = table("device_id,suite\n" + "".join(f"{device_id},{suites[0]}\n" for device_id in ids))
    assert operator.json("device", "import", path)["registered"] == len(ids)
    assert operator.json("device", "import", path)["unchanged"] == len(ids)
    assert set(ids) <= exported(operator).keys()


def test_file_that_is_no_table_is_refused(operator, table, tmp_path):
    assert "is not valid UTF-8" in operator.refused(REFUSED, "device", "import", table(b"\xff\xfed\x00"))
    assert "cannot read" in operator.refused(REFUSED, "device", "import", str(tmp_path / "nothing.csv"))
    assert "requires FILE" in operator.refused(USAGE, "device", "import")
    operator.refused(UNREACHABLE, "device", "import", table("device_id\n"), "--server", "127.0.0.1:1")


def test_config_is_what_the_device_needs(operator, suites, gateway):
    device_id = unique_device_id()
    operator.json("device", "register", device_id, "--suite", suites[0])
    places = ["--gateway", f"http://{gateway.listeners['gateway']}"]
    places += ["--device-init", f"http://{gateway.listeners['device-init']}"]
    shown = operator.json("device", "config", device_id, *places)
    hosts = {"auth": "auth", "gateway": "gateway", "deviceInit": "device-init"}
    assert shown["endpoints"] == {
        member: {"scheme": "http", "host": "127.0.0.1", "port": int(gateway.listeners[listener].split(":")[1])}
        for member, listener in hosts.items()
    }
    assert json.loads(shown["configuration"]) == shown["endpoints"] | {"device_id": device_id}
    assert "\n" not in shown["configuration"]
    text = operator.run("device", "config", device_id, *places).stdout
    assert shown["configuration"] in text.splitlines()
    assert "only this machine can reach the address" in text


def test_config_is_drawn_as_a_qr_code(operator, suites):
    device_id = unique_device_id()
    operator.json("device", "register", device_id, "--suite", suites[0])
    call = ("device", "config", device_id, "--host", "https://gateway.example.com", "--qr")
    lines = operator.run(*call).stdout.splitlines()
    start, end = "\033[30;107m", "\033[0m"
    assert all(line.startswith(start) and line.endswith(end) for line in lines)
    rows = [line.removeprefix(start).removesuffix(end) for line in lines]
    assert len(rows) < 35 and len(rows[0]) < 80, "it fits on a terminal"
    picture = Image.new("L", (len(rows[0]), 2 * len(rows)), 255)
    for y, row in enumerate(rows):
        for x, block in enumerate(row):
            for half in {" ": (), "▀": (0,), "▄": (1,), "█": (0, 1)}[block]:
                picture.putpixel((x, 2 * y + half), 0)
    picture = picture.resize((4 * picture.width, 4 * picture.height), Image.Resampling.NEAREST)
    (code,) = zxingcpp.read_barcodes(picture)
    assert code.text == operator.json(*call)["configuration"]


def test_config_takes_a_host(operator, suites):
    device_id = unique_device_id()
    operator.json("device", "register", device_id)
    done = operator.run("device", "config", device_id, "--host", "https://gateway.example.com")
    assert '"scheme":"https"' in done.stdout and '"port":50057' in done.stdout
    assert "is not in a suite" in done.stdout and "only this machine" not in done.stdout
    assert "991231-999999" in operator.refused(REFUSED, "device", "config", "991231-999999")
