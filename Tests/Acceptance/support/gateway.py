"""A gateway process under test: started on free ports, monitored, stopped, killed, restarted."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

import grpc

from . import database_engine, object_engine, sql_recorder
from .ports import free_port
from .waiting import WAIT_SECONDS

ADMIN_PASSWORD = "correct horse battery staple"
#: The listeners that exist in every configuration.
LISTENERS = ("auth", "gateway", "admin", "device-init", "object-store", "web", "ops")
START_ATTEMPTS = 10
ANY_PORT = "127.0.0.1:0"


class Gateway:
    """One data directory and the process that serves it.

    `listeners` maps a listener's name to its `host:port`; a restart keeps them.
    """

    def __init__(self, binary: Path, directory: Path, config: dict | None = None):
        self.binary = binary
        self.directory = directory
        self.data = directory / "data"
        self.config = directory / "config.json5"
        self.config.write_text(json.dumps(config or {}, indent=2))
        #: The command that starts the program; `data` and `config` are paths as the program sees them.
        self.wrapper: list[str] = []
        #: Additional environment variables of the process. A small reserve, since hundreds of data directories stay
        #: until the end of the run.
        self.environment: dict[str, str] = {"DATA_GATEWAY_DATABASE__RESERVE_BYTES": "65536"}
        configured = (config or {}).get("listeners", {})
        self.listeners: dict[str, str] = {
            name: f"127.0.0.1:{free_port()}" for name, value in configured.items() if value == ANY_PORT
        }
        #: The listeners that the configuration disables.
        self.off = {name for name in LISTENERS if configured.get(name.replace("-", "_")) == "off"}
        self.process: subprocess.Popen | None = None
        #: The exit code of the process that was killed last; -9 if it had not ended by itself.
        self.exit_code: int | None = None
        self._stderr = directory / "stderr.log"
        self._channels: dict[str, grpc.Channel] = {}

    def start(self) -> "Gateway":
        """Starts the process and returns once it has reported that every listener accepts."""
        for attempt in range(START_ATTEMPTS):
            output = len(self.stderr)
            try:
                return self._start()
            except AssertionError:
                # Another test run on this machine may have chosen the same port.
                if "Address already in use" not in self.stderr[output:] or attempt == START_ATTEMPTS - 1:
                    raise
        raise AssertionError("no attempt was made")

    def _start(self) -> "Gateway":
        assert self.process is None
        command = [*self.wrapper, self.binary, "serve", "--data-dir", self.data, "--config", self.config]
        for name in dict.fromkeys((*(name for name in LISTENERS if name not in self.off), *self.listeners)):
            command += [f"--{name}-listen", self.listeners.get(name) or f"127.0.0.1:{free_port()}"]
        # The program that starts the gateway may run it where the library of the recorder does not exist.
        recorder = {} if self.wrapper else sql_recorder.environment(self.environment)
        engine = {} if self.wrapper else object_engine.environment(self.data) | database_engine.environment(self.data)
        with open(self._stderr, "ab") as stderr:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=os.environ | {"DATA_GATEWAY_ADMIN_PASSWORD": ADMIN_PASSWORD} | engine | self.environment | recorder,
            )
        line = self._first_line()
        ready = json.loads(line)
        assert ready["event"] == "ready", line
        self.listeners = ready["listeners"]
        # A thread that called in the meantime left a channel that waits before it reconnects.
        self._close_channels()
        return self

    def stop(self) -> int:
        """Asks the process to end (SIGTERM) and returns its exit code."""
        self._close_channels()
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"still running {WAIT_SECONDS} s after SIGTERM\n{self.stderr}") from None
        self._reader.join()
        assert code >= 0, f"ended by the signal {-code}\n{self.stderr}"
        return code

    def kill(self) -> None:
        """Ends the process without warning (SIGKILL), like a power cut."""
        self._close_channels()
        process, self.process = self.process, None
        process.kill()
        self.exit_code = process.wait()
        self._reader.join()

    def cut_power(self, faults, lots=None) -> None:
        """Ends the process, and reverts everything that it and earlier processes did not sync."""
        self.kill()
        assert self.exit_code == -signal.SIGKILL, f"the gateway had ended before, with {self.exit_code}\n{self.stderr}"
        faults.cut_power(lots)

    def close(self) -> None:
        """Ends all processes at the end of a test, whatever their state."""
        if self.process is not None:
            self.stop()

    def channel(self, listener: str) -> grpc.Channel:
        """Returns the channel to a listener, which is opened once and closed when the process ends."""
        if listener not in self._channels:
            self._channels[listener] = grpc.insecure_channel(
                self.listeners[listener], options=[("grpc.enable_retries", 0)]
            )
        return self._channels[listener]

    def forget_channels(self) -> None:
        """Makes the next calls open new connections."""
        self._close_channels()

    @property
    def object_store(self) -> str:
        """The `host:port` of the object store."""
        return self.listeners["object-store"]

    @property
    def stderr(self) -> str:
        """The standard error of the process so far; empty before its first start."""
        return self._stderr.read_text(errors="replace") if self._stderr.exists() else ""

    def _first_line(self) -> bytes:
        lines: queue.Queue[bytes] = queue.Queue()
        process = self.process

        def read() -> None:
            # Reads up to the end, so that the pipe never fills.
            with process.stdout:
                for line in process.stdout:
                    lines.put(line)
            lines.put(b"")

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        try:
            line = lines.get(timeout=WAIT_SECONDS)
        except queue.Empty:
            line = b""
        if not line:
            self.kill()
            raise AssertionError(f"the gateway said no ready line\n{self.stderr}")
        return line

    def _close_channels(self) -> None:
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            channel.close()


def eventually(check, seconds: float = WAIT_SECONDS, every: float = 0.1):
    """Calls `check` until it returns a true value, and returns that value; for conditions that become true at an unknown time."""
    deadline = time.monotonic() + seconds
    is_over = False
    while not (result := check()):
        if is_over:
            raise AssertionError(f"not within {seconds} s: {check}")
        time.sleep(every)
        # A process that was stalled checks once more.
        is_over = time.monotonic() > deadline
    return result
