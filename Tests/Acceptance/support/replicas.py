"""Several gateways as one service: a PostgreSQL server, a bucket, the gateways, and HAProxy in front of them."""

import os
import subprocess
from pathlib import Path

import grpc

from .gateway import ADMIN_PASSWORD, Gateway, eventually
from .raw import fetch_url

ROOT = Path(__file__).resolve().parents[3]
HAPROXY = ROOT / "deploy/scale-out/haproxy.cfg"
#: The ports of the listeners: the standard ones, at addresses of their own.
PORTS = {
    "auth": 50051,
    "gateway": 50053,
    "admin": 50054,
    "device-init": 50057,
    "object-store": 50080,
    "web": 50070,
    "ops": 50090,
}
#: The listeners that the balancer has.
PUBLIC = ["auth", "gateway", "admin", "device_init"]


def addresses() -> dict[str, str]:
    """Returns addresses of loopback that no other test run uses: that of the balancer, and those of three gateways."""
    # 127.0.0.0/8 is loopback; the two numbers in the middle are made of that of this process.
    network = f"127.{1 + os.getpid() // 250 % 250}.{1 + os.getpid() % 250}"
    return {"balancer": f"{network}.1", "a": f"{network}.2", "b": f"{network}.3", "c": f"{network}.4"}


class Balanced(Gateway):
    """The service as its clients see it: the addresses of the balancer."""

    def __init__(self, address: str):
        self.listeners = {name: f"{address}:{port}" for name, port in PORTS.items() if name != "ops"}
        self.process = None
        self._channels = {}

    def channel(self, listener: str) -> grpc.Channel:
        # With the defaults of the library, which repeats a call that no server has begun to execute (RFC 9113, section 8.7).
        if listener not in self._channels:
            self._channels[listener] = grpc.insecure_channel(self.listeners[listener])
        return self._channels[listener]


class Replicas:
    """A service of three gateways. `service` are the addresses for clients, `gateways` the three."""

    def __init__(
        self, binary: Path, database: dict, objects: dict, folder: Path, own: dict[str, dict] | None = None, **settings
    ):
        """
        :param database: the URL and the schema.
        :param objects: the settings of the bucket.
        :param own: further settings of single gateways, in place of those of all.
        """
        self.addresses = addresses()
        self.service = Balanced(self.addresses["balancer"])
        self._folder = folder
        root_key = {"root_key_file": str(folder / "root.key")}
        public = {name: f"http://{self.service.listeners[name.replace('_', '-')]}" for name in PUBLIC}
        config = {
            "replicas": {"enabled": True},
            "rpc": {"trusted_proxies": ["127.0.0.0/8"]},
            "objects": objects,
        } | settings
        store = {"public_endpoint": f"http://{self.service.object_store}"}
        config["object_store"] = store | settings.get("object_store", {})
        config["listeners"] = {"public": public} | settings.get("listeners", {})
        self.gateways = {}
        for name in "abc":
            each = config | {"database": database} | (own or {}).get(name, {})
            each["database"] = each["database"] | root_key
            self.gateways[name] = self._gateway(binary, name, each)
        self._balancer: subprocess.Popen | None = None

    def _gateway(self, binary: Path, name: str, config: dict) -> Gateway:
        (folder := self._folder / name).mkdir()
        gateway = Gateway(binary, folder, config)
        gateway.listeners |= {each: f"{self.addresses[name]}:{port}" for each, port in PORTS.items()}
        return gateway

    def start(self) -> "Replicas":
        first = self.gateways["a"]
        (password := self._folder / "password").write_text(ADMIN_PASSWORD + "\n")
        password.chmod(0o600)
        subprocess.run(
            [first.binary, "cluster", "init", "--config", first.config, "--password-file", password],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for gateway in self.gateways.values():
            gateway.start()
        self._start_balancer()
        return self

    def _start_balancer(self) -> None:
        variables = {f"GATEWAY_{name.upper()}": self.addresses[name] for name in "abc"}
        variables |= {"LISTEN": self.addresses["balancer"], "REPEATABLE": str(HAPROXY.with_name("repeatable.lst"))}
        with open(self._folder / "haproxy.log", "ab") as log:
            self._balancer = subprocess.Popen(
                ["haproxy", "-db", "-f", HAPROXY], stdout=log, stderr=log, env=os.environ | variables
            )
        eventually(self._is_served)

    def _is_served(self) -> bool:
        try:
            return fetch_url(f"http://{self.service.listeners['web']}/.well-known/data-gateway").status == 200
        except OSError:
            return False

    def holder(self, description: str) -> Gateway:
        """Returns the gateway that a row of leases describes."""
        (holder,) = (each for each in self.gateways.values() if f"process {each.process.pid} " in description)
        return holder

    def close(self) -> None:
        if self._balancer is not None:
            self._balancer.kill()
            self._balancer.wait()
        self.service.forget_channels()
        for gateway in self.gateways.values():
            gateway.close()
