"""Restores that a running gateway prepares and its next start completes, through the REST routes, with curl."""

import http.client
import json
import subprocess
from pathlib import Path

from .database import rows
from .gateway import ADMIN_PASSWORD, Gateway, eventually
from .raw import fetch
from .waiting import WAIT_SECONDS

#: The exit code of a gateway that wants to be started again.
RESTART = 75


class Refusal(Exception):
    def __init__(self, status: int, message: str):
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


class Restores:
    """The restore of a running gateway, as an admin of `system` uses it."""

    def __init__(self, gateway: Gateway, token: str):
        self.gateway, self.token = gateway, token

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        response = fetch(self.gateway.listeners["web"], method, path, data, headers)
        read = json.loads(response.body)
        if response.status != 200:
            raise Refusal(response.status, read["error"]["message"])
        return read

    def stage(self, archive: Path, passphrase: str = "") -> dict:
        """Uploads an archive with curl, and returns its description."""
        return self.upload(self.begin(passphrase), archive)

    def begin(self, passphrase: str = "") -> str:
        """Returns the id of an archive that is uploaded next."""
        return self.call("POST", "/v1/restore:stage", {"passphrase": passphrase})["stagingId"]

    def upload(self, staging_id: str, archive: Path, query: str = "") -> dict:
        """Uploads an archive, or the rest of one, with curl, and returns its description."""
        url = f"http://{self.gateway.listeners['web']}/v1/restore/archives/{staging_id}{query}"
        command = ["curl", "-sS", "-T", str(archive), "-H", f"Authorization: Bearer {self.token}", url]
        command += ["-w", "\n%{http_code}", "-o", "-"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 55, 56), done.stderr
        body, status = done.stdout.rsplit("\n", 1)
        read = json.loads(body)
        if status != "200":
            raise Refusal(int(status), read["error"]["message"])
        return read["archive"]

    def state(self) -> dict:
        return self.call("GET", "/v1/restore")

    def deliver(self, staging_id: str, archive: Path, first: int, end: int) -> http.client.HTTPConnection:
        """Sends these bytes of an archive; returns the connection, which can send more, when the gateway has them."""
        connection = http.client.HTTPConnection(self.gateway.listeners["web"], timeout=WAIT_SECONDS)
        connection.putrequest("PUT", f"/v1/restore/archives/{staging_id}?offset={first}")
        connection.putheader("authorization", f"Bearer {self.token}")
        # One byte too many, so that the upload is incomplete even with all bytes of the archive.
        connection.putheader("content-length", str(archive.stat().st_size - first + 1))
        connection.endheaders()
        connection.send(archive.read_bytes()[first:end])
        eventually(lambda: self.state().get("arriving") == {"stagingId": staging_id, "receivedBytes": str(end)})
        return connection

    def discard(self, staging_id: str) -> None:
        self.call("DELETE", f"/v1/restore/archives/{staging_id}")

    def apply(self, archive: dict, password: str = ADMIN_PASSWORD) -> None:
        self.call("POST", f"/v1/restore/archives/{archive['stagingId']}:apply", {"password": password})

    def return_to_previous(self) -> None:
        self.call("POST", "/v1/restore/previousData:return", {"password": ADMIN_PASSWORD})

    def delete_previous(self) -> None:
        self.call("POST", "/v1/restore/previousData:delete", {"password": ADMIN_PASSWORD})


def ended(gateway: Gateway) -> int:
    """Waits until the process has ended by itself, and returns its exit code."""
    process, gateway.process = gateway.process, None
    code = process.wait(WAIT_SECONDS)
    gateway._reader.join()
    gateway.forget_channels()
    return code


def stored(data: Path) -> set[tuple[str, int]]:
    """Returns the ids and sizes of the objects of a stopped gateway, each of which must have its file."""
    found = set(rows(data, "SELECT file_id, size FROM objects"))
    for file_id, size in found:
        assert (data / "store/data" / file_id[:2] / file_id).stat().st_size == size, file_id
    assert rows(data, "PRAGMA integrity_check") == [("ok",)]
    assert list((data / "keys").iterdir())
    return found
