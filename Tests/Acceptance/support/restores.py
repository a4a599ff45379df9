"""Restores that a running gateway prepares and its next start completes, through the REST routes, with curl."""

import contextlib
import json
import sqlite3
import subprocess
from pathlib import Path

from .gateway import ADMIN_PASSWORD, STOP_TIMEOUT, Gateway
from .raw import fetch

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
        answer = fetch(self.gateway.listeners["web"], method, path, data, headers)
        read = json.loads(answer.body)
        if answer.status != 200:
            raise Refusal(answer.status, read["error"]["message"])
        return read

    def stage(self, archive: Path, passphrase: str = "") -> dict:
        """Uploads an archive with curl, and returns its description."""
        staging_id = self.call("POST", "/v1/restore:stage", {"passphrase": passphrase})["stagingId"]
        url = f"http://{self.gateway.listeners['web']}/v1/restore/archives/{staging_id}"
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

    def apply(self, archive: dict, password: str = ADMIN_PASSWORD) -> None:
        self.call("POST", f"/v1/restore/archives/{archive['stagingId']}:apply", {"password": password})

    def return_to_previous(self) -> None:
        self.call("POST", "/v1/restore/previousData:return", {"password": ADMIN_PASSWORD})

    def delete_previous(self) -> None:
        self.call("POST", "/v1/restore/previousData:delete", {"password": ADMIN_PASSWORD})


def ended(gateway: Gateway) -> int:
    """Waits until the process has ended by itself, and returns its exit code."""
    process, gateway.process = gateway.process, None
    code = process.wait(STOP_TIMEOUT)
    gateway._reader.join()
    gateway.forget_channels()
    return code


def rows(data: Path, statement: str, *arguments) -> list[tuple]:
    """Returns rows of the database of a stopped gateway."""
    with contextlib.closing(sqlite3.connect(f"file:{data / 'gateway.db'}?mode=ro", uri=True)) as database:
        return database.execute(statement, arguments).fetchall()


def stored(data: Path) -> set[tuple[str, int]]:
    """Returns the ids and sizes of the objects of a stopped gateway, each of which must have its file."""
    found = set(rows(data, "SELECT file_id, size FROM objects"))
    for file_id, size in found:
        assert (data / "store/data" / file_id[:2] / file_id).stat().st_size == size, file_id
    assert rows(data, "PRAGMA integrity_check") == [("ok",)]
    assert list((data / "keys").iterdir())
    return found
