"""The Python client as users install it: its wheel, unpacked without its dependencies, and its command."""

import shlex
import subprocess
import sys
from pathlib import Path

from .client import Device

ROOT = Path(__file__).resolve().parents[3]


def install(directory: Path) -> Path:
    """Builds the wheel, and installs it; returns the folder for PYTHONPATH."""
    build(directory / "wheels")
    (wheel,) = (directory / "wheels").glob("*.whl")
    target = directory / "installed"
    options = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", str(target))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    return target


def build(directory: Path) -> None:
    subprocess.run([ROOT / "scripts/python-client", directory], check=True, env={"PYTHON": sys.executable})


class PythonDevice(Device):
    """A device whose commands are those of the Python client; `binary` is the folder of the package, or a command."""

    @property
    def journals(self) -> list[Path]:
        """Returns the states of unfinished uploads, and the journals of the other program."""
        return sorted((self.folder / "python-uploads").glob("*.json")) + super().journals

    @property
    def command(self) -> list[str]:
        if isinstance(self.binary, str):
            return shlex.split(self.binary)
        return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(self.binary)!r}); {RUN}"]


#: Like the script that pip makes.
RUN = "from data_gateway_device.command import main; sys.exit(main())"
