"""The command `data-gateway-py`."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from .client import DeviceClient, Options
from .errors import DeviceError, UnreachableError
from .folder import PORTS, DeviceFolder, Endpoint, Endpoints
from .source import escaped
from .upload import Progress, UploadResult
from .version import VERSION

OK, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3
#: The codes after which the device needs another key.
_REINIT_CODES = ("AUTH_INVALID_CREDENTIAL", "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="data-gateway-py", description="Upload the files of a device.")
    top.add_argument("--version", action="version", version=VERSION)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    init = commands.add_parser("init", help="fetch the device's key")
    init.add_argument("device_id", metavar="DEVICE_ID", help="the id that an operator registered: YYMMDD-NNNNNN")
    init.add_argument("--reinit", action="store_true", help="replace the device's key, because it was lost")
    init.add_argument("--host", metavar="URL", help="use the default ports of this host")
    for name in ("auth", "gateway", "device-init"):
        init.add_argument(f"--{name}", metavar="URL", help=f"use this address of the listener {name}")
    upload = commands.add_parser("upload", help="upload files, or continue their uploads")
    upload.add_argument("file", metavar="FILE", nargs="*", type=Path)
    upload.add_argument("--tag", metavar="KEY=VALUE", action="append", default=[], help="add a tag (repeatable)")
    upload.add_argument("--resume", action="store_true", help="continue all unfinished uploads")
    upload.add_argument("--retry-for", metavar="SECONDS", type=float, default=300.0, help="retry for this long")
    for each in (init, upload):
        each.add_argument("--device-dir", metavar="DIR", type=Path, help="use this folder of the device")
        each.add_argument("--ca", metavar="FILE", type=Path, help="trust the authorities of this PEM file")
        each.add_argument("--json", action="store_true", help="print a line of JSON for each event")
    return top


class Output:
    """The output of a command: lines for people, or events in JSON."""

    def __init__(self, is_json: bool):
        self.is_json = is_json
        self._shows_progress = not is_json and sys.stderr.isatty()
        self._shown_at = 0.0

    def event(self, name: str, values: dict[str, Any]) -> None:
        if self.is_json:
            print(json.dumps({"event": name, **values}), flush=True)
        elif name == "waiting":
            self.error(f"{values['reason']}; trying again in {values['milliseconds'] / 1000:.1f} s")

    def result(self, result: UploadResult) -> None:
        if not result.was_uploaded_before:
            self.line(f"uploaded {result.path}: {result.size} bytes, file {result.file_id}")
            return
        self.event("skipped", {"path": result.path, "file_id": result.file_id, "size_bytes": result.size})
        self.line(f"{result.path} was uploaded before")

    def line(self, text: str) -> None:
        self._clear()
        if not self.is_json:
            print(text, flush=True)

    def error(self, text: str) -> None:
        self._clear()
        print(f"data-gateway-py: {text}", file=sys.stderr, flush=True)

    def failure(self, error: DeviceError) -> None:
        if self.is_json:
            self.event("failed", {"reason": str(error), "code": error.code})
        self.error(str(error))
        if error.code in _REINIT_CODES:
            self.error("init DEVICE_ID --reinit replaces the key of this device")

    def progress(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._shows_progress and now - self._shown_at >= 0.2:
            self._shown_at = now
            percent = 100 * progress.sent // max(progress.size, 1)
            name = escaped(os.path.basename(progress.path))[:50]
            # A terminal that was closed does not end the upload.
            with contextlib.suppress(OSError):
                print(f"\r{name}  {percent}%\x1b[K", end="", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self._shows_progress:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _tags(texts: list[str]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ValueError(f"--tag must be KEY=VALUE, not '{text}'")
        if key in tags:
            raise ValueError(f"--tag {key} is given twice")
        tags[key] = value
    return tags


def _endpoints(arguments: argparse.Namespace, stored: Endpoints | None) -> Endpoints | None:
    """Returns the endpoints that the options name, with the stored or default ones for the others."""
    given = (arguments.auth, arguments.gateway, arguments.device_init)
    if arguments.host is None and given == (None, None, None):
        return None
    known = Endpoints.of_host(arguments.host) if arguments.host else stored or Endpoints()
    base = (known.auth, known.gateway, known.device_init)
    ports = PORTS.values()
    return Endpoints(*(Endpoint.parse(text, port) if text else other for text, port, other in zip(given, ports, base)))


def _client(arguments: argparse.Namespace, output: Output) -> DeviceClient:
    retry_for = getattr(arguments, "retry_for", 0.0)
    return DeviceClient(arguments.device_dir, Options(arguments.ca, retry_for, output.event))


def init(arguments: argparse.Namespace, output: Output) -> int:
    folder = DeviceFolder.default() if arguments.device_dir is None else DeviceFolder(arguments.device_dir)
    endpoints = _endpoints(arguments, folder.endpoints())
    with _client(arguments, output) as client:
        try:
            client.init(arguments.device_id, endpoints, arguments.reinit)
        except DeviceError as error:
            output.failure(error)
            return UNREACHABLE if isinstance(error, UnreachableError) else REFUSED
        output.event("initialized", {"device_id": arguments.device_id, "path": str(client.folder.config_path)})
        output.line(f"initialized {arguments.device_id}: its key is in {client.folder.config_path}")
    return OK


def upload(arguments: argparse.Namespace, output: Output) -> int:
    tags = _tags(arguments.tag)
    if not arguments.retry_for >= 0:
        raise ValueError("--retry-for must be 0 or more")
    if bool(arguments.file) == arguments.resume:
        raise ValueError("name at least one FILE, or use --resume alone")
    code = OK
    with _client(arguments, output) as client:
        for outcome in client.resume(output.progress) if arguments.resume else _each(client, arguments, tags, output):
            if isinstance(outcome, UploadResult):
                output.result(outcome)
                continue
            output.failure(outcome)
            if isinstance(outcome, UnreachableError):
                # The other files would wait as long for the same reason.
                return UNREACHABLE
            code = REFUSED
    return code


def _each(client: DeviceClient, arguments: argparse.Namespace, tags: dict[str, str], output: Output) -> Any:
    for path in arguments.file:
        try:
            yield client.upload(path, tags, output.progress)
        except DeviceError as error:
            yield error


def _interrupt(number: int, _: Any) -> None:
    # A second signal ends the program at once.
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    # A name that the terminal cannot show does not end the command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    parsed = parser().parse_args(arguments)
    output = Output(parsed.json)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        return init(parsed, output) if parsed.command == "init" else upload(parsed, output)
    except ValueError as error:
        output.error(str(error))
        return USAGE
    except DeviceError as error:
        output.failure(error)
        return REFUSED
    except KeyboardInterrupt:
        output.error("interrupted; the same command continues the upload")
        return REFUSED
