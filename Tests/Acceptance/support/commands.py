"""The `data-gateway` command, used like by an operator and by a script."""

import json
import os
import subprocess

from . import process, sql_recorder
from .gateway import ADMIN_PASSWORD
from .waiting import WAIT_SECONDS

OK, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3


class CommandLine:
    """Runs `data-gateway` as one user of this machine, with its own session file."""

    def __init__(self, binary, gateway, directory):
        self.binary = binary
        self.session = directory / "session.json"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "DATA_GATEWAY_SESSION": str(self.session),
        } | {
            f"DATA_GATEWAY_{name.upper()}": gateway.listeners[name]
            for name in ("admin", "auth", "gateway")
            if name in gateway.listeners
        }

    def run(self, *arguments, input: str = "", environment: dict | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.binary, *map(str, arguments)],
            input=input,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            env=self.environment | (environment or {}),
        )

    def json(self, *arguments: str, input: str = "") -> dict:
        """Returns the --json output of a command that must succeed."""
        done = self.run(*arguments, "--json", input=input)
        assert done.returncode == OK, done.stderr
        return json.loads(done.stdout)

    def refused(self, code: int, *arguments: str, **options) -> str:
        """Returns the error message of a command that must fail with the exit code."""
        done = self.run(*arguments, **options)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert done.stderr.strip()
        assert done.stdout == ""
        return done.stderr

    def login(self, user: str = "admin", password: str = ADMIN_PASSWORD) -> "CommandLine":
        done = self.run("login", "--user", user, "--password-stdin", input=password + "\n")
        assert done.returncode == OK, done.stderr
        return self


class BrowserLogin:
    """`login --sso`, which waits until a browser has signed in at the provider."""

    def __init__(self, binary, gateway, provider: str):
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "DATA_GATEWAY_AUTH": gateway.listeners["auth"],
            "DATA_GATEWAY_ADMIN": gateway.listeners["admin"],
            "DATA_GATEWAY_SESSION": str(gateway.directory / "session.json"),
        }
        self.process = subprocess.Popen(
            [str(binary), "login", "--sso", provider, "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # The address that the browser opens.
        self.url = next(line for line in self.process.stderr if line.startswith("http")).strip()

    def user(self) -> tuple[str, str, str]:
        """Returns organization, name and role of the user who was signed in."""
        output, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == OK, errors
        user = json.loads(output)
        return user["organization"], user["user_name"], user["role"]


def offline(binary, *arguments, code: int = OK, environment: dict[str, str] | None = None) -> dict:
    """Runs `restore` or `doctor`, which read and write whole archives, and returns the --json output."""
    recorder = sql_recorder.environment(environment or {})
    variables = os.environ | (environment or {}) | recorder
    done = process.run(binary, *map(str, arguments), "--json", env=variables, code=code)
    return json.loads(done.stdout)
