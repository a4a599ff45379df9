"""A tour of the commands with `--json`: each is run once, with things of its own, and its output is kept."""

import json
import os
import re
import subprocess
from pathlib import Path

from .gateway import ADMIN_PASSWORD
from .waiting import WAIT_SECONDS

OK = 0


def commands(binary: Path, option: str = "--json") -> list[str]:
    """Returns the words of every command that has the option."""
    script = subprocess.run([binary, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    places = re.findall(r'^ +"(.*)"\) words="(.*)";;$', script, re.M)
    return [path for path, words in places if option in words.split()]


class Tour:
    """One person at one gateway, whose commands print JSON."""

    def __init__(self, binary: Path, gateway, home: Path):
        self.binary, self.home = binary, home
        self.device_folder = home / "device"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DATA_GATEWAY_DEVICE_DIR": str(self.device_folder),
        } | {f"DATA_GATEWAY_{name.upper()}": gateway.listeners[name] for name in ("admin", "auth", "gateway", "ops")}
        #: The objects that each command printed.
        self.printed: dict[str, list[dict]] = {}
        self.run("login", "--user", "admin", "--password-stdin", input=ADMIN_PASSWORD + "\n")

    def run(self, command: str, *arguments, input: str = "", code: int | None = OK) -> dict:
        """Runs a command with --json, and returns the last object that it printed.

        :param code: the exit code that it must have; `None` = any.
        """
        done = self.plain(command, *arguments, "--json", input=input)
        assert code in (None, done.returncode), (command, arguments, done.returncode, done.stdout, done.stderr)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.printed.setdefault(command, []).extend(found)
        return found[-1] if found else {}

    def plain(self, command: str, *arguments, input: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.binary, *command.split(), *map(str, arguments)],
            input=input,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            cwd=self.home,
            env=self.environment,
        )
