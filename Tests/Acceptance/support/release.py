"""A release made of small archives, signed with a key that a test makes."""

import hashlib
import io
import os
import tarfile
from pathlib import Path

from . import process

ROOT = Path(__file__).resolve().parents[3]


class SigningKey:
    """A key of gpg in a folder of its own. The folder is below /tmp, because the agent's socket needs a short path."""

    def __init__(self, home: Path):
        home.chmod(0o700)
        self.home, self.environment = (
            home,
            os.environ | {"GNUPGHOME": str(home), "DIST_SIGNING_KEY": "release@example.com"},
        )
        make = ["--passphrase", "", "--quick-generate-key", "release@example.com", "ed25519", "sign", "never"]
        process.run("gpg", "--batch", "--quiet", *make, env=self.environment)
        self.public = home / "public.asc"
        self.export("--armor", "--output", self.public)

    def export(self, *options) -> None:
        process.run("gpg", "--batch", *options, "--export", "release@example.com", env=self.environment)

    def sign(self, file: Path) -> None:
        process.run("gpg", "--batch", "--yes", "--armor", "--detach-sign", file, env=self.environment)

    def close(self) -> None:
        process.run("gpgconf", "--kill", "all", env=self.environment)
        # The agent removes its sockets while it ends; rm accepts that a file is already removed.
        process.run("rm", "-rf", self.home)


class Release:
    """The folder of a release, as scripts/dist writes it."""

    def __init__(self, folder: Path, version: str, key: SigningKey):
        self.folder, self.version, self.key = folder, version, key
        folder.mkdir(parents=True)
        for machine in ("amd64", "arm64"):
            self.archive("data-gateway", machine)
            self.archive("data-gateway-device", machine)
        self.seal()

    def name(self, program: str, machine: str = "amd64") -> str:
        return f"{program}-{self.version}-linux-{machine}"

    def archive(
        self, program: str, machine: str, padding: int = 0, programs: tuple[str, ...] = ("data-gateway",)
    ) -> Path:
        """Writes an archive whose program prints its name, version and machine."""
        top = self.name(program, machine)
        files = {f"bin/{name}": (f"#!/bin/sh\necho {top}\n".encode(), 0o755) for name in programs}
        files |= {"lib/libexample.so": (os.urandom(padding), 0o644), "share/doc/README.md": (b"Read me.\n", 0o644)}
        path = self.folder / f"{top}.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for name, (data, mode) in files.items():
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size, entry.mode = len(data), mode
                tar.addfile(entry, io.BytesIO(data))
        return path

    def seal(self) -> None:
        """Writes the list of sums, its signature, and the installer."""
        files = sorted(path for path in self.folder.iterdir() if path.name.startswith("data-gateway"))
        lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
        (self.folder / "SHA256SUMS").write_text("".join(lines))
        self.key.sign(self.folder / "SHA256SUMS")
        process.run(ROOT / "scripts/installer", self.key.public, self.folder, env=self.key.environment)
