"""A bucket that needs no other program: the object store of a gateway, for the objects of another one."""

from dataclasses import dataclass
from pathlib import Path

from .gateway import Gateway
from .s3 import client
from .static_keys import StaticKey

KEY = StaticKey("ENGINE", "a secret of the engine", "write")


def write_credentials(path: Path, key_id: str, secret: str) -> None:
    """Replaces the file with the credentials, in the format of S3's tools."""
    fresh = path.with_suffix(".new")
    fresh.write_text(f"[default]\naws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n")
    fresh.chmod(0o600)
    fresh.rename(path)


@dataclass
class Bucket:
    """A bucket, and the settings of gateways with their objects in it."""

    #: `host:port` of the store.
    address: str
    name: str
    credentials: Path
    #: The gateway that is the store; `None` for another engine.
    gateway: Gateway | None = None

    @classmethod
    def start(cls, gateway_with, folder: Path, **settings) -> "Bucket":
        """Starts a gateway whose store is the bucket; `settings` are those of its `object_store`."""
        gateway = gateway_with({"object_store": {"static_keys": [KEY.setting(folder)]} | settings})
        write_credentials(folder / "credentials", KEY.id, KEY.secret)
        return cls(gateway.object_store, "data", folder / "credentials", gateway)

    def settings(self, prefix: str = "robots", address: str = "", **more) -> dict:
        """Returns the section `objects`; `address` is that of a proxy."""
        return {
            "engine": "s3",
            "endpoint": f"http://{address or self.address}",
            "bucket": self.name,
            "prefix": prefix,
            "credentials_file": str(self.credentials),
        } | more

    def keys(self, prefix: str) -> set[str]:
        """Returns the keys with the prefix, fewer than a page."""
        found = client(KEY.credentials(self.gateway)).list_objects_v2(Bucket=self.name, Prefix=prefix)
        return {each["Key"] for each in found.get("Contents", [])}
