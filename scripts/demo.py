#!/usr/bin/env python3
"""`make demo`: the main purpose from end to end, on a temporary gateway.

An operator provisions a device on the command line; the device fetches its key, uploads a file in parts with the
store's real client, and completes the upload; a user finds the file and downloads it; the bytes are compared.
"""

import argparse
import hashlib
import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTENERS = ("auth", "gateway", "admin", "device-init", "object-store", "web", "ops")
PART_SIZE = 1024 * 1024
FILE_SIZE = 6 * 1024 * 1024 + 54321


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def detail(text: str) -> None:
    print(f"    {text}", flush=True)


class Demo:
    def __init__(self, binary: Path, directory: Path):
        self.binary = binary
        self.directory = directory
        self.password = secrets.token_urlsafe(16)
        self.server: subprocess.Popen | None = None
        self.listeners: dict[str, str] = {}

    # The server

    def start(self) -> None:
        say("Starting a gateway: embedded database, local object store, free ports, an empty data directory")
        # A small part size, so that a file of a few MiB is sent in several parts; the default is 64 MiB.
        config = self.directory / "config.json5"
        config.write_text(json.dumps({"uploads": {"part_size_bytes": PART_SIZE}}))
        command = [self.binary, "serve", "--data-dir", self.directory / "data", "--config", config]
        for name in LISTENERS:
            command += [f"--{name}-listen", "127.0.0.1:0"]
        self.log = open(self.directory / "log", "wb")  # noqa: SIM115 - the server writes it until the end
        self.server = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | {"DATA_GATEWAY_ADMIN_PASSWORD": self.password},
        )
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError("the gateway did not start:\n" + (self.directory / "log").read_text())
        self.listeners = json.loads(line)["listeners"]
        for name in LISTENERS:
            detail(f"{name:<14}{self.listeners[name]}")

    def stop(self) -> None:
        if self.server is None:
            return
        say("Stopping the gateway")
        self.server.send_signal(signal.SIGTERM)
        try:
            code = self.server.wait(30)
            detail(f"the gateway finished the calls in progress and ended with exit code {code}")
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
            raise RuntimeError("the gateway did not end within 30 s of SIGTERM") from None

    # The operator

    def command(self, *arguments: str, input: str = "") -> str:
        detail(
            "$ data-gateway " + " ".join(argument if " " not in argument else repr(argument) for argument in arguments)
        )
        environment = os.environ | {
            "DATA_GATEWAY_ADMIN": self.listeners["admin"],
            "DATA_GATEWAY_AUTH": self.listeners["auth"],
            "DATA_GATEWAY_SESSION": str(self.directory / "session.json"),
        }
        done = subprocess.run(
            [str(self.binary), *arguments], input=input, capture_output=True, text=True, env=environment, timeout=30
        )
        if done.returncode != 0:
            raise RuntimeError(f"the command failed with exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def provision(self) -> str:
        say("An operator signs in and registers a device")
        self.command("login", "--user", "admin", "--password-stdin", input=self.password + "\n")
        site = json.loads(self.command("site", "create", "Demo site", "--json"))
        suite = json.loads(
            self.command(
                "device", "suite", "create", "--site", str(site["site_id"]), "--display-name", "Demo suite", "--json"
            )
        )
        device = json.loads(
            self.command("device", "register", "--suite", suite["name"], "--display-name", "Demo robot", "--json")
        )
        detail(f"device {device['device_id']} is registered at site {site['site_id']}")
        return device["device_id"]

    # The programs in examples/ act as the device and the user.

    def example(self, name: str, *arguments: str, **environment: str) -> None:
        detail(f"$ .venv/bin/python examples/{name} " + shlex.join(arguments))
        listeners = {"--auth": "auth", "--gateway": "gateway"}
        if name == "device_upload.py":
            listeners["--device-init"] = "device-init"
        command = [sys.executable, str(ROOT / "examples" / name), *arguments]
        for option, listener in listeners.items():
            command += [option, self.listeners[listener]]
        done = subprocess.run(
            command, cwd=self.directory, capture_output=True, text=True, env=os.environ | environment, timeout=120
        )
        for line in done.stdout.splitlines():
            detail(f"  {line}")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())

    def run(self) -> None:
        self.start()
        file = self.directory / "drive-001.mcap"
        file.write_bytes(os.urandom(FILE_SIZE))
        device_id = self.provision()
        say(f"The device fetches its key and uploads {file.name} in parts, through alibabacloud-oss-v2")
        self.example("device_upload.py", device_id, file.name, "--tag", "demo_run=1")
        say(
            "A user signs in, finds the file by its tag and name, and downloads it with the URL that the gateway returns"
        )
        self.example(
            "user_download.py",
            f"demo_run=1 name:{file.stem}*",
            "--to",
            "downloads",
            DATA_GATEWAY_PASSWORD=self.password,
        )
        (received,) = (self.directory / "downloads").glob(f"*/{file.name}")
        sent, got = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (file, received))
        if sent != got:
            raise RuntimeError("the downloaded bytes differ from the uploaded bytes")
        detail(f"{received.stat().st_size:,} bytes, SHA-256 {got}: equal to the uploaded bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / ".build/debug/data-gateway")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="data-gateway-demo-") as directory:
        demo = Demo(arguments.binary.resolve(), Path(directory))
        try:
            demo.run()
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"\nThe demo failed: {error}", file=sys.stderr)
            return 1
        finally:
            demo.stop()
    say("Done: provisioned, uploaded, listed, downloaded, and every byte compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
