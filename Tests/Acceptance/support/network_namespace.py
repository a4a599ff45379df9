"""A network of its own, with addresses and host names that no other process of the machine sees."""

import subprocess
from pathlib import Path


class NetworkNamespace:
    """A namespace with these addresses and this file as /etc/hosts. Only root can make one."""

    def __init__(self, addresses: list[str], hosts: Path):
        setup = "ip link set lo up\n"
        setup += "".join(f"ip address add {address}/32 dev lo\n" for address in addresses)
        setup += f"mount --bind {hosts} /etc/hosts\n"
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation=private", "sh", "-ec", f"{setup}echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n"

    @property
    def wrapper(self) -> list[str]:
        """The command that runs another one there."""
        return ["nsenter", "--net", "--mount", f"--target={self.process.pid}"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
