"""Sign-ins, and calls with a cached token, per second of CPU, compared with grpc.health.v1.Health/Check."""

import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from google.protobuf.message import Message
from measuring import CLIENT_CORE, ROOT, cpu_seconds, figure, gateway
from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, Uploader, User

ROUNDS = 5
CALLS = 50_000


class Load:
    """One call, repeated by h2load on 8 connections with 32 streams each."""

    def __init__(self, directory: Path, listener: str, path: str, request: Message | None = None, token: str = ""):
        content = request.SerializeToString() if request is not None else b""
        message = directory / path.replace("/", "_")
        message.write_bytes(b"\0" + len(content).to_bytes(4, "big") + content)
        self.command = ["taskset", "-c", str(CLIENT_CORE), "h2load", "-n", str(CALLS), "-c", "8", "-m", "32"]
        self.command += ["-d", str(message), "-H", "te: trailers", "-H", "content-type: application/grpc"]
        if token:
            self.command += ["-H", f"authorization: Bearer {token}"]
        self.command.append(f"http://{listener}{path}")
        self.rates: list[float] = []

    def run(self, pid: int) -> None:
        """Every call must get a response; whether it was the right one is checked at the end."""
        before = cpu_seconds(pid)
        output = subprocess.run(self.command, capture_output=True, text=True, check=True, timeout=300).stdout
        assert f"{CALLS} succeeded, 0 failed" in output, output
        self.rates.append(CALLS / (cpu_seconds(pid) - before))


def refusals(listener: str) -> list[str]:
    """Returns the counts of calls with a status other than OK, which h2load does not read."""
    with urllib.request.urlopen(f"http://{listener}/metrics") as response:
        lines = response.read().decode().splitlines()
    counts = [line for line in lines if line.startswith("grpc_server_handled_total") and '"OK"' not in line]
    return [line for line in counts if not line.endswith(" 0")]


def main(binary: str) -> None:
    with tempfile.TemporaryDirectory() as name, gateway(binary) as ours:
        directory = Path(name)
        (directory / "stubs").mkdir()
        stubs = stubs_module.load(ROOT / "protos", directory / "stubs")
        user = User.login(ours, stubs, "system", "admin", ADMIN_PASSWORD)
        fleet = Fleet.create(user)
        key = user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="benchmark")
        uploader = Uploader(ours, stubs, key.credential).sign_in()
        upload = uploader.create()

        auth, gateway_address = ours.listeners["auth"], ours.listeners["gateway"]
        exchange = stubs.auth.ExchangeCredentialRequest(credential=key.credential)
        recovery = stubs.gateway.GetUploadRecoveryRequest(logical_upload_id=upload.logical_upload_id)
        listing = stubs.gateway.ListObjectsRequest(page_size=1)

        service = "/archebase.data_gateway.v1."
        health = Load(directory, auth, "/grpc.health.v1.Health/Check")
        loads = {
            "exchange_credential": Load(directory, auth, "/archebase.auth.v1.AuthService/ExchangeCredential", exchange),
            "get_upload_recovery": Load(
                directory, gateway_address, f"{service}DataGatewayService/GetUploadRecovery", recovery, uploader.token
            ),
            "list_objects": Load(
                directory, gateway_address, f"{service}DataGatewayObjectService/ListObjects", listing, user.token
            ),
        }
        for _ in range(ROUNDS):
            for load in [health, *loads.values()]:
                load.run(ours.process.pid)
        assert refusals(ours.listeners["ops"]) == []
        for name, load in loads.items():
            figure(f"accounts.{name}.per_core", load.rates, "calls/s", "grpc.health.v1.Health/Check", health.rates)


main(sys.argv[1])
