"""The device's folder, which this package shares with the program `data-gateway-device`."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import files
from .errors import FolderError

#: The listeners of the endpoints' file, with the default port of each.
PORTS = {"auth": 50051, "gateway": 50053, "deviceInit": 50057}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Endpoint:
    """The address of one listener."""

    scheme: str
    host: str
    port: int

    def __post_init__(self) -> None:
        if self.scheme not in ("http", "https"):
            raise ValueError(f"the scheme must be http or https, not '{self.scheme}'")
        if not self.host or not 1 <= self.port <= 65_535:
            raise ValueError(f"'{self.host}:{self.port}' is not a valid address")

    @classmethod
    def parse(cls, text: str, port: int) -> Endpoint:
        """Reads `[SCHEME://]HOST[:PORT]`; without a scheme it is `https`, but `http` for a loopback address."""
        try:
            parts = urlsplit(text if "://" in text else f"//{text}")
            host, given = parts.hostname or "", parts.port
        except ValueError as error:
            raise ValueError(f"'{text}' is not a valid address: {error}") from error
        if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
            raise ValueError(f"'{text}' must have a scheme, a host and a port only")
        scheme = parts.scheme or ("http" if host in _LOOPBACK else "https")
        return cls(scheme, host, port if given is None else given)

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}"


@dataclass(frozen=True)
class Endpoints:
    """The addresses of the gateway: the content of `archebase-endpoints.json`."""

    auth: Endpoint = Endpoint("http", "127.0.0.1", PORTS["auth"])
    gateway: Endpoint = Endpoint("http", "127.0.0.1", PORTS["gateway"])
    device_init: Endpoint = Endpoint("http", "127.0.0.1", PORTS["deviceInit"])

    @classmethod
    def of_host(cls, text: str) -> Endpoints:
        """Returns the default ports of a host: `https://gateway.example.com`."""
        return cls(*(Endpoint.parse(text, port) for port in PORTS.values()))

    @classmethod
    def from_json(cls, value: dict[str, Any], place: str) -> Endpoints:
        return cls(*(_endpoint(value.get(name), f"{place}: {name}") for name in PORTS))

    def to_json(self) -> dict[str, Any]:
        return {name: vars(each) for name, each in zip(PORTS, (self.auth, self.gateway, self.device_init))}


def _endpoint(value: Any, place: str) -> Endpoint:
    if not isinstance(value, dict):
        raise FolderError(f"{place} is missing")
    scheme, host, port = (value.get(name) for name in ("scheme", "host", "port"))
    if not isinstance(scheme, str) or not isinstance(host, str) or type(port) is not int:
        raise FolderError(f"{place} must have scheme, host and port")
    try:
        return Endpoint(scheme, host, port)
    except ValueError as error:
        raise FolderError(f"{place}: {error}") from error


@dataclass(frozen=True)
class Configuration:
    """The key and the tags of a device: the content of `archebase-config.json`."""

    api_key: str = field(repr=False)
    tags: dict[str, str]

    @classmethod
    def from_json(cls, value: dict[str, Any], place: str) -> Configuration:
        key, tags = value.get("api_key"), value.get("tags")
        if not isinstance(key, str):
            raise FolderError(f"{place}: the member api_key is missing or is not a text")
        if not isinstance(tags, dict) or not all(isinstance(each, str) for each in tags.values()):
            raise FolderError(f"{place}: the member tags is missing or has a value that is not a text")
        return cls(key, tags)

    def to_json(self) -> dict[str, Any]:
        return {"api_key": self.api_key, "tags": self.tags}


class DeviceFolder:
    """The folder with the persistent data of a device."""

    def __init__(self, path: Path):
        self.path = path
        self.config_path = path / "archebase-config.json"
        self.endpoints_path = path / "archebase-endpoints.json"
        self.device_id_path = path / "device-id"
        self.delivered_path = path / "delivered.jsonl"
        #: The journals of the program `data-gateway-device`.
        self.journals = path / "uploads"
        #: The states of this package's uploads.
        self.states = path / "python-uploads"
        self._adoption = path / "init.json"
        self._rotation = path / "key-rotation.json"
        self._history = path / "gateway-address.json"

    @classmethod
    def default(cls) -> DeviceFolder:
        """Returns `$DATA_GATEWAY_DEVICE_DIR`, else `~/.config/data-gateway/device`."""
        given = os.environ.get("DATA_GATEWAY_DEVICE_DIR")
        return cls(Path(given) if given else Path.home() / ".config/data-gateway/device")

    def configuration(self) -> Configuration | None:
        """Returns the key and tags; `None` if the device has no key."""
        self._finish_adoption()
        value = files.read_json(self.config_path)
        return None if value is None else Configuration.from_json(value, str(self.config_path))

    def initialized_configuration(self) -> Configuration:
        configuration = self.configuration()
        if configuration is None:
            raise FolderError(f"this device has no key yet ({self.config_path}): run data-gateway-py init DEVICE_ID")
        return configuration

    def endpoints(self) -> Endpoints | None:
        """Returns the stored endpoints; `None` if there are none."""
        self._finish_adoption()
        value = files.read_json(self.endpoints_path)
        return None if value is None else Endpoints.from_json(value, str(self.endpoints_path))

    def device_id(self) -> str:
        """Returns the device id of the latest init; empty if it is not known."""
        self._finish_adoption()
        try:
            return self.device_id_path.read_text().split("\n", 1)[0]
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise FolderError(f"cannot read {self.device_id_path}: {error}") from error

    @contextlib.contextmanager
    def space_for_key(self) -> Iterator[None]:
        """Holds space for a key, which would be lost if it were issued and could not be written."""
        files.make_folder(self.path)
        reserve = self.path / "init.space"
        files.write_text(reserve, " " * (256 << 10))
        try:
            yield
        finally:
            files.remove(reserve)

    def adopt(self, device_id: str, configuration: Configuration, endpoints: Endpoints) -> None:
        """Replaces key, device id and endpoints: after a crash all of them are old, or all of them are new."""
        content = {
            "configuration": configuration.to_json(),
            "deviceID": device_id,
            "endpoints": endpoints.to_json(),
        }
        files.write_json(self._adoption, content)
        self._finish_adoption()

    def _finish_adoption(self) -> None:
        """Finishes an `adopt` that was interrupted, by this program or the other."""
        value = files.read_json(self._adoption)
        if value is None:
            return
        place = str(self._adoption)
        configuration = Configuration.from_json(value.get("configuration") or {}, place)
        endpoints = Endpoints.from_json(value.get("endpoints") or {}, place)
        files.remove(self._rotation)
        if files.read_json(self.endpoints_path) != endpoints.to_json():
            files.remove(self._history)
        # Before the key: with the key of another device, no file of the former device may count as delivered.
        files.write_text(self.device_id_path, f"{value.get('deviceID', '')}\n")
        files.write_json(self.config_path, configuration.to_json())
        files.write_json(self.endpoints_path, endpoints.to_json())
        files.remove(self._adoption)

    def candidate_keys(self) -> list[str]:
        """Returns the device's key, then the other key of an interrupted rotation by the other program."""
        key = self.initialized_configuration().api_key
        rotation = files.read_json(self._rotation) or {}
        pair = [rotation.get("formerKey"), rotation.get("nextKey")]
        others = [each for each in pair if key in pair and each != key and isinstance(each, str)]
        return [key, *others]

    def former_gateways(self) -> list[str]:
        """Returns the earlier addresses of the gateway, which the other program keeps."""
        former = (files.read_json(self._history) or {}).get("former")
        return [each for each in former if isinstance(each, str)] if isinstance(former, list) else []

    @contextlib.contextmanager
    def key_lock(self) -> Iterator[None]:
        """Waits until no other process replaces the key, and keeps others from it."""
        path = self.path / "key.lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FolderError(f"cannot open {path}: {error.strerror}") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                raise FolderError(f"cannot lock {path}: {error.strerror}") from error
            yield
        finally:
            os.close(descriptor)
