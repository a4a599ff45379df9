"""The servers for the echo benchmark: the gateway's library and its peers, each on the servers' core."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, SERVER_CORE
from support.certificates import Authority
from support.echo import EchoServer

ECHO = ROOT / "Benchmarks" / "Echo"
#: The folder of built peers.
BUILT = ROOT / ".build" / "benchmarks"
ON_SERVER_CORE = ("taskset", "-c", str(SERVER_CORE))


@dataclass
class Server:
    name: str
    pid: int
    address: str
    url: str
    is_grpc: bool = True
    #: The share of the calls that this server gets; a slow one needs fewer for a measurement.
    share: float = 1


@contextlib.contextmanager
def start_ours(name: str, binary: Path, authority: Authority | None = None) -> Iterator[Server]:
    files = authority.issue("server")[:2] if authority else ()
    with echo(name, 1, binary, *files) as server:
        if authority:
            server.url = server.url.replace("http:", "https:")
        yield server


@contextlib.contextmanager
def echo(name: str, share: float, *command: str | Path) -> Iterator[Server]:
    with EchoServer(*ON_SERVER_CORE, *command) as running:
        url = f"http://{running.address}/benchmark.Echo/Say"
        yield Server(name, running.process.pid, running.address, url, share=share)


def peers(directory: Path) -> list[contextlib.AbstractContextManager[Server]]:
    """Returns the available peers; for each missing one, standard error says how to get it."""
    found = [nghttpd(directory)]
    if (program := grpc_cpp()) is not None:
        found.append(echo("gRPC C++, callback API", 0.25, program))
    if (program := grpc_swift()) is not None:
        found.append(echo("grpc-swift-2", 0.1, program))
    return found


@contextlib.contextmanager
def nghttpd(directory: Path) -> Iterator[Server]:
    """nghttpd with a file of 50 bytes, requested with GET."""
    (directory / "file").write_bytes(b"x" * 50)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = shutil.which("nghttpd") or "/usr/sbin/nghttpd"
    command = [*ON_SERVER_CORE, program, "--no-tls", "-a", "127.0.0.1", "-d", str(directory), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        address = f"127.0.0.1:{port}"
        yield Server("nghttpd, a file of 50 bytes", process.pid, address, f"http://{address}/file", is_grpc=False)
    finally:
        process.terminate()
        process.wait()


def grpc_cpp() -> Path | None:
    plugin = shutil.which("grpc_cpp_plugin")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"], capture_output=True, text=True)
    compiler = shutil.which("g++") or shutil.which("clang++")
    if plugin is None or flags.returncode != 0 or compiler is None:
        skip("gRPC C++", "apt-get install g++ libgrpc++-dev protobuf-compiler-grpc")
        return None
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / "echo-server-grpc-cpp"
    source = ECHO / "CPlusPlus" / "server.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        generate = ["protoc", "-I", ECHO, f"--cpp_out={BUILT}", f"--grpc_out={BUILT}"]
        subprocess.run([*generate, f"--plugin=protoc-gen-grpc={plugin}", "echo.proto"], check=True)
        generated = [BUILT / "echo.pb.cc", BUILT / "echo.grpc.pb.cc"]
        command = [compiler, "-O2", "-std=c++17", "-I", BUILT, source, *generated, "-o", program]
        subprocess.run([*command, *flags.stdout.split()], check=True)
    return program


def grpc_swift() -> Path | None:
    """Builds grpc-swift in a package of its own, whose dependencies SwiftPM fetches; the first build takes a quarter
    of an hour.
    """
    build = ["swift", "build", "--package-path", ECHO / "GRPCSwift", "-c", "release"]
    if subprocess.run(build, stdout=sys.stderr, env=os.environ).returncode != 0:
        skip("grpc-swift-2", "a network where SwiftPM reaches github.com")
        return None
    shown = subprocess.run([*build, "--show-bin-path"], capture_output=True, text=True, check=True)
    return Path(shown.stdout.strip()) / "echo-server-grpc-swift"


def skip(name: str, remedy: str) -> None:
    print(f"{name} is left out; to measure it: {remedy}", file=sys.stderr)
