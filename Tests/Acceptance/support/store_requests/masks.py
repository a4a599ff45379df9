"""Placeholders for what differs between two runs: ids, times, tokens, ports."""

import re

_TIMES = [
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT"), "<HTTP date>"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "<time with milliseconds>"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"\b20\d{6}T\d{6}Z"), "<basic time>"),
]
#: Characters of the id of a multipart upload; a request may name another text.
UPLOAD_ID_LENGTH = 32
_UPLOAD_ID = re.compile(r"<UploadId>([^<]+)</UploadId>")


#: What may have a placeholder: the key of an upload, an access key, or a word.
_VALUE = re.compile(r"uploads(?:/|%2F)[0-9/%F]+(?:/|%2F)[0-9a-f-]{36}|STS\.\w+|[\w-]{12,}")


class Masks:
    """The values of this run with their placeholders: equal values have equal placeholders."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, value: str, placeholder: str) -> None:
        """Replaces the value by `<placeholder>` from now on, unless it has a placeholder already."""
        assert _VALUE.fullmatch(value), value
        self._names.setdefault(value, f"<{placeholder}>")

    def name_uploads(self, document: str, label: str) -> None:
        """Names the multipart uploads of a response that have no name yet by the label of their request."""
        for value in _UPLOAD_ID.findall(document):
            if len(value) == UPLOAD_ID_LENGTH:
                self.name(value, f"upload of {label}")

    def apply(self, text: str) -> str:
        text = _VALUE.sub(lambda match: self._names.get(match[0], match[0]), text)
        for pattern, placeholder in _TIMES:
            text = pattern.sub(placeholder, text)
        return text
