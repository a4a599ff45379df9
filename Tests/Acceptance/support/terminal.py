"""The view of a person who runs a command in a terminal."""

import fcntl
import os
import re
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

from .waiting import WAIT_SECONDS


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

    def wait_for(self, text: str, seconds: float = WAIT_SECONDS) -> None:
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

    @classmethod
    def running(cls, command: list, environment: dict[str, str], folder: Path, columns: int = 100) -> "Terminal":
        """Starts a process whose controlling terminal it is."""
        terminal = cls(columns)
        terminal.process = subprocess.Popen(
            ["setsid", "--ctty", *map(str, command)],
            stdin=terminal.client_side,
            stdout=terminal.client_side,
            stderr=terminal.client_side,
            env=environment,
            cwd=folder,
        )
        return terminal.opened()

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


class Shell:
    """A bash in a terminal, in which a person types commands."""

    _PROMPT = "here> "

    def __init__(self, environment: dict[str, str], folder: Path, columns: int = 100):
        self.terminal = Terminal.running(
            ["bash", "--norc", "--noprofile", "-i"],
            environment | {"PS1": self._PROMPT, "TERM": "xterm", "HISTFILE": "/dev/null"},
            folder,
            columns,
        )
        self.terminal.wait_for(self._PROMPT)
        # Typed text is not echoed; the marks around a command's output are.
        self.run("bind 'set enable-bracketed-paste off' 2> /dev/null; stty -echo")

    def run(self, line: str, seconds: float = WAIT_SECONDS) -> str:
        """Types a line, and returns the output of a command that must succeed."""
        output, code = self.tried(line, seconds)
        assert code == 0, f"{line}\n{output}"
        return output

    def tried(self, line: str, seconds: float = WAIT_SECONDS) -> tuple[str, int]:
        """Types a line, and returns the command's output and exit code."""
        self._count = getattr(self, "_count", 0) + 1
        begin, end = f"<{self._count}:", f":{self._count}>"
        # The marks are put together by the shell, so that an echo of the line does not contain them.
        self.terminal.type(f"printf '<%s:' {self._count}; {line}\nprintf '[%s]:%s>' $? {self._count}\n")
        self.terminal.wait_for(end, seconds)
        output = self.terminal.text.split(begin)[-1].split(end)[0]
        output, code = output.rsplit("[", 1)
        return output.replace(self._PROMPT, ""), int(code[:-1])

    def close(self) -> None:
        self.terminal.type("exit\n")
        self.terminal.process.wait(30)
        self.terminal.closed()
