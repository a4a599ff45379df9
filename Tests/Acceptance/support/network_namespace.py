"""A network of its own, with addresses and host names that no other process of the machine sees."""

import subprocess
from pathlib import Path


class NetworkNamespace:
    """A namespace with these addresses, and with the file `hosts` as /etc/hosts. Only root can make one.

    With `root`, its commands run in that folder as their root.
    """

    def __init__(self, addresses: list[str], hosts: Path, root: Path | None = None):
        self._root = root or Path("/")
        setup = ["ip link set lo up", *(f"ip address add {address}/32 dev lo" for address in addresses)]
        if root:
            # As a mount of its own, in which commands can make further namespaces.
            setup += [f"mount --bind {root} {root}", f"mount -t proc proc {root}/proc"]
        setup.append(f"mount --bind {hosts} {self._root}/etc/hosts")
        command = "\n".join([*setup, "echo ready", "exec cat"])
        self._process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation=private", "sh", "-ec", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == "ready\n"

    @property
    def entry(self) -> list[str]:
        """The command that runs another one of this machine there."""
        return ["nsenter", "--net", "--mount", f"--target={self._process.pid}"]

    def command(self, folder: Path) -> list[str]:
        """Returns the command that runs another one there, in a folder below the root."""
        return [*self.entry, "chroot", str(self._root), "env", f"--chdir=/{folder.relative_to(self._root)}"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
