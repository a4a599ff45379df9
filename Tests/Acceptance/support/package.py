"""The Debian package, built by scripts/deb and installed into folders by dpkg."""

import os
import re
import shutil
from pathlib import Path

from . import apt, process
from .gateway import Gateway
from .release import SigningKey

ROOT = Path(__file__).resolve().parents[3]
#: A file in the older package only.
LOST = "usr/share/data-gateway/lost"


def run(*command, **options) -> str:
    """Returns the output of a command that must succeed."""
    return process.run(*command, timeout=None, **options).stdout


def build(binary: Path, version: str, output: Path) -> Path:
    """Builds an uncompressed package of an existing program."""
    return Path(run(ROOT / "scripts/deb", "--binary", binary, "--version", version, "--output", output).strip())


def older(package: Path, version: str, directory: Path) -> Path:
    """Makes an older variant of the package: with a lower version, another configuration and a file that was removed later."""
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
    """A folder as dpkg's root on this machine; the package's scripts get it in DPKG_ROOT, and run here."""

    #: Options that let dpkg work on a folder instead of a system.
    DPKG = ["--force-not-root", "--force-depends", "--force-script-chrootless", "--force-bad-path", "--log=/dev/null"]

    def __init__(self, path: Path):
        self.path = path
        for name in ("info", "updates", "triggers"):
            (path / "var/lib/dpkg" / name).mkdir(parents=True)
        (path / "var/lib/dpkg/status").touch()

    def dpkg(self, *arguments) -> None:
        run("dpkg", f"--root={self.path}", *self.DPKG, *arguments)

    #: The options of unattended upgrades: changes by the administrator stay.
    INSTALL = ["--force-confdef", "--force-confold", "--install"]

    def install(self, package: Path) -> None:
        self.dpkg(*self.INSTALL, package)

    def give_to_service(self, path: Path) -> None:
        """Makes the service's user the owner of everything below `path`; here that is the user who runs the test."""

    def version(self) -> str:
        return run("dpkg-query", f"--admindir={self.path}/var/lib/dpkg", "-Wf", "${Version}", "data-gateway")

    def gateway(self, directory: Path) -> Gateway:
        """Returns the installed program with the installed configuration, as the service would run it except for the ports."""
        gateway = Gateway(self.path / "usr/bin/data-gateway", directory)
        gateway.data = self.path / "var/lib/data-gateway"
        gateway.config = self.path / "etc/data-gateway/config"
        return gateway


def bare_debian(path: Path, dependencies: list[str], version: str | None = None) -> Path:
    """Fills a folder with a minimal Debian and these packages, from apt's mirror; by default of this machine's version."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    codename = release["VERSION_CODENAME"].strip('"')
    targets = run("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages").splitlines()
    mirror = next(site for site, name in map(str.split, targets) if name == codename)
    proxy = run("apt-config", "shell", "proxy", "Acquire::http::Proxy").strip().removeprefix("proxy=").strip("'")
    command = [
        "debootstrap",
        "--variant=minbase",
        f"--include={','.join(dependencies)}",
        version or codename,
        path,
        mirror,
    ]
    run(*command, env=os.environ | ({"http_proxy": proxy} if proxy else {}))
    return path


class System(Folder):
    """A minimal Debian in a folder: dpkg and the program run inside."""

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
        # /proc is mounted for this process only, and unmounted with it.
        script = f'mount -t proc proc "$0/proc" && exec chroot --userspec={self.USER}:{self.USER} "$0" "$@"'
        gateway.wrapper = ["unshare", "--mount", "--propagation=private", "sh", "-c", script, str(self.path)]
        gateway.data = Path("/var/lib/data-gateway")
        gateway.config = Path("/etc/data-gateway/config")
        return gateway


class AptSystem(System):
    """A minimal Debian that knows one signed apt repository, from which apt-get installs."""

    #: Changes by the administrator stay.
    OPTIONS = ["-qq", "-y", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"]

    def __init__(self, path: Path, base: Path, key: SigningKey):
        super().__init__(path, base)
        self.key = key
        (path / "etc/apt/sources.list").unlink()
        ring = path / "etc/apt/keyrings" / apt.KEY
        ring.parent.mkdir(exist_ok=True)
        key.export("--output", ring)
        ring.chmod(0o644)
        sources = path / "etc/apt/sources.list.d/data-gateway.sources"
        sources.write_text(apt.sources("file:/srv/apt", f"/etc/apt/keyrings/{apt.KEY}"))

    def apt_get(self, *arguments) -> None:
        run("chroot", self.path, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", *arguments)

    def dpkg(self, *arguments) -> None:
        """Runs apt-get in place of dpkg: its commands have the same names without the dashes."""
        self.apt_get(*self.OPTIONS, *(argument.removeprefix("--") for argument in arguments))

    def install(self, package: Path) -> None:
        apt.repository(self.path / "srv/apt", self.key, package)
        self.apt_get("update", "-qq", "-o", "APT::Update::Error-Mode=any")
        self.dpkg("install", "data-gateway")


def faults(package: Path) -> str:
    """Returns what lintian calls an error or a warning."""
    process.run(ROOT / "scripts/deps", "lintian", timeout=None)
    # Packages of tests are not compressed.
    compression = [f"uses-no-compression-for-{part}-tarball" for part in ("control", "data")]
    options = ["--allow-root", "--suppress-tags", ",".join(compression), "--display-level", ">=warning"]
    return process.run("lintian", *options, package, timeout=None).stdout


def dependencies(package: Path) -> list[str]:
    """Returns the names of the packages that it depends on."""
    text = run("dpkg-deb", "--field", package, "Depends").strip()
    return [re.split(r"[ (|]", name.strip())[0] for name in text.split(",") if name.strip()]
