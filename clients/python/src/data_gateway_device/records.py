"""What a device keeps about its uploads: the states of unfinished ones, and the files that arrived."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from . import files
from .errors import BusyError, FolderError
from .folder import DeviceFolder
from .source import Source


@dataclass(frozen=True)
class UploadState:
    """An unfinished upload. Each change is on the disk before it is acted on."""

    source: Source
    tags: dict[str, str]
    #: The key with which CreateLogicalUpload may be repeated, for the first attempt or for a restart.
    idempotency_key: str
    #: The upload id that a restart replaces; empty without a restart.
    restart_from: str = ""
    logical_id: str = ""
    upload_id: str = ""
    part_size: int = 0
    multipart_id: str = ""
    #: The ETag of the object, when the store has all bytes.
    etag: str = ""
    part_count: int = 0

    @classmethod
    def new(cls, source: Source, tags: dict[str, str]) -> UploadState:
        return cls(source, tags, secrets.token_hex(16))

    def restarted(self, upload_id: str) -> UploadState:
        """Returns the state before a restart that replaces the upload id."""
        begun = UploadState.new(self.source, self.tags)
        return replace(begun, logical_id=self.logical_id, restart_from=upload_id)

    @property
    def is_stored(self) -> bool:
        return bool(self.etag)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any], place: Path) -> UploadState:
        try:
            return cls(**{**value, "source": Source.from_json(value["source"])})
        except (KeyError, TypeError) as error:
            raise FolderError(f"{place} cannot be read: delete the file") from error


class StateFile:
    """The file with the state of one upload."""

    def __init__(self, folder: DeviceFolder, path: str):
        self._name = hashlib.sha256(path.encode()).hexdigest()[:32]
        self._folder = folder
        self.path = folder.states / f"{self._name}.json"

    def read(self) -> UploadState | None:
        return self.read_at(self.path)

    def write(self, state: UploadState) -> None:
        files.write_json(self.path, state.to_json())

    def remove(self) -> None:
        files.remove(self.path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from uploading the file.

        The lock is the journal of the other program, which locks it while it uploads the same file. An empty journal
        means that it has begun no upload.
        """
        files.make_folder(self._folder.states)
        files.make_folder(self._folder.journals)
        journal = self._folder.journals / f"{self._name}.jsonl"
        descriptor = _locked(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            if os.fstat(descriptor).st_size > 0:
                raise BusyError(f"data-gateway-device began an upload of this file ({journal}) and must continue it")
            yield
        finally:
            if os.fstat(descriptor).st_size == 0:
                with contextlib.suppress(OSError):
                    journal.unlink()
            os.close(descriptor)

    @staticmethod
    def paths(folder: DeviceFolder) -> list[Path]:
        """Returns the files of all unfinished uploads."""
        return sorted(path for path in folder.states.glob("*.json") if not path.name.startswith("."))

    @staticmethod
    def read_at(path: Path) -> UploadState | None:
        """Returns the state in a file; `None` if another process has removed it."""
        value = files.read_json(path)
        return None if value is None else UploadState.from_json(value, path)


def _locked(path: Path, how: int) -> int:
    """Opens and locks a file; another process may remove or replace it before it is locked."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FolderError(f"cannot open {path}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError as error:
            os.close(descriptor)
            raise BusyError("another process is uploading it") from error
        except OSError as error:
            os.close(descriptor)
            raise FolderError(f"cannot lock {path}: {error.strerror}") from error
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        os.close(descriptor)


class DeliveredFiles:
    """The record of the files that the gateway confirmed: `delivered.jsonl`, a line of JSON for each.

    Both programs read and write it. Only lines of the folder's present gateway and device count.
    """

    def __init__(self, folder: DeviceFolder):
        self._path = folder.delivered_path
        endpoints = folder.endpoints()
        self._gateway = endpoints.gateway.address if endpoints else "127.0.0.1:50053"
        self._gateways = {self._gateway, *folder.former_gateways()}
        self._device_id = folder.device_id()

    def find(self, source: Source) -> str | None:
        """Returns the file id of a file that arrived in this version; `None` if it did not."""
        found = None
        for line in self._lines():
            same = (line.get("path"), line.get("size"), line.get("modified")) == (
                source.path,
                source.size,
                source.modified,
            )
            if same and (line.get("inode"), line.get("changed")) == (source.inode, source.changed):
                found = str(line.get("file_id", ""))
        return found

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            with open(self._path, "rb") as file:
                for text in file:
                    # A line that a crash cut off is no line.
                    with contextlib.suppress(ValueError):
                        line = json.loads(text)
                        if isinstance(line, dict) and self._is_ours(line):
                            yield line
        except FileNotFoundError:
            return
        except OSError as error:
            raise FolderError(f"cannot read {self._path}: {error.strerror}") from error

    def _is_ours(self, line: dict[str, Any]) -> bool:
        return line.get("gateway") in self._gateways and line.get("device_id") == self._device_id

    def add(self, source: Source, file_id: str) -> None:
        """Appends a line; it is durable on return."""
        line = {
            "at": int(time.time()),
            "changed": source.changed,
            "device_id": self._device_id,
            "file_id": file_id,
            "gateway": self._gateway,
            "inode": source.inode,
            "modified": source.modified,
            "path": source.path,
            "size": source.size,
        }
        text = json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        descriptor = _locked(self._path, fcntl.LOCK_EX)
        try:
            end = os.fstat(descriptor).st_size
            is_cut = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
            self._append(descriptor, end, b"\n" + text if is_cut else text)
            files.synchronize_folder(self._path.parent)
        except OSError as error:
            raise FolderError(f"cannot write {self._path}: {error.strerror}") from error
        finally:
            os.close(descriptor)

    @staticmethod
    def _append(descriptor: int, end: int, text: bytes) -> None:
        written = os.pwrite(descriptor, text, end)
        if written != len(text):
            os.ftruncate(descriptor, end)
            raise OSError(28, "No space left on device")
        os.fsync(descriptor)
