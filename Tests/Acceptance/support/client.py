"""The gateway's own client: `data-gateway upload` and related commands, used like by a device and by a user."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .commands import OK, CommandLine
from .gateway import Gateway
from .parties import Fleet
from .proxy import HOLD_TIMEOUT, Proxy
from .waiting import WAIT_SECONDS


class Network:
    """A gateway with a proxy before each listener for devices; issued addresses are those of the proxies."""

    def __init__(self, gateway_with, config: dict | None = None):
        self.auth, self.rpc, self.device_init = Proxy(), Proxy(), Proxy()
        self.store = Proxy(http="tls" not in (config or {}))
        scheme = "http" if self.store.http else "https"
        config = {"object_store": {"public_endpoint": f"{scheme}://{self.store.address}"}} | (config or {})
        self.gateway: Gateway = gateway_with(config)
        self.point_at(self.gateway)

    def point_at(self, gateway: Gateway) -> None:
        for proxy, listener in (
            (self.auth, "auth"),
            (self.rpc, "gateway"),
            (self.device_init, "device-init"),
            (self.store, "object-store"),
        ):
            proxy.target = gateway.listeners[listener]

    def restart(self) -> None:
        """Kills and restarts the gateway."""
        self.gateway.kill()
        for proxy in self.proxies:
            proxy.cut()
        self.gateway.start()
        self.point_at(self.gateway)

    @property
    def proxies(self) -> list[Proxy]:
        return [self.auth, self.rpc, self.device_init, self.store]

    def close(self) -> None:
        for proxy in self.proxies:
            proxy.close()


@dataclass
class Device:
    """A device's folder, and its commands."""

    binary: Path
    network: Network
    folder: Path
    device_id: str = ""
    #: The scheme of the endpoints other than auth.
    scheme: str = "http"
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """Returns the words before the arguments."""
        return [str(self.binary)]

    @property
    def config(self) -> dict:
        return json.loads((self.folder / "archebase-config.json").read_text())

    @property
    def journals(self) -> list[Path]:
        return sorted((self.folder / "uploads").glob("*")) if (self.folder / "uploads").exists() else []

    def events(self) -> list[str]:
        """Returns the kinds of the events in the only journal."""
        (journal,) = self.journals
        return [next(iter(json.loads(line))) for line in journal.read_text().splitlines()]

    def copy(self, folder: Path) -> "Device":
        """Copies the device's key to a folder of its own."""
        folder.mkdir()
        for name in ("archebase-config.json", "archebase-endpoints.json"):
            shutil.copy(self.folder / name, folder / name)
        return type(self)(self.binary, self.network, folder, self.device_id)

    def init(self, device_id: str, *options: str) -> subprocess.CompletedProcess:
        network = self.network
        self.device_id = device_id
        return self.run(
            "init",
            device_id,
            *("--auth", f"http://{network.auth.address}"),
            *("--gateway", f"{self.scheme}://{network.rpc.address}"),
            *("--device-init", f"{self.scheme}://{network.device_init.address}"),
            *options,
        )

    def join(self, fleet: Fleet, **fields) -> "Device":
        """Registers the device, and initializes it."""
        done = self.init(fleet.register(**fields).device_id)
        assert done.returncode == OK, done.stderr
        return self

    def start(self, *arguments, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE) -> subprocess.Popen:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "DATA_GATEWAY_DEVICE_DIR": str(self.folder),
        }
        return subprocess.Popen(
            [*self.command, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            env=environment | self.environment,
        )

    def run(self, *arguments) -> subprocess.CompletedProcess:
        process = self.start(*arguments)
        try:
            output, errors = process.communicate(timeout=WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{arguments} did not end: {process.communicate()}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def done(self, *arguments) -> str:
        """Returns the output of a command that must succeed."""
        result = self.run(*arguments)
        assert result.returncode == OK, (result.returncode, result.stdout, result.stderr)
        return result.stdout

    def events_of(self, *arguments) -> list[dict]:
        """Returns the --json output of a command that must succeed."""
        return [json.loads(line) for line in self.done(*arguments, "--json").splitlines()]

    def refused(self, code: int, *arguments) -> str:
        """Returns the error message of a command that must fail with the exit code."""
        result = self.run(*arguments)
        assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
        return result.stderr


class Stage:
    """A point at which a client is stopped: it waits there until it is killed, or released."""

    def __init__(self):
        self._reached, self._gate = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._reached.set()
        self._gate.wait(HOLD_TIMEOUT)

    def wait(self) -> None:
        assert self._reached.wait(HOLD_TIMEOUT), "the client never came there"

    def let_go(self) -> None:
        self._gate.set()

    def kill(self, client: subprocess.Popen, network: Network) -> None:
        """Kills the client at that point, like a power cut; bytes in transit are lost."""
        self.wait()
        end(client, signal.SIGKILL)
        for proxy in network.proxies:
            proxy.release()
        self.let_go()


def partial_name(name: str, file_id: str) -> str:
    """Returns the name of the file into which `download` writes an object until it is complete."""
    ending = f".{hashlib.sha256(file_id.encode()).hexdigest()[:16]}.part"
    return name[: 255 - len(ending)] + ending


def end(client: subprocess.Popen, number: int) -> tuple[str, str]:
    """Sends the signal, waits for the end, and returns the client's output."""
    client.send_signal(number)
    return client.communicate(timeout=WAIT_SECONDS)


class SignedIn(CommandLine):
    """The command line of a user who is signed in, with the session in its usual place in the home folder."""

    def __init__(self, binary: Path, gateway: Gateway, directory: Path):
        super().__init__(binary, gateway, directory)
        del self.environment["DATA_GATEWAY_SESSION"]
        self.login()

    def start(self, *arguments) -> subprocess.Popen:
        return subprocess.Popen(
            [str(self.binary), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    def done(self, *arguments) -> str:
        result = self.run(*arguments)
        assert result.returncode == OK, (result.returncode, result.stdout, result.stderr)
        return result.stdout

    def objects(self, filter: str = "", *options: str) -> list[dict]:
        return json.loads(self.done("ls", filter, *options, "--json"))["objects"]
