"""Buckets for the objects of a gateway: the object store of another one, which needs no other program, or Ceph's RGW."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .engines import RadosGateway
from .gateway import Gateway
from .s3 import client
from .static_keys import StaticKey

KEY = StaticKey("ENGINE", "a secret of the engine", "write")
#: How often RGW is started if it does not start: another program may have taken its ports.
ATTEMPTS = 3


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
    #: The gateway that is the store; `None` for RGW.
    gateway: Gateway | None = None
    rados: RadosGateway | None = None

    @classmethod
    def start(cls, gateway_with, folder: Path, **settings) -> "Bucket":
        """Starts a gateway whose store is the bucket; `settings` are those of its `object_store`."""
        gateway = gateway_with({"object_store": {"static_keys": [KEY.setting(folder)]} | settings})
        write_credentials(folder / "credentials", KEY.id, KEY.secret)
        return cls(gateway.object_store, "data", folder / "credentials", gateway)

    @classmethod
    def start_rados(cls, folder: Path, keys: list[StaticKey], in_memory: bool = False) -> "Bucket":
        """Starts RGW over BlueStore or in memory, with these keys; `stop` ends it."""
        for attempt in range(ATTEMPTS):
            (own := folder / f"rados-{attempt}").mkdir()
            try:
                rados = RadosGateway(own, in_memory)
                break
            except (AssertionError, OSError, subprocess.SubprocessError) as failure:
                print(f"RGW did not start: {failure}", file=sys.stderr)
        else:
            raise AssertionError(f"RGW did not start in {ATTEMPTS} attempts")
        for key in keys:
            rados.add_key(key.id, key.secret)
        rados.make_bucket("data")
        write_credentials(folder / "credentials", KEY.id, KEY.secret)
        return cls(rados.address, "data", folder / "credentials", rados=rados)

    def kill(self) -> None:
        """Ends the programs of the store without warning."""
        self.rados.stop() if self.rados else self.gateway.kill()

    def start_again(self) -> None:
        """Starts a store that was killed, with what it has stored."""
        self.rados.start_again() if self.rados else self.gateway.start()

    def stop(self) -> None:
        """Ends RGW; a gateway ends with its tests."""
        if self.rados:
            self.rados.stop()

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
