"""The view of a person who runs a command in a terminal."""

import fcntl
import os
import re
import struct
import termios
import threading
import time


class Terminal:
    """A pseudo-terminal; pass `client_side` to a process, then call `opened`."""

    _CLEAR = "\r\x1b[2K"

    def __init__(self, columns: int = 80):
        self._ours, self.client_side = os.openpty()
        self.resize(columns)
        self._bytes = b""

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Waits until the process has written the text."""
        deadline = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.05)

    def opened(self) -> "Terminal":
        """Begins to read the process's output, after the process has opened the other side."""
        os.close(self.client_side)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        return self

    def _read(self) -> None:
        try:
            while data := os.read(self._ours, 4096):
                self._bytes += data
        except OSError:
            # Linux reports EIO when the other side is closed.
            pass
        os.close(self._ours)

    def closed(self) -> "Terminal":
        """Waits until the process has ended."""
        self._thread.join()
        return self

    @property
    def text(self) -> str:
        return self._bytes.decode().replace("\r\n", "\n")

    @property
    def drawn(self) -> list[str]:
        """Returns every line that was shown, including lines that were overwritten."""
        pieces = [piece.strip("\r") for line in self.text.split("\n") for piece in line.split(self._CLEAR)]
        return [piece for piece in pieces if piece]

    @property
    def left(self) -> list[str]:
        """Returns the lines that remained."""
        return [line.rsplit(self._CLEAR, 1)[-1] for line in self.text.split("\n")]

    @property
    def percents(self) -> list[int]:
        """Returns the percentages that the bar showed."""
        return [int(match[1]) for line in self.drawn if (match := re.search(r"\] +(\d+)%", line))]
