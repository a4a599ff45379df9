"""The authorities that certificates are verified against."""

from __future__ import annotations

import contextlib
import os
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
        if self._path is None:
            _load_directory(context)
        certificates = context.get_ca_certs(binary_form=True)
        if not certificates:
            raise FolderError(
                "this system has no trusted authorities: name a file of them with --ca or $DATA_GATEWAY_CA"
            )
        return "".join(ssl.DER_cert_to_PEM_cert(each) for each in certificates).encode()


def _load_directory(context: ssl.SSLContext) -> None:
    """Loads the authorities of the system's directory, of which OpenSSL reads those only that it meets."""
    paths = ssl.get_default_verify_paths()
    with contextlib.suppress(OSError):
        for entry in os.scandir(paths.capath or os.devnull):
            # Other names are those of links to the same files.
            if entry.name.endswith((".pem", ".crt", ".0")):
                with contextlib.suppress(OSError, ssl.SSLError):
                    context.load_verify_locations(entry.path)
