"""The object engine of the gateways of a whole run; see `scripts/objects`."""

import hashlib
from pathlib import Path

from .engines import ACCESS_KEY, SECRET_KEY

#: The bucket for all gateways, below a prefix of each.
BUCKET = "gateways"
#: The URL of the engine; empty = objects are in the data directory.
_endpoint = ""


def use(endpoint: str | None) -> None:
    """Sets the engine for gateways that start from now on."""
    global _endpoint
    _endpoint = endpoint or ""


def is_used() -> bool:
    return bool(_endpoint)


def environment(data: Path) -> dict[str, str]:
    """Returns the variables for the gateway of a data directory."""
    if not _endpoint:
        return {}
    settings = {
        "ENGINE": "s3",
        "ENDPOINT": _endpoint,
        "BUCKET": BUCKET,
        "PREFIX": hashlib.sha256(str(data).encode()).hexdigest()[:16],
        "CREDENTIALS": "environment",
    }
    credentials = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    return credentials | {f"DATA_GATEWAY_OBJECTS__{name}": value for name, value in settings.items()}
