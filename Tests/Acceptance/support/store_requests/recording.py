"""Recordings: a line of JSON for each request, sorted by label, with its response and what the gateway logged of it."""

import base64
import difflib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..gateway import eventually
from ..monitoring import log, samples
from .signing import Signing
from .wire import Reply, Request, exchange
from .world import World

#: Longer bodies are recorded as their beginning and their length.
LONGEST_BODY = 64 * 1024
LOGGED = ("level", "dialect", "operation", "status", "broken_off", "principal", "target", "source")
#: The event of the access log's line of a request.
ACCESS = "request"


@dataclass
class Recorder:
    """Sends requests to a world, and keeps their responses by their labels."""

    world: World
    replies: dict[str, Reply] = field(default_factory=dict)
    area: str = ""
    #: URLs that expire, with the time after which they have.
    expiring: dict[str, tuple[float, bytes]] = field(default_factory=dict)

    def send(self, label: str, request: Request, dialect: str | None = "s3", by: str = "owner", **how) -> Reply:
        """Sends a request, signed in the dialect by the party, and records the response. Without a dialect it is not signed."""
        signing = Signing(dialect, how.pop("keys", None) or self.world.keys(by), **how) if dialect else None
        return self.raw(label, self.world.written(request, signing))

    def raw(self, label: str, data: bytes) -> Reply:
        """Sends bytes, and records the response."""
        label = f"{self.area}: {label}"
        assert label not in self.replies, f"two requests have the label {label}"
        reply = exchange(self.world.address, data)
        self.world.masks.name_uploads(reply.body.decode(errors="replace"), label)
        self.replies[label] = reply
        return reply

    def lines(self) -> list[dict]:
        """Returns the recording."""
        logged = self._logged()
        lines = [self._line(label, reply, logged) for label, reply in self.replies.items()]
        return sorted(lines + self._metrics(), key=lambda line: line["label"])

    def _line(self, label: str, reply: Reply, logged: dict[str, list[dict]]) -> dict:
        mask, request_id, address = self.world.masks.apply, _request_id(reply), self.world.address
        port = address[address.index(":") :]

        def masked(text: str) -> str:
            text = text.replace(request_id, "<request>") if request_id else text
            return mask(text).replace(address, "<address>").replace(port, ":<port>")

        fields = [[name, masked(_readable(name, value))] for name, value in reply.fields]
        notes = [
            {name: masked(value) if isinstance(value := line[name], str) else value for name in LOGGED if name in line}
            for line in logged.get(request_id or "", [])
        ]
        line = {"label": label, "status": reply.status, "reason": masked(reply.reason), "fields": fields}
        line |= {"body": _body(reply.body, masked)}
        if reply.interim:
            line["interim"] = reply.interim
        return line | {"log": notes}

    def _logged(self) -> dict[str, list[dict]]:
        """Returns the lines of the access log by request id, when all have been written."""
        wanted = {request_id for reply in self.replies.values() if (request_id := _request_id(reply))}

        def found() -> dict[str, list[dict]] | None:
            lines: dict[str, list[dict]] = {}
            for line in log(self.world.gateway):
                if line.get("listener") == "object-store":
                    lines.setdefault(line.get("request_id", ""), []).append(line)
            return lines if wanted <= lines.keys() else None

        return eventually(found)

    def _metrics(self) -> list[dict]:
        """Returns the counts of requests by dialect, operation and status, of the recorded ones and their preparations."""
        counts: Counter[str] = Counter()
        for name, labels, value in samples(self.world.gateway):
            if name == "data_gateway_object_store_requests_total":
                counts[" ".join(labels[part] for part in ("dialect", "operation", "status"))] += int(value)
        return [{"label": f"~ metrics: {name}", "count": count} for name, count in counts.items()]


def _readable(name: str, value: str) -> str:
    """Returns the value of a field; that with the document of an error is decoded, since the document has an id."""
    return base64.b64decode(value).decode() if name.lower() in ("x-oss-err", "x-oss-error") else value


def _request_id(reply: Reply) -> str | None:
    return reply.get("x-request-id")


def _body(body: bytes, masked) -> str | list[str]:
    """Returns a body as text, a document in lines, or the beginning of a long one."""
    if len(body) > LONGEST_BODY:
        return f"{len(body)} bytes: {body[:64].hex()}"
    try:
        text = masked(body.decode())
    except UnicodeDecodeError:
        return "base64: " + base64.b64encode(body).decode()
    return re.sub(r">(?=<)", ">\n", text).split("\n") if text.startswith("<?xml") else text


def write(lines: list[dict], file: Path) -> None:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def read(file: Path) -> dict[str, dict]:
    return {line["label"]: line for line in map(json.loads, file.read_text().splitlines())}


def differences(old: dict[str, dict], new: dict[str, dict]) -> list[str]:
    """Returns a text for each label whose lines differ, or that only one recording has."""
    texts = []
    for label in sorted(old.keys() | new.keys()):
        before, after = (_text(recording.get(label)) for recording in (old, new))
        if before != after:
            changed = difflib.unified_diff(before, after, "old", "new", lineterm="", n=2)
            texts.append("\n".join([label, *(f"    {line}" for line in list(changed)[2:])]))
    return texts


def _text(line: dict | None) -> list[str]:
    return [] if line is None else json.dumps(line, ensure_ascii=False, indent=1).splitlines()
