"""The store as operators' tools use it: with static keys, by boto3 and oss2."""

from dataclasses import dataclass
from pathlib import Path

import oss2
import pytest

from . import s3
from .gateway import Gateway
from .parties import User
from .raw import Response
from .static_keys import OWNER, TOOLS, StaticKey
from .uploads import MIB

READER = StaticKey("AUDITOR", "a secret of the auditor", "read")
ORIGIN = "https://viewer.example.com"


@dataclass
class Store:
    """A gateway with the keys, and its admin."""

    gateway: Gateway
    admin: User

    @classmethod
    def start(cls, gateway_with, login, secrets: Path) -> "Store":
        """Starts a gateway with the keys, whose secrets are written to a folder."""
        keys = [key.setting(secrets) for key in (OWNER, TOOLS, READER)]
        settings = {"static_keys": keys, "buckets": {"maps": {"prefix": "tools/maps/"}}, "cors_origins": [ORIGIN]}
        gateway = gateway_with({"object_store": settings})
        return cls(gateway, login(gateway))

    def client(self, key=OWNER, **config):
        return s3.client(key.credentials(self.gateway, part_size=8 * MIB), **config)

    def send(self, method: str, target: str, body: bytes = b"", key=OWNER, **options) -> Response:
        """Sends a request of S3 that boto3 would not make; see `s3.send`."""
        return s3.send(key.credentials(self.gateway), method, target, body, **options)

    def oss(self, key=OWNER, auth=oss2.AuthV4, bucket="data") -> oss2.Bucket:
        endpoint = f"http://{self.gateway.object_store}"
        return oss2.Bucket(auth(key.id, key.secret), endpoint, bucket, region="local")


def oss_refused(step, *arguments, **named) -> tuple[int, str]:
    with pytest.raises(oss2.exceptions.OssError) as refusal:
        step(*arguments, **named)
    return refusal.value.status, refusal.value.code
