"""The echo server of the benchmarks in a process of its own, and the number of allocations of its calls."""

import json
import os
import select
import subprocess
from pathlib import Path

from support.counters import Counters
from support.unary import UnaryChannel

from .waiting import WAIT_SECONDS

#: 50 bytes.
TEXT = b"robot 261121-000001 says hello to the data gateway"
#: An EchoMessage with its prefix.
MESSAGE = b"\0" + (2 + len(TEXT)).to_bytes(4, "big") + b"\x0a" + bytes([len(TEXT)]) + TEXT


class Server:
    """Any program that prints the ready line: the gateway's or another implementation's."""

    def __init__(self, *command: str | Path, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        readable, _, _ = select.select([self.process.stdout], [], [], WAIT_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            self.close()
            raise AssertionError(f"{command[0]} said no ready line")
        self.listeners = json.loads(line)["listeners"]

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class EchoServer(Server):
    """A server of the echo benchmark."""

    @property
    def address(self) -> str:
        return self.listeners["echo"]


def allocations_per_call(binary: Path, directory: Path, warm_up: int = 200, calls: int = 1000) -> float:
    """Returns the allocations of sequential calls on one connection, each with one read and one write. directory: the
    folder for the counters' files; it is created.
    """
    counters = Counters(binary.with_name("libcounters.so"), directory)
    with EchoServer(binary, environment=counters.environment) as server, UnaryChannel(server.address) as channel:

        def call() -> None:
            assert channel.call("/benchmark.Echo/Say", MESSAGE[5:]) == MESSAGE[5:]

        for _ in range(1 + warm_up):
            call()
        before = counters.allocations
        for _ in range(calls):
            call()
        return (counters.allocations - before) / calls
