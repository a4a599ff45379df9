"""The client of a device: the entry point of the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Union

from . import files, messages
from .errors import DeviceError, FolderError, GatewayError, UnreachableError
from .folder import Configuration, DeviceFolder, Endpoints
from .gateway import Channels, Gateway
from .records import DeliveredFiles, StateFile, UploadState
from .retries import Retrying, TemporaryError
from .source import Source, checked_tags
from .tls import Authorities
from .upload import Progress, Services, UploadResult, UploadRun
from .version import VERSION

FilePath = Union[str, "os.PathLike[str]"]
ProgressFunction = Callable[[Progress], None]


def _no_event(name: str, values: dict[str, Any]) -> None:
    """Ignores an event."""


@dataclass(frozen=True)
class Options:
    """How a client works."""

    #: A PEM file with the trusted authorities; `None` = `$DATA_GATEWAY_CA`, else those of the system.
    ca: FilePath | None = None
    #: The seconds for which a call that fails temporarily is repeated.
    retry_for: float = 300.0
    #: Called with the name and the values of each event: `begun`, `continued`, `waiting`, `completed`.
    on_event: Callable[[str, dict[str, Any]], None] = _no_event

    def authorities(self) -> Authorities:
        given = self.ca or os.environ.get("DATA_GATEWAY_CA") or "system"
        return Authorities(None if given == "system" else Path(given))


class DeviceClient:
    """A device that uploads files.

        with DeviceClient() as client:
            client.upload("drive.mcap", {"weather": "rain"})

    Several clients, also those of other processes and of the program `data-gateway-device`, may use one folder.
    A client itself must be used by one thread at a time, and not in a child of `os.fork()`.
    """

    def __init__(self, folder: FilePath | None = None, options: Options | None = None):
        self.folder = DeviceFolder.default() if folder is None else DeviceFolder(Path(folder))
        self._options = options or Options()
        self._authorities = self._options.authorities()
        self._retrying = Retrying(self._options.retry_for, self._report_wait)
        self._channels: Channels | None = None
        self._gateway: Gateway | None = None

    def __enter__(self) -> DeviceClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections; a later call opens them again."""
        if self._channels is not None:
            self._channels.close()
        self._channels = self._gateway = None

    def init(self, device_id: str, endpoints: Endpoints | None = None, reinit: bool = False) -> Configuration:
        """Fetches the device's key and stores it in the folder.

        With `reinit` the device's key is replaced. The call is never repeated: if the response is lost, the key is
        issued already, and a person decides whether to request another.
        """
        if not reinit and self.folder.configuration() is not None:
            raise FolderError(f"{self.folder.config_path} already has a key: reinit replaces it")
        endpoints = endpoints or self.folder.endpoints() or Endpoints()
        files.make_folder(self.folder.path)
        self.close()
        channels = Channels(endpoints, self._authorities)
        try:
            with self.folder.key_lock():
                with self.folder.space_for_key():
                    reply = _new_key(channels, device_id, reinit)
                configuration = Configuration(reply.api_key, dict(reply.tags))
                self.folder.adopt(device_id, configuration, endpoints)
        except TemporaryError as error:
            raise UnreachableError(str(error)) from error
        finally:
            channels.close()
        return configuration

    def exchange(self) -> int:
        """Exchanges the device's key for a token, which proves key and address.

        Returns the time of the token's expiry in seconds since 1970.
        """
        return self._connected().exchange()

    def upload(
        self, path: FilePath, tags: Mapping[str, str] | None = None, progress: ProgressFunction | None = None
    ) -> UploadResult:
        """Uploads a file, or continues its upload, which keeps the tags with which it began.

        A file that was uploaded in its present version is not sent again.
        """
        configuration = self.folder.initialized_configuration()
        source = Source.at(Path(path))
        checked = checked_tags(source.path, {**configuration.tags, **(tags or {})})
        file = StateFile(self.folder, source.path)
        with file.locked():
            return UploadRun(self._services(), file, progress).run(source, checked)

    def unfinished(self) -> list[str]:
        """Returns the paths of the files whose uploads are unfinished."""
        found = [StateFile.read_at(path) for path in StateFile.paths(self.folder)]
        return [state.source.path for state in found if state is not None]

    def resume(self, progress: ProgressFunction | None = None) -> Iterator[UploadResult | DeviceError]:
        """Continues all unfinished uploads, and returns the result or the error of each."""
        for path in StateFile.paths(self.folder):
            try:
                state = StateFile.read_at(path)
                outcome = None if state is None else self._resume(state, progress)
            except DeviceError as error:
                yield error
            else:
                if outcome is not None:
                    yield outcome

    def _resume(self, state: UploadState, progress: ProgressFunction | None) -> UploadResult:
        path = state.source.path
        if not state.source.is_removed:
            return self.upload(path, {}, progress)
        file = StateFile(self.folder, path)
        with file.locked():
            return UploadRun(self._services(), file, progress).finish_removed(file.read() or state)

    def _connected(self) -> Gateway:
        if self._channels is None or self._gateway is None:
            self._channels = Channels(self.folder.endpoints() or Endpoints(), self._authorities)
            self._gateway = Gateway(self.folder, self._channels, self._retrying)
        return self._gateway

    def _services(self) -> Services:
        gateway = self._connected()
        delivered = DeliveredFiles(self.folder)
        return Services(gateway, self._authorities, self._retrying, delivered, self._options.on_event)

    def _report_wait(self, reason: str, seconds: float) -> None:
        self._options.on_event("waiting", {"reason": reason, "milliseconds": int(seconds * 1000)})


def _new_key(channels: Channels, device_id: str, reinit: bool) -> messages.Message:
    fields = {"device_id": device_id, "sdk_version": f"python/{VERSION}", "platform": _platform()}
    service = "data_gateway.v1.DeviceInitService"
    if reinit:
        try:
            request = messages.ReinitDeviceRequest(**fields)
            return channels.call(f"{service}/ReinitDevice", request, messages.InitDeviceResponse)
        except GatewayError as error:
            # A device that was retired and is in use again gets its first key.
            if error.code != "DATA_GATEWAY_DEVICE_NOT_INITIALIZED":
                raise
    return channels.call(f"{service}/InitDevice", messages.InitDeviceRequest(**fields), messages.InitDeviceResponse)


def _platform() -> str:
    return f"{sys.platform}-{os.uname().machine}"
