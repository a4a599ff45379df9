"""The libraries `Wire` and `Proto`, used by a package that depends on a version of this one."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The parts of the repository that SwiftPM reads.
PARTS = ("Package.swift", "Sources", "Tests", "Benchmarks")


def run(*command: str, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    result = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def publish(folder: Path) -> None:
    """Makes a repository with the working tree as version 1.0.0."""
    folder.mkdir()
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS, cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    run("git", "init", "--quiet", cwd=folder)
    run("git", "add", "--force", ".", cwd=folder)
    author = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    run("git", *author, "commit", "--quiet", "--message", "Version 1.0.0", cwd=folder)
    run("git", "tag", "1.0.0", cwd=folder)


def test_a_package_uses_the_products_as_a_versioned_dependency(tmp_path):
    publish(tmp_path / "data-gateway")
    user = tmp_path / "VersionedUser"
    shutil.copytree(ROOT / "Tests/VersionedUser", user)
    manifest = user / "Package.swift"
    manifest.write_text(
        manifest.read_text().replace('url: "data-gateway"', f'url: "file://{tmp_path / "data-gateway"}"')
    )
    cache = ("--cache-path", str(tmp_path / "cache"))
    run("swift", "build", *cache, "--product", "versioned-user", cwd=user)
    output = run("swift", "run", *cache, "--skip-build", "versioned-user", cwd=user)
    assert output.splitlines()[-1] == '{"deviceId":"robot-7"}'
