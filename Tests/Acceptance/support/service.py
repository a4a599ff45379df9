"""A whole service that may lose any of its parts: PostgreSQL with a synchronous standby, Ceph's RGW, three gateways, HAProxy."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engines.postgres import Server

from .buckets import KEY, Bucket
from .gateway import eventually
from .ports import free_port
from .proxy import Proxy
from .raw import fetch_url
from .replicas import ROOT, Replicas
from .static_keys import OWNER
from .uploads import MIB
from .workload import Workload

#: The settings that docs/scale-out.md recommends.
CONFIGURATION = ROOT / "deploy/scale-out/postgresql.conf"
#: The gateway that reaches the database and the engine by relays.
RELAYED = "c"


class Pair:
    """A primary and its synchronous standby, which exchange their roles."""

    def __init__(self):
        self.primary = self._server()
        self.standby: Server | None = None
        self.has_standby = False
        self._servers = [self.primary]
        #: The ports of both, whatever their roles.
        self.ports = [self.primary.port]

    @staticmethod
    def _server(primary: Server | None = None) -> Server:
        places = {"listen_addresses": "127.0.0.1", "port": str(free_port()), "shared_buffers": "256MB"}
        return Server(primary, places, CONFIGURATION)

    def start(self) -> None:
        self.primary.__enter__()
        self.standby = self._server(self.primary)
        self._servers.append(self.standby)
        self.ports.append(self.standby.port)
        self.standby.__enter__()
        self.has_standby = True

    def fail_over(self) -> None:
        """Kills the primary, and promotes the standby. The former primary is the standby when it is `rejoined`."""
        self.primary.kill()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary
        self.has_standby = False

    def rejoin(self) -> None:
        """Makes the former primary the standby."""
        self.standby.follow(self.primary)
        self.has_standby = True

    def close(self) -> None:
        for server in self._servers:
            server.__exit__()


def url(ports: list[int]) -> str:
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://gateway@{hosts}/postgres"


class Service:
    """The parts, each on loopback, and what may happen to them. Call it from the main thread: the parts end with their thread."""

    def __init__(self, binary: Path, folder: Path, report: Callable[[str], None] = lambda _: None):
        """
        :param report: is called with each step of the start.
        """
        self.binary, self.folder = binary, folder
        self.pair, self.bucket, self.replicas = Pair(), None, None
        self._relays: dict[str, list[Proxy]] = {"database": [], "engine": []}
        self._report = report

    def start(self) -> "Service":
        self.pair.start()
        self._report("PostgreSQL serves, with a synchronous standby")
        (engine := self.folder / "engine").mkdir()
        self.bucket = Bucket.start_rados(engine, [KEY])
        self._report("Ceph's RGW serves, with a bucket")
        self._relays["database"] = [Proxy(f"127.0.0.1:{port}") for port in self.pair.ports]
        self._relays["engine"] = [Proxy(self.bucket.address)]
        relays = [int(relay.address.rsplit(":")[-1]) for relay in self._relays["database"]]
        relayed = {
            "database": {"url": url(relays)},
            "objects": self.bucket.settings(address=self._relays["engine"][0].address),
        }
        (gateways := self.folder / "gateways").mkdir()
        self.replicas = Replicas(
            self.binary,
            {"url": url(self.pair.ports)},
            self.bucket.settings(),
            gateways,
            own={RELAYED: relayed},
            uploads={"part_size_bytes": MIB},
            object_store={"static_keys": [OWNER.setting(self.folder)]},
        )
        self.replicas.start()
        self._report("three gateways serve behind HAProxy")
        return self

    def close(self) -> None:
        for relays in self._relays.values():
            for relay in relays:
                relay.close()
        if self.replicas:
            for gateway in self.replicas.gateways.values():
                if gateway.process:
                    gateway.kill()
            self.replicas.close()
        if self.bucket:
            self.bucket.stop()
        self.pair.close()

    def is_ready(self, name: str) -> bool:
        return self._readiness(name) == 200

    def ended(self) -> list[str]:
        """Returns the gateways whose process has ended by itself."""
        processes = {name: gateway.process for name, gateway in self.replicas.gateways.items()}
        return [name for name, process in processes.items() if process and process.poll() is not None]

    def _readiness(self, name: str) -> int | None:
        try:
            return fetch_url(f"http://{self.replicas.gateways[name].listeners['ops']}/readyz").status
        except OSError:
            return None

    # What may happen

    def respawn(self, name: str) -> None:
        """Kills a gateway without warning, and starts it again as its service manager does."""
        self.replicas.gateways[name].kill()
        self._start(name)

    def _start(self, name: str) -> None:
        self.replicas.gateways[name].start()
        eventually(lambda: self.is_ready(name))

    def pause(self, name: str, enough: Callable[[], None]) -> None:
        """Stops a gateway (SIGSTOP) until `enough` returns, and continues it."""
        process = self.replicas.gateways[name].process
        process.send_signal(signal.SIGSTOP)
        try:
            enough()
        finally:
            process.send_signal(signal.SIGCONT)
        eventually(lambda: self.is_ready(name))

    def restart_each(self) -> None:
        """Stops one gateway after the other with its drain (SIGTERM), and starts it again, as an upgrade does."""
        for name, gateway in self.replicas.gateways.items():
            gateway.stop()
            self._start(name)

    def restart_engine(self, enough: Callable[[], None]) -> None:
        """Kills all programs of the engine, and starts them again."""
        self.bucket.kill()
        enough()
        self.bucket.start_again()

    def cut_from(self, place: str, enough: Callable[[], None]) -> None:
        """Lets no byte pass between a gateway and the database or the engine until `enough` returns, as a broken switch does."""
        for relay in self._relays[place]:
            relay.pause()
        try:
            if place == "database":
                eventually(lambda: self._readiness(RELAYED) == 503)
            enough()
        finally:
            for relay in self._relays[place]:
                relay.resume()
        eventually(lambda: self.is_ready(RELAYED))


@dataclass
class Event:
    """Something that may happen to a service. `run` returns when the service is whole again."""

    title: str
    run: Callable[[Service, Workload], None]
    #: Whether there must be a standby before, or must not.
    needs_standby: bool | None = None


def _respawn(service: Service, clients: Workload) -> None:
    service.respawn("a")


def _pause(service: Service, clients: Workload) -> None:
    service.pause("b", clients.go_on)


def _fail_over(service: Service, clients: Workload) -> None:
    service.pair.fail_over()
    clients.go_on()


#: What `deploy/scale-out/demo` offers, and what the test does.
EVENTS = [
    Event("kill a gateway, and start it again", _respawn),
    Event("stop a gateway (SIGSTOP), and continue it", _pause),
    Event("restart the gateways one after the other", lambda service, _: service.restart_each()),
    Event("kill the primary of the database, and promote the standby", _fail_over, needs_standby=True),
    Event(
        "let the former primary follow as the standby (pg_rewind)",
        lambda service, _: service.pair.rejoin(),
        needs_standby=False,
    ),
    Event("kill the engine, and start it again", lambda service, clients: service.restart_engine(clients.notice)),
    Event("cut a gateway from the database", lambda service, clients: service.cut_from("database", clients.go_on)),
    Event("cut a gateway from the engine", lambda service, clients: service.cut_from("engine", clients.go_on)),
]
