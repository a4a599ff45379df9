"""Requests with curl, over HTTP/1.1 and over HTTP/2 without TLS."""

import subprocess
from dataclasses import dataclass

from . import apps


@dataclass
class Response(apps.Response):
    #: curl's exit code.
    code: int

    @property
    def reason(self) -> str:
        return self.json["error"]["details"][0]["reason"]


def curl(url: str, version: str, data: str | bytes | None, *options: str, type: str = "application/json") -> Response:
    """Returns the response to a request with a body; without one if `data` is `None`."""
    command = ["curl", "--silent", "--show-error", "--include", "--no-buffer", "--max-time", "30"]
    command += ["--http2-prior-knowledge"] if version == "http2" else ["--http1.1", "-H", "Expect:"]
    body = data.encode() if isinstance(data, str) else data
    if body is not None:
        command += [*(("-H", f"Content-Type: {type}") if type else ()), "--data-binary", "@-"]
    done = subprocess.run([*command, *options, url], input=body or b"", capture_output=True)
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    assert head, done.stderr
    line, *lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, value in (field.split(": ", 1) for field in lines)}
    return Response(int(line.split()[1]), fields, rest, done.returncode)
