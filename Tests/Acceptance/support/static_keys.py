"""Static keys of the object store: their configuration, and their credentials for clients."""

from dataclasses import dataclass
from pathlib import Path

from .copies import secret_file
from .gateway import Gateway
from .oss import Credentials
from .uploads import MIB


@dataclass(frozen=True)
class StaticKey:
    """A static key for a tool. `access` is `read` or `write`; `prefix` limits the keys of objects."""

    id: str
    secret: str
    access: str
    prefix: str = ""

    def setting(self, secrets: Path, **more) -> dict[str, str]:
        """Returns the entry of `object_store.static_keys` with `more` members; writes the secret to a file in that folder."""
        entry = {"id": self.id, "secret_file": secret_file(secrets, self.secret), "access": self.access}
        return entry | ({"prefix": self.prefix} if self.prefix else {}) | more

    def credentials(self, gateway: Gateway, key: str = "", part_size: int = MIB) -> Credentials:
        """Returns the credentials of a client for the object `key`."""
        return Credentials("data", f"http://{gateway.object_store}", key, self.id, self.secret, None, "", part_size)


OWNER = StaticKey("OWNER", "a secret of the owner", "write")
TOOLS = StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/")
