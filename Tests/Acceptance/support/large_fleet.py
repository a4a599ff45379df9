"""A data directory with the uploads of four organizations over thirty days, which `Tests/Showcase` makes."""

import json
import subprocess
from pathlib import Path

from .gateway import Gateway
from .parties import User

VIDEO = Path(__file__).with_name("clip.mp4")
#: The numbers of objects, and with --full.
SHORT, FULL = 600, 20_000


class LargeFleet:
    """The gateway of the directory, and the description of its contents that the program printed."""

    def __init__(self, binary: Path, folder: Path, objects: int, config: dict | None = None):
        self.gateway = Gateway(binary, folder, config)
        options = {"--data-dir": self.gateway.data, "--objects": objects, "--video": VIDEO}
        command = [binary.with_name("showcase"), *(part for option in options.items() for part in option)]
        printed = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
        self.contents = json.loads(printed.stdout)

    def login(self, stubs, organization: str, user: str = "ada") -> User:
        return User.login(self.gateway, stubs, organization, user, self.contents["password"])
