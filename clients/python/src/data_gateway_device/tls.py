"""The authorities that certificates are verified against."""

from __future__ import annotations

import ssl
from pathlib import Path

from .errors import FolderError


class Authorities:
    """The trusted authorities: those of a PEM file, else those of the system."""

    def __init__(self, path: Path | None = None):
        self._path = path

    def context(self) -> ssl.SSLContext:
        """Returns the settings for HTTPS."""
        try:
            return ssl.create_default_context(cafile=None if self._path is None else str(self._path))
        except (OSError, ssl.SSLError) as error:
            raise FolderError(f"cannot read the authorities in {self._path}: {error}") from error

    def pem(self) -> bytes:
        """Returns the authorities for gRPC, which has other defaults than the system."""
        context = self.context()
        certificates = context.get_ca_certs(binary_form=True)
        return "".join(ssl.DER_cert_to_PEM_cert(each) for each in certificates).encode()
