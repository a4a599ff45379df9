"""Private files that are replaced atomically, and durable when a call returns."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from .errors import FolderError

#: The largest size of a file of JSON, in bytes.
_MAXIMUM_BYTES = 4 << 20


def make_folder(path: Path) -> None:
    """Creates a folder with mode 0700, and the folders above it."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"cannot create {path}: {error.strerror}") from error


def synchronize_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, value: Any) -> None:
    """Replaces the file; after a crash or a power loss it has the old or the new content. Its mode is 0600."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Replaces the file, as `write_json` does."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        synchronize_folder(path.parent)
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its content is not valid Unicode"
        raise FolderError(f"cannot write {path}: {reason}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the object in the file; `None` if the file does not exist."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _MAXIMUM_BYTES:
        raise FolderError(f"{path} is larger than {_MAXIMUM_BYTES} bytes")
    try:
        value = json.loads(data)
    except ValueError as error:
        raise FolderError(f"{path} is not valid JSON") from error
    if not isinstance(value, dict):
        raise FolderError(f"{path} is not a JSON object")
    return value


def remove(path: Path) -> None:
    """Removes a file if it exists, durably."""
    try:
        path.unlink()
        synchronize_folder(path.parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FolderError(f"cannot remove {path}: {error.strerror}") from error
