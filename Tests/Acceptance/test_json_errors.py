"""Errors for programs: every command with `--json` fails with JSON on standard error and nothing on standard output."""

import json
import os
import re
import shlex
import subprocess

import pytest
from support.tour import commands
from support.waiting import WAIT_SECONDS

#: Commands that need nothing but this machine, and `support-bundle`, whose result is a file.
LOCAL = {"version", "logout", "context list", "context add", "context use"}
#: Commands whose output is a list of faults: a configuration with faults is a result of them, and no error.
CHECKS = {"config check", "agent check"}


@pytest.fixture
def stranger(binary, tmp_path):
    """Runs a command of a user without a session, a device or a gateway."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "DATA_GATEWAY_AUTH": "127.0.0.1:1",
        "DATA_GATEWAY_OPS": "127.0.0.1:1",
    }

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [binary, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            cwd=tmp_path,
            env=environment,
        )

    return run


def example(stranger, command: str) -> list[str]:
    """Returns the first example of a command's help, with a gateway that is not there."""
    page = stranger(*command.split(), "--help").stdout
    line = re.findall(r"^  data-gateway (.+)$", page.split("Examples:")[1], re.M)[0]
    words = [word if "example.com" not in word else "http://127.0.0.1:1" for word in shlex.split(line)]
    return [*words, "--retry-for", "0"] if "--retry-for" in page else words


@pytest.mark.parametrize("form", [["--json"], ["--output", "json"], ["--output=json"]], ids=" ".join)
def test_every_error_is_json(stranger, binary, form):
    failed = 0
    for command in commands(binary, form[0].split("=")[0]):
        if command in CHECKS:
            continue
        done = stranger(*example(stranger, command), *form)
        if command in LOCAL:
            continue
        assert done.returncode in (1, 2, 3) and done.stdout == "", (command, done.returncode, done.stdout, done.stderr)
        error = json.loads(done.stderr)["error"]
        assert error["exit_code"] == done.returncode and error["message"], command
        failed += 1
    assert failed > 70


@pytest.mark.parametrize("form", [["--json"], ["--output", "json"], ["--output=json"]], ids=" ".join)
def test_wrong_command_line_is_json(stranger, binary, form):
    for command in commands(binary, form[0].split("=")[0]):
        done = stranger(*command.split(), "--nonsense", *form)
        assert (done.returncode, done.stdout) == (2, ""), command
        assert json.loads(done.stderr)["error"]["exit_code"] == 2, command


def test_faults_of_the_agents_configuration_are_its_result(stranger, tmp_path):
    (tmp_path / "agent.json").write_text('{"directories": [], "rat": 1, "files": 99}')
    done = stranger("agent", "check", "--config", "agent.json", "--json")
    assert (done.returncode, done.stderr) == (2, "")
    found = json.loads(done.stdout)
    assert found["directories"] == 0 and found["notes"] == []
    assert len(found["faults"]) >= 2 and all(each.startswith("agent.json: ") for each in found["faults"])
    run = stranger("agent", "run", "--config", "agent.json", "--json")
    assert (run.returncode, run.stdout) == (2, "")
    assert json.loads(run.stderr)["error"]["faults"] == found["faults"]
    assert stranger("agent", "check", "--config", "agent.json").stderr.splitlines() == [
        f"data-gateway: {each}" for each in found["faults"]
    ]


def test_problems_of_an_import_are_in_the_error(stranger, tmp_path):
    (tmp_path / "devices.csv").write_text("device_id\nx\ny\n")
    done = stranger("device", "import", "devices.csv", "--json")
    assert done.stdout == ""
    error = json.loads(done.stderr)["error"]
    assert [each.split(": ")[0] for each in error["faults"]] == ["devices.csv:2", "devices.csv:3"]
