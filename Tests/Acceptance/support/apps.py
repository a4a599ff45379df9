"""Calls of apps over plain HTTP, as an app on a phone makes them."""

import http.client
import json
import re
from dataclasses import dataclass
from pathlib import Path

#: The names of all apps of the program, which a test may use without naming one.
NAMES = sorted(
    name
    for path in (Path(__file__).resolve().parents[3] / "Sources/Apps").glob("*/*.swift")
    for name in re.findall(r'^    package static let name = "(\w+)"', path.read_text(), re.MULTILINE)
)


def enabled(**listeners: str) -> dict:
    """Returns a configuration with all apps; empty without apps."""
    if not NAMES:
        return {"listeners": listeners} if listeners else {}
    return {
        "listeners": {"apps": "127.0.0.1:0"} | listeners,
        "apps": {name: {"enabled": True} for name in NAMES},
    }


#: The page from which the gateway of the fixture `open_gateway` permits calls.
ORIGIN = "https://app.example"


@dataclass
class Response:
    status: int
    #: The names are in lower case.
    fields: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class App:
    """An app at the listener `apps` of a gateway; `fields` are sent with each request."""

    response = Response

    def __init__(self, gateway, listener: str = "apps", **fields: str):
        self.gateway = gateway
        self.listener = listener
        self.fields = fields

    def send(self, method: str, path: str, body=None, token: str | None = None, **fields: str) -> Response:
        """Sends a body as JSON, or text and bytes as they are; `_` in the names of `fields` is `-`."""
        headers = {name.replace("_", "-").lower(): value for name, value in (self.fields | fields).items()}
        if token:
            headers["authorization"] = f"Bearer {token}"
        if body is not None:
            headers.setdefault("content-type", "application/json")
            text = body if isinstance(body, str | bytes) else json.dumps(body)
            body = text.encode() if isinstance(text, str) else text
        host, port = self.gateway.listeners[self.listener].rsplit(":", 1)
        connection = http.client.HTTPConnection("127.0.0.1" if host == "0.0.0.0" else host, int(port), timeout=120)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return self.response(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            connection.close()

    def get(self, path: str, token: str | None = None, **fields: str) -> Response:
        return self.send("GET", path, None, token, **fields)

    def post(self, path: str, body, token: str | None = None, **fields: str) -> Response:
        return self.send("POST", path, body, token, **fields)
