"""A network in front of a PostgreSQL server."""

import signal
import subprocess
import tempfile
import time
from pathlib import Path

from .postgres import Server
from .sources import ROOT

_SOCKET = ".s.PGSQL.5432"
_START_SECONDS = 10


class Network:
    """A Unix socket through which others reach a server, with a delay. While it is cut, nothing arrives in either direction, and no
    connection ends; what was sent meanwhile arrives afterwards."""

    def __init__(self, server: Server, microseconds: int = 0):
        """
        :param microseconds: the added duration of a round trip.
        """
        program = ROOT / ".build" / "network"
        subprocess.run(["gcc", "-O2", "-o", program, Path(__file__).with_suffix(".c")], check=True)
        self._folder = tempfile.TemporaryDirectory(prefix="gateway-network-")
        #: The folder of the socket.
        self.folder = Path(self._folder.name)
        # The server of a standby has another user.
        self.folder.chmod(0o755)
        socket = self.folder / _SOCKET
        command = [program, socket, server.directory / _SOCKET, str(microseconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
        deadline = time.monotonic() + _START_SECONDS
        while not socket.exists():
            assert self._process.poll() is None and time.monotonic() < deadline, "the network does not start"
            time.sleep(0.01)
        socket.chmod(0o777)

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_) -> None:
        self.heal()
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def cut(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def heal(self) -> None:
        self._process.send_signal(signal.SIGCONT)
