"""The apt repository that scripts/apt-repository makes, and an apt-get that knows no other."""

import subprocess
from pathlib import Path

from . import process
from .release import SigningKey

ROOT = Path(__file__).resolve().parents[3]
SUITE = "dists/stable"
POOL = "pool/main/d/data-gateway"
KEY = "data-gateway-release-key.gpg"


def stand_in(directory: Path) -> Path:
    """Compiles a small program that takes the gateway's place in packages."""
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "program.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("stand-in"); return 0; }\n')
    process.run("cc", "-s", "-o", directory / "program", source)
    return directory / "program"


def package(directory: Path, version: str, script: str = "deb") -> Path:
    """Builds a real package, with the stand-in as its program."""
    program = stand_in(directory / "program")
    arguments = ("--binary", program, "--version", version, "--output", directory)
    return Path(process.run(ROOT / "scripts" / script, *arguments).stdout.strip())


def repository(folder: Path, key: SigningKey, *packages: Path, epoch: int = 1_700_000_000) -> Path:
    """Adds packages to the repository in `folder`."""
    environment = key.environment | {"SOURCE_DATE_EPOCH": str(epoch)}
    process.run(ROOT / "scripts/apt-repository", "--output", folder, *packages, env=environment)
    return folder


def sources(uri: str, ring: str | Path) -> str:
    """Returns the file of docs/installation.md that names the repository."""
    return f"Types: deb\nURIs: {uri}\nSuites: stable\nComponents: main\nSigned-By: {ring}\n"


class Apt:
    """apt-get with state, cache and sources below a folder, and without this machine's configuration."""

    def __init__(self, path: Path, uri: str, ring: Path):
        self.path = path
        for folder in ("state/lists/partial", "cache/archives/partial", "sources", "downloads", "none"):
            (path / folder).mkdir(parents=True)
        (path / "status").touch()
        (path / "sources/data-gateway.sources").write_text(sources(uri, ring))
        settings = {
            "Dir::State": path / "state",
            "Dir::State::status": path / "status",
            "Dir::Cache": path / "cache",
            "Dir::Etc::Main": path / "none/apt.conf",
            "Dir::Etc::Parts": path / "none",
            "Dir::Etc::SourceList": path / "none/sources.list",
            "Dir::Etc::SourceParts": path / "sources",
            "Dir::Etc::TrustedParts": path / "none",
            "Dir::Etc::Trusted": path / "none/trusted.gpg",
            # The folder of a test is open to its user only.
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::Retries": "0",
        }
        (path / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        """Runs a program of apt, for example apt-get, in the folder for downloads."""
        environment = {"APT_CONFIG": str(self.path / "apt.conf"), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        return subprocess.run(
            arguments, env=environment, cwd=self.path / "downloads", capture_output=True, text=True, timeout=60
        )

    def update(self) -> subprocess.CompletedProcess:
        return self.run("apt-get", "update")

    def download(self, name: str) -> subprocess.CompletedProcess:
        return self.run("apt-get", "download", name)

    def versions(self, name: str) -> list[str]:
        """Returns the versions that apt would install, the newest first."""
        lines = self.run("apt-cache", "madison", name).stdout.splitlines()
        return [line.split("|")[1].strip() for line in lines]

    def downloaded(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.path / "downloads").iterdir()}
