"""Copy jobs, and destinations for them."""

import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import boto3

from .gateway import eventually
from .parties import User
from .ports import free_port

FINISHED = {"SUCCEEDED", "PARTIAL_FAILED", "FAILED", "CANCELED"}


@dataclass
class Copies:
    """A user's calls of DataGatewayCopyService."""

    user: User

    def call(self, method: str, **fields):
        return self.user.copies(method, **fields)

    def create(self, file_ids: list[str], destination: dict, **fields):
        return self.call("CreateCopyJob", file_ids=file_ids, destination=destination, **fields)

    def job(self, job_id: str):
        return self.call("GetCopyJob", copy_job_id=job_id).job

    def status(self, job_id: str) -> str:
        status = self.user.stubs.gateway.CopyJobStatus.Name(self.job(job_id).status)
        return status.removeprefix("COPY_JOB_STATUS_")

    def finished(self, job_id: str, seconds: float = 60):
        """Waits until the job has finished, and returns it."""
        eventually(lambda: self.status(job_id) in FINISHED, seconds)
        return self.job(job_id)

    def items(self, job_id: str, **fields) -> list:
        items, token = [], ""
        while True:
            page = self.call("ListCopyJobItems", copy_job_id=job_id, page_token=token, **fields)
            items += page.items
            if not (token := page.next_page_token):
                return items

    def states(self, job_id: str) -> list[str]:
        name = self.user.stubs.gateway.CopyItemStatus.Name
        return [name(item.status).removeprefix("COPY_ITEM_STATUS_") for item in self.items(job_id)]

    def cancel(self, job_id: str, reason: str = "") -> str:
        reply = self.call("CancelCopyJob", copy_job_id=job_id, reason=reason)
        return self.user.stubs.gateway.CopyJobStatus.Name(reply.status).removeprefix("COPY_JOB_STATUS_")


@dataclass
class Moto:
    """moto's S3 server, as a process."""

    port: int = field(default_factory=free_port)

    def __post_init__(self):
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self._accepts, 60)

    def _accepts(self) -> bool:
        assert self.process.poll() is None, "moto ended by itself"
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self):
        keys = {"aws_access_key_id": "AK", "aws_secret_access_key": "secret"}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **keys)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def secret_file(directory: Path, secret: str) -> str:
    """Writes a secret to a new file, and returns the path."""
    path = directory / f"secret-{len(list(directory.glob('secret-*')))}"
    path.write_text(secret + "\n")
    path.chmod(0o600)
    return str(path)
