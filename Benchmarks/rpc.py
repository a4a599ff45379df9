"""An echo of 50 bytes through the whole RPC stack, compared with other servers: CPU per call, latency, memory, allocations."""

import resource
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from echo_peers import Server, peers, start_ours
from measuring import CLIENT_CORE, cpu_seconds, figure, gateway, resident_mebibytes
from support.certificates import Authority
from support.echo import MESSAGE, allocations_per_call
from support.h2raw import Peer

ROUNDS = 5
CALLS = 200_000
LATENCY_CALLS = 40_000
IDLE_CONNECTIONS = 5000
CPU = "rpc.echo.cpu_per_100k_calls"


class Load:
    """h2load on the client's core, with the echo's message; every call must succeed."""

    def __init__(self, directory: Path):
        self.message = directory / "message"
        self.message.write_bytes(MESSAGE)
        self.log = directory / "log"

    def run(self, server: Server, calls: int, streams: int, *options: str) -> None:
        command = ["taskset", "-c", str(CLIENT_CORE), "h2load", "-n", str(calls), "-c", "8", "-m", str(streams)]
        if server.is_grpc:
            command += ["-d", str(self.message), "-H", "te: trailers", "-H", "content-type: application/grpc"]
        command += [*options, server.url]
        output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
        assert f"{calls} succeeded, 0 failed" in output, output

    def cpu_per_100k(self, server: Server) -> float:
        """Returns the CPU seconds; with 8 connections of 32 streams each."""
        calls = int(CALLS * server.share)
        before = cpu_seconds(server.pid)
        self.run(server, calls, 32)
        return (cpu_seconds(server.pid) - before) * 100_000 / calls

    def latencies(self, server: Server) -> tuple[int, int]:
        """Returns the median and the 99th percentile in microseconds; with 8 connections of one stream each."""
        self.log.unlink(missing_ok=True)
        self.run(server, int(LATENCY_CALLS * server.share), 1, f"--log-file={self.log}")
        times = sorted(int(line.split()[2]) for line in self.log.read_text().splitlines())
        return times[len(times) // 2], times[len(times) * 99 // 100]


def measure_servers(load: Load, ours: Server, secure: Server, others: list[Server]) -> None:
    contenders = [ours, secure, *others]
    cpu = {server.name: [] for server in contenders}
    half, most = ({server.name: [] for server in contenders} for _ in range(2))
    loaded = []
    for server in contenders:
        load.run(server, int(CALLS * server.share / 10), 32)
    for _ in range(ROUNDS):
        for server in contenders:
            cpu[server.name].append(load.cpu_per_100k(server))
            if server is ours:
                loaded.append(resident_mebibytes(server.pid))
            p50, p99 = load.latencies(server)
            half[server.name].append(p50)
            most[server.name].append(p99)
    for other in others:
        figure(CPU, cpu[ours.name], "s", other.name, cpu[other.name])
    figure(f"{CPU}.tls", cpu[secure.name], "s", "the same in cleartext", cpu[ours.name])
    for name, times in {"p50": half, "p99": most}.items():
        for other in others:
            figure(f"rpc.echo.{name}", times[ours.name], "us", other.name, times[other.name])
        figure(f"rpc.echo.{name}.tls", times[secure.name], "us", "the same in cleartext", times[ours.name])
    figure("rpc.echo.resident.under_load", loaded, "MiB")


def measure_idle_connections(name: str, server: Server, context=None) -> None:
    """Measures the memory of a connection after both sides' SETTINGS."""
    with ExitStack() as stack:
        for _ in range(100):
            Peer(server.address, tls=context).socket.close()
        before = resident_mebibytes(server.pid)
        for _ in range(IDLE_CONNECTIONS):
            stack.enter_context(Peer(server.address, tls=context))
        grown = resident_mebibytes(server.pid) - before
    figure(name, [grown * 1024 / IDLE_CONNECTIONS], "KiB")


def measure_gateway(binary: str, load: Load) -> None:
    """Measures the gateway's own memory, with all its listeners; the message of a health check is negligible."""
    load.message.write_bytes(bytes(5))
    with gateway(binary) as running:
        pid = running.process.pid
        figure("rpc.gateway.resident.idle", [resident_mebibytes(pid)], "MiB")
        url = f"http://{running.listeners['auth']}/grpc.health.v1.Health/Check"
        load.run(Server("the gateway", pid, running.listeners["auth"], url), CALLS, 32)
        figure("rpc.gateway.resident.after_load", [resident_mebibytes(pid)], "MiB")


def main(binary: Path) -> None:
    # A descriptor for each idle connection, in the servers and in this process.
    resource.setrlimit(resource.RLIMIT_NOFILE, (IDLE_CONNECTIONS * 2,) * 2)
    echo_server = binary.with_name("echo-server")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        load = Load(directory)
        authority = Authority(directory, "authority")
        ours = stack.enter_context(start_ours("ours", echo_server))
        secure = stack.enter_context(start_ours("ours over TLS", echo_server, authority))
        measure_servers(load, ours, secure, [stack.enter_context(peer) for peer in peers(directory)])
        measure_idle_connections("rpc.idle_connection", stack.enter_context(start_ours("idle", echo_server)))
        measure_idle_connections(
            "rpc.idle_connection.tls", stack.enter_context(start_ours("idle over TLS", echo_server, authority)),
            authority.client_context(),
        )  # fmt: skip
        figure("rpc.echo.allocations_per_call", [allocations_per_call(echo_server, directory / "count")], "allocations")
        measure_gateway(str(binary), load)


main(Path(sys.argv[1]))
