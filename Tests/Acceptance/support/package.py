"""The Debian package: built by scripts/deb, and put into folders by dpkg."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from .gateway import Gateway

ROOT = Path(__file__).resolve().parents[3]
#: In the older package only.
LOST = "usr/share/data-gateway/lost"


def run(*command, **options) -> str:
    """What a command that must succeed prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(binary: Path, version: str, output: Path) -> Path:
    """A package of a program that is built already, uncompressed."""
    return Path(run(ROOT / "scripts/deb", "--binary", binary, "--version", version, "--output", output).strip())


def older(package: Path, version: str, directory: Path) -> Path:
    """The package as it may have been before: of a lower version, with another configuration and a file that it lost."""
    folder, control = directory / "repacked", directory / "repacked/DEBIAN/control"
    run("dpkg-deb", "--raw-extract", package, folder)
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", control.read_text()))
    config = folder / "etc/data-gateway/config"
    config.write_text(f"// Of {version}.\n{config.read_text()}")
    (folder / LOST).write_text("What the next version does without.\n")
    result = directory / f"data-gateway_{version}.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, result)
    shutil.rmtree(folder)
    return result


class Folder:
    """A folder that dpkg on this machine fills; the package's scripts see it in DPKG_ROOT, and run here."""

    #: Everything that a system would have to let dpkg do, and a folder need not.
    DPKG = ["--force-not-root", "--force-depends", "--force-script-chrootless", "--force-bad-path", "--log=/dev/null"]

    def __init__(self, path: Path):
        self.path = path
        for name in ("info", "updates", "triggers"):
            (path / "var/lib/dpkg" / name).mkdir(parents=True)
        (path / "var/lib/dpkg/status").touch()

    def dpkg(self, *arguments) -> None:
        run("dpkg", f"--root={self.path}", *self.DPKG, *arguments)

    #: As unattended upgrades have it: what the administrator changed stays.
    INSTALL = ["--force-confdef", "--force-confold", "--install"]

    def install(self, package: Path) -> None:
        self.dpkg(*self.INSTALL, package)

    def give_to_service(self, path: Path) -> None:
        """Makes the service's user the owner of what is below `path`; here it is whoever runs the test."""

    def version(self) -> str:
        return run("dpkg-query", f"--admindir={self.path}/var/lib/dpkg", "-Wf", "${Version}", "data-gateway")

    def gateway(self, directory: Path) -> Gateway:
        """The installed program on the installed configuration, as the service would run it but for its ports."""
        gateway = Gateway(self.path / "usr/bin/data-gateway", directory)
        gateway.data = self.path / "var/lib/data-gateway"
        gateway.config = self.path / "etc/data-gateway/config"
        return gateway


def bare_debian(path: Path, dependencies: list[str]) -> Path:
    """Fills a folder with a Debian that has these packages and what no system is without, from apt's mirror."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    codename = release["VERSION_CODENAME"].strip('"')
    targets = run("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages").splitlines()
    mirror = next(site for site, name in map(str.split, targets) if name == codename)
    proxy = run("apt-config", "shell", "proxy", "Acquire::http::Proxy").strip().removeprefix("proxy=").strip("'")
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(dependencies)}", codename, path, mirror]
    run(*command, env=os.environ | ({"http_proxy": proxy} if proxy else {}))
    return path


class System(Folder):
    """A bare Debian in a folder: dpkg and the program run in there."""

    USER = "data-gateway"

    def __init__(self, path: Path, base: Path):
        self.path = path
        run("cp", "--archive", "--reflink=auto", base, path)

    def dpkg(self, *arguments) -> None:
        run("chroot", self.path, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "dpkg", *arguments)

    def install(self, package: Path) -> None:
        shutil.copy(package, self.path / "package.deb")
        self.dpkg(*self.INSTALL, "/package.deb")
        (self.path / "package.deb").unlink()

    def give_to_service(self, path: Path) -> None:
        run("chroot", self.path, "chown", "--recursive", f"{self.USER}:", f"/{path.relative_to(self.path)}")

    def gateway(self, directory: Path) -> Gateway:
        gateway = Gateway(Path("/usr/bin/data-gateway"), directory)
        # /proc is mounted for this process alone, and goes with it.
        script = f'mount -t proc proc "$0/proc" && exec chroot --userspec={self.USER}:{self.USER} "$0" "$@"'
        gateway.wrapper = ["unshare", "--mount", "--propagation=private", "sh", "-c", script, str(self.path)]
        gateway.data = Path("/var/lib/data-gateway")
        gateway.config = Path("/etc/data-gateway/config")
        return gateway


def dependencies(package: Path) -> list[str]:
    """The names of the packages that it depends on."""
    text = run("dpkg-deb", "--field", package, "Depends").strip()
    return [re.split(r"[ (|]", name.strip())[0] for name in text.split(",") if name.strip()]
