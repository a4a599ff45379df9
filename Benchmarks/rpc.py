"""CPU per call: grpc.health.v1.Health/Check under h2load, beside nghttpd serving a file of 50 bytes."""

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import CLIENT_CORE, SERVER_CORE, cpu_seconds, figure, gateway, resident_mebibytes

ROUNDS = 5
CALLS = 200_000


def load(url: str, *extra: str) -> None:
    """8 connections with 32 streams each; every call must succeed."""
    command = ["taskset", "-c", str(CLIENT_CORE), "h2load", "-n", str(CALLS), "-c", "8", "-m", "32", *extra, url]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert f"{CALLS} succeeded, 0 failed" in output, output


def cpu_per_100k(pid: int, url: str, *extra: str) -> float:
    before = cpu_seconds(pid)
    load(url, *extra)
    return (cpu_seconds(pid) - before) * 100_000 / CALLS


@contextlib.contextmanager
def nghttpd(directory: Path):
    """nghttpd on the server's core, with `/file`; gives its process and port."""
    (directory / "file").write_bytes(b"x" * 50)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = shutil.which("nghttpd") or "/usr/sbin/nghttpd"
    command = ["taskset", "-c", str(SERVER_CORE), program, "--no-tls", "-a", "127.0.0.1", "-d", str(directory), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield process, port
    finally:
        process.terminate()
        process.wait()


def main(binary: str) -> None:
    with tempfile.TemporaryDirectory() as directory, nghttpd(Path(directory)) as (peer, peer_port), gateway(binary) as ours:
        message = Path(directory) / "message"
        message.write_bytes(bytes(5))
        url = f"http://{ours.listeners['auth']}/grpc.health.v1.Health/Check"
        call = ["-d", str(message), "-H", "te: trailers", "-H", "content-type: application/grpc"]
        idle = resident_mebibytes(ours.process.pid)
        our_cpu, peer_cpu, loaded = [], [], []
        for _ in range(ROUNDS):
            our_cpu.append(cpu_per_100k(ours.process.pid, url, *call))
            loaded.append(resident_mebibytes(ours.process.pid))
            peer_cpu.append(cpu_per_100k(peer.pid, f"http://127.0.0.1:{peer_port}/file"))
        figure("rpc.health_check.cpu_per_100k_calls", our_cpu, "s", "nghttpd, a file of 50 bytes", peer_cpu)
        figure("rpc.resident.idle", [idle], "MiB")
        figure("rpc.resident.after_load", loaded, "MiB")


main(sys.argv[1])
