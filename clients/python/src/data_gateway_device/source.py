"""The file that is uploaded: its identity and its labels."""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import SourceError

#: The tag under which clients send the name of the file.
FILE_NAME_TAG = "a206e337ecdf70a93bb611cf6a30c346.raw_file"
_MAXIMUM_TAGS = 256
_LONGEST_KEY = 64
_LONGEST_VALUE = 2048


@dataclass(frozen=True)
class Source:
    """A file in one of its versions. Parts belong together only if it is the same when each of them is read."""

    #: The absolute path.
    path: str
    size: int
    #: The time of the last write, in nanoseconds since 1970.
    modified: int
    device: int
    inode: int
    #: The time of the last change of content or status, in nanoseconds since 1970.
    changed: int

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> Source:
        return cls(path, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino, status.st_ctime_ns)

    @classmethod
    def at(cls, path: Path) -> Source:
        """Returns the present version of a file."""
        text = os.path.abspath(path)
        try:
            text.encode()
            status = os.stat(text)
        except UnicodeEncodeError as error:
            raise SourceError(f"cannot read {text.encode(errors='replace').decode()}: its name is not UTF-8") from error
        except ValueError as error:
            raise SourceError(f"cannot read {text!r}: {error}") from error
        except OSError as error:
            raise SourceError(f"cannot read {text}: {error.strerror}") from error
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{text} is not a regular file")
        return cls.of(text, status)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Source:
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def change(self, later: os.stat_result) -> str | None:
        """Returns the difference of a later status, as the end of a sentence; `None` without a difference."""
        if (self.device, self.inode) != (later.st_dev, later.st_ino):
            return "was replaced by another file"
        if self.size != later.st_size:
            return f"changed from {self.size} to {later.st_size} bytes"
        return None if self.modified == later.st_mtime_ns else "was modified"

    @property
    def is_removed(self) -> bool:
        """Whether the file was removed; one whose disk is not mounted, or that cannot be looked for, was not."""
        folder = self.path
        try:
            while True:
                with contextlib.suppress(FileNotFoundError):
                    found = os.lstat(folder) if folder == self.path else os.stat(folder)
                    return folder != self.path and found.st_dev == self.device
                if folder == os.sep:
                    return False
                folder = os.path.dirname(folder)
        except OSError:
            return False

    def is_same_version(self, later: Source) -> bool:
        return (self.size, self.modified, self.inode) == (later.size, later.modified, later.inode)


def escaped(name: str) -> str:
    """Returns a name that the gateway accepts: each byte of a control character in hexadecimal, `%09` for a tab."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in each.encode()) if unicodedata.category(each) == "Cc" else each
        for each in name
    )


def checked_tags(path: str, tags: dict[str, str]) -> dict[str, str]:
    """Returns the tags of an upload, with the name of the file; raises SourceError if they break a limit."""
    tags = {**tags, FILE_NAME_TAG: escaped(os.path.basename(path))}
    reason = _wrong_tag(tags)
    if reason is not None:
        raise SourceError(f"{path} cannot be uploaded: {reason}")
    return tags


def _wrong_tag(tags: dict[str, str]) -> str | None:
    if len(tags) > _MAXIMUM_TAGS:
        return f"tags must have at most {_MAXIMUM_TAGS} entries, not {len(tags)}"
    for key, value in tags.items():
        try:
            key_size, value_size = len(key.encode()), len(value.encode())
        except UnicodeEncodeError:
            return f"the tag {key!r} is not valid Unicode"
        if not 1 <= key_size <= _LONGEST_KEY:
            return f"the key of the tag {key!r} must have 1 to {_LONGEST_KEY} bytes"
        if value_size > _LONGEST_VALUE:
            return f"the value of the tag {key!r} must have at most {_LONGEST_VALUE} bytes, not {value_size}"
        if any(unicodedata.category(each) == "Cc" for each in key + value):
            return f"the tag {key!r} must not have control characters"
    return None
