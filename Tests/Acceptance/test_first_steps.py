"""The first steps of a person who knows only `--help`: a gateway in a fresh data directory, a device, and a folder of files."""

import filecmp
import os
import re
import urllib.request

import pytest
from support.gateway import LISTENERS
from support.terminal import Shell, Terminal
from support.uploads import content

NAMES = ["sensor_front_left_camera_2026.log", "drive.mcap", "notes.txt"]


@pytest.fixture
def environment(binary, tmp_path) -> dict[str, str]:
    """The environment of a person with the program in the search path, and nothing else."""
    (programs := tmp_path / "bin").mkdir()
    (programs / "data-gateway").symlink_to(binary)
    # A person has none of the gateway's variables.
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "DATA_GATEWAY_DATABASE__RESERVE_BYTES": "65536",
    }


@pytest.fixture
def greeting(binary, environment, tmp_path):
    """Starts a gateway in a terminal, and returns the lines of its greeting by their names."""
    options = [word for name in LISTENERS for word in (f"--{name}-listen", "127.0.0.1:0")]
    terminal = Terminal.running(
        ["data-gateway", "serve", "--data-dir", "./data", *options], environment, tmp_path, columns=200
    )
    terminal.wait_for("Ctrl-C")
    yield dict(re.findall(r"^  (\w[\w -]*?)  +(.+)$", terminal.text, re.M))
    terminal.type("\x03")
    assert terminal.process.wait(60) == 0
    terminal.closed()


@pytest.fixture
def shell(environment, tmp_path):
    shell = Shell(environment, tmp_path)
    yield shell
    shell.close()


def steps(page: str) -> list[str]:
    """Returns the command lines below `First steps:`."""
    return re.findall(r"^  (data-gateway .+)$", page.split("First steps:")[1].split("\n\n")[0], re.M)


def test_commands_of_the_help_succeed(shell, greeting, tmp_path):
    """Takes every step of `--help`; only the addresses differ, as other tests have the default ports."""
    (folder := tmp_path / "recordings").mkdir()
    for number, name in enumerate(NAMES):
        (folder / name).write_bytes(content(1000 + number, seed=number))
    device = "--auth http://{auth} --gateway http://{gateway} --device-init http://{device-init}".format(**greeting)
    serve, login, *rest = steps(shell.run("data-gateway --help"))
    assert (serve, login) == ("data-gateway serve --data-dir ./data", "data-gateway login --user admin")
    assert "signed in as admin" in shell.run(greeting["sign in"])
    outputs = [shell.run(f"{step} {device}" if " init " in step else step) for step in rest]
    upload, listed, downloaded = outputs[-3:]
    assert "3 files uploaded" in upload
    assert "drive.mcap" in listed and "notes.txt" not in listed
    assert "downloaded ./drive.mcap" in downloaded
    assert filecmp.cmp(tmp_path / "drive.mcap", folder / "drive.mcap", shallow=False)
    # One file by a part of its name, back under its name, shared, deleted and restored.
    name = NAMES[0]
    assert name in shell.run("data-gateway ls camera")
    assert "'name:*camera*'" in shell.run("data-gateway ls 'camera*'")
    (line,) = [line for line in shell.run("data-gateway object find 'name:*camera*'").splitlines() if ".log" in line]
    assert line.split()[0] == name
    shell.run(f"data-gateway download {name} --to back")
    assert filecmp.cmp(tmp_path / "back" / name, folder / name, shallow=False)
    url = re.search(r"http://\S+", shell.run(f"data-gateway object share {name}"))[0]
    response = urllib.request.urlopen(url)
    assert response.read() == (folder / name).read_bytes()
    assert name in response.headers["content-disposition"]
    shell.run(f"data-gateway rm {name}")
    assert "no objects" in shell.run("data-gateway ls 'name:*camera*'")
    assert name in shell.run("data-gateway trash list")
    shell.run(f"data-gateway object restore {name}")
    assert name in shell.run("data-gateway ls 'name:*camera*'")
    assert "no files uploaded, 3 already stored" in shell.run("data-gateway upload recordings")
    with (folder / name).open("ab") as file:
        file.write(b"more")
    assert "1 file uploaded" in shell.run("data-gateway upload recordings")
    output, code = shell.tried(f"data-gateway rm {name}")
    assert code == 1 and f"2 objects have the name {name}" in output
    ids = re.search(r"file id \((\w+), (\w+)\)", " ".join(output.split()))
    shell.run(f"data-gateway rm {ids[1]}")
    shell.run(f"data-gateway rm {name}")


def test_commands_of_the_agents_help_set_up_an_agent(shell, greeting, tmp_path):
    """Sets an agent up from `agent --help`, `agent run --help` and what `agent check` says."""
    init, *rest = steps(shell.run("data-gateway agent --help"))
    assert [step.split()[2] for step in rest] == ["check", "run", "status"]
    output, code = shell.tried("data-gateway agent check --config agent.json --offline")
    assert code == 2 and "agent.json: the file does not exist" in output
    page = shell.run("data-gateway agent run --help")
    shortest = re.search(r"^(\{.+\})$", page, re.M)[1]
    (recordings := tmp_path / "recordings").mkdir()
    (tmp_path / "agent.json").write_text(shortest.replace("/data/recordings", str(recordings)).replace("]}", "]"))
    output, code = shell.tried("data-gateway agent check --config agent.json --offline")
    assert code == 2 and "not valid JSON, line 1, column " in output
    (tmp_path / "agent.json").write_text(shortest.replace("/data/recordings", str(recordings)))
    output, code = shell.tried("data-gateway agent check --config agent.json")
    assert code == 1 and "run data-gateway init DEVICE_ID" in output
    shell.run(greeting["sign in"])
    shell.run("data-gateway site create here; data-gateway device suite create --site here --display-name line")
    shell.run("data-gateway device register 260427-000001 --suite line")
    device = "--auth http://{auth} --gateway http://{gateway} --device-init http://{device-init}".format(**greeting)
    shell.run(f"{init.split(' --host')[0]} {device}")
    assert "no faults: 1 directory" in shell.run("data-gateway agent check --config agent.json")
    (recordings / "late.log").write_bytes(b"x")
    shell.terminal.type("data-gateway agent run --config agent.json\n")
    shell.terminal.wait_for(f"uploaded {recordings / 'late.log'}")
    shell.terminal.type("\x03")
    output, code = shell.tried("data-gateway agent status")
    assert code == 1 and "uploaded files:      1" in output and "the agent is not running" in output


def test_interactive_shell_completes_commands_options_and_files(shell, tmp_path):
    """The tabulator key completes commands, options and files."""
    (tmp_path / "recording_of_monday.mcap").write_bytes(b"x")
    shell.run("source <(data-gateway completion bash)")
    for typed, expected in [
        ("data-gateway dev\tre\t", "data-gateway device re"),
        ("data-gateway object share --exp\t", "data-gateway object share --expires "),
        ("data-gateway upload recording_of\t", "data-gateway upload recording_of_monday.mcap "),
    ]:
        shell.terminal.type(f"stty echo\n{typed}")
        shell.terminal.wait_for(expected)
        shell.terminal.type("\x03stty -echo\n")


@pytest.mark.parametrize(
    "wrong, code, expected",
    [
        ("site list --server {web}", 3, "check the port"),
        ("site list --server {object-store}", 3, "check the port"),
        ("ls --server {admin}", 1, "check that the address is the right listener"),
        ("login --user admin --host http://{auth}", 3, "check that --host is the web listener"),
        ("context add other", 2, "Try: data-gateway context add --help"),
        ("key create", 2, "Try: data-gateway key create --help"),
        ("key create --site 1", 2, "the key of a site requires --name"),
        ("user create ada --role oper", 2, "must be one of admin, operator, viewer, member, service"),
        ("device list --suite nowhere", 1, 'no suite is named "nowhere"'),
        ("object show camera", 1, "no object matches the filter camera"),
        ("object show '*camera*'", 1, "no object matches the filter *camera*"),
        ("object show name:camera", 1, "'name:*camera*' finds it anywhere in a name"),
        ("ls name:camera", 0, "no objects; 'name:*camera*' finds it anywhere in a name"),
        ("ls 'weather ='", 1, "byte 9: expected a value, found the end of the filter"),
        ("agent status", 1, "--device-dir names that of a service"),
    ],
)
def test_mistake_is_explained(shell, greeting, wrong, code, expected):
    shell.run(greeting["sign in"])
    output, exit_code = shell.tried(f"data-gateway {wrong.format(**greeting)}")
    assert exit_code == code, output
    assert expected in " ".join(output.split())
