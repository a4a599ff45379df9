"""The interop server: `grpc.testing.TestService` on our stack, in a process of its own."""

import json
import select
import subprocess
from pathlib import Path

import grpc

START_TIMEOUT = 30


class InteropServer:
    def __init__(self, binary: Path):
        self.process = subprocess.Popen([str(binary)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        readable, _, _ = select.select([self.process.stdout], [], [], START_TIMEOUT)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            self.close()
            raise AssertionError("the interop server said no ready line")
        self.address = json.loads(line)["listeners"]["interop"]

    def channel(self, *options: tuple[str, int]) -> grpc.Channel:
        """A connection of its own."""
        own = ("grpc.use_local_subchannel_pool", 1)
        return grpc.insecure_channel(self.address, options=[("grpc.enable_retries", 0), own, *options])

    @property
    def resident_bytes(self) -> int:
        """Memory that the process holds now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the interop server has ended")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
