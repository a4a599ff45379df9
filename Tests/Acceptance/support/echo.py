"""The echo server of the benchmarks, in a process of its own, and the allocations that its calls make."""

import json
import os
import select
import struct
import subprocess
from pathlib import Path

from support import h2raw
from support.h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer

START_TIMEOUT = 30
#: 50 bytes.
TEXT = b"robot 261121-000001 says hello to the data gateway"
#: An EchoMessage with its prefix.
MESSAGE = b"\0" + (2 + len(TEXT)).to_bytes(4, "big") + b"\x0a" + bytes([len(TEXT)]) + TEXT


class EchoServer:
    """Any program that says the ready line: ours, or a peer's."""

    def __init__(self, *command: str | Path, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        readable, _, _ = select.select([self.process.stdout], [], [], START_TIMEOUT)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            self.close()
            raise AssertionError(f"{command[0]} said no ready line")
        self.address = json.loads(line)["listeners"]["echo"]

    def __enter__(self) -> "EchoServer":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class AllocationCount:
    """What a program that was started with `environment` has asked of its allocator so far."""

    def __init__(self, library: Path, file: Path):
        file.write_bytes(bytes(8))
        self._file = file
        self.environment = {"LD_PRELOAD": str(library), "ALLOCATIONS_FILE": str(file)}

    @property
    def value(self) -> int:
        return struct.unpack("=Q", self._file.read_bytes())[0]


def allocations_per_call(binary: Path, file: Path, warm_up: int = 200, calls: int = 1000) -> float:
    """Of call after call on one connection, as a client makes them that keeps HPACK's table: each a read and a write."""
    count = AllocationCount(binary.with_name("liballocations.so"), file)
    with EchoServer(binary, environment=count.environment) as server, Peer(server.address) as peer:
        fields = [
            (":method", "POST"), (":scheme", "http"), (":path", "/benchmark.Echo/Say"), (":authority", peer.authority),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ]  # fmt: skip
        # Entered into the table by the first call, the last of them at its first place behind the static ones.
        entered = b"".join(b"\x40" + h2raw.string(name) + h2raw.string(value) for name, value in fields)
        known = bytes(0x80 | (61 + len(fields) - index) for index in range(len(fields)))
        streams = iter(range(1, 2**31, 2))

        def call(head: bytes) -> None:
            stream = next(streams)
            request = h2raw.frame(HEADERS, END_HEADERS, stream, head) + h2raw.frame(DATA, END_STREAM, stream, MESSAGE)
            peer.raw(request)
            assert peer.expect(DATA, stream).payload == MESSAGE
            peer.expect_end(stream)

        peer.window_update(0, 2**30)
        call(entered)
        for _ in range(warm_up):
            call(known)
        before = count.value
        for _ in range(calls):
            call(known)
        return (count.value - before) / calls
