"""scripts/release: it tags only a commit that was checked, in a repository that the tests make."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from support import process
from support.release import SigningKey

ROOT = Path(__file__).resolve().parents[2]
CHANGES = (
    "# Changelog\n\n## 1.0.0 (2026-11-28)\n\n### Added\n\n- The first thing.\n\n## 0.9.0 (2026-01-01)\n\n- Older.\n"
)
#: A stand-in for scripts/dist.
DIST = """dist:
\tmkdir -p .build/dist/1.0.0
\techo archive >.build/dist/1.0.0/data-gateway-1.0.0-linux-amd64.tar.gz
\tgpg --batch --export "$$SIGNER" >.build/key && scripts/installer .build/key .build/dist/1.0.0
\tcd .build/dist/1.0.0 && sha256sum data-gateway-* >SHA256SUMS && gpg --batch --yes --local-user "$$SIGNER" -ab SHA256SUMS
"""


@pytest.fixture(scope="module")
def key():
    process.run(ROOT / "scripts/deps", "gnupg", "gpgv")
    key = SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp")))
    yield key
    key.close()


class Repository:
    """A repository whose commit can be released."""

    def __init__(self, path: Path, key: SigningKey):
        self.path = path
        identity = {
            f"GIT_{who}_{what}": "test@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self.environment = key.environment | identity | {"SIGNER": "release@example.com", "HOME": str(path)}
        (path / "scripts").mkdir(parents=True)
        for name in ("release", "installer", "passed"):
            shutil.copy(ROOT / "scripts" / name, path / "scripts" / name)
        self.write("deploy/install.sh", (ROOT / "deploy/install.sh").read_text())
        self.write("Sources/Platform/Basics/ProgramVersion.swift", '    package static let current = "1.0.0"\n')
        self.write("CHANGELOG.md", CHANGES)
        self.write("Makefile", DIST)
        self.write(".gitignore", ".build/\n")
        self.git("init", "--quiet")
        self.commit()
        self.folder = path / ".build/dist/1.0.0"

    def write(self, name: str, text: str) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def git(self, *arguments) -> str:
        return process.run("git", *arguments, cwd=self.path, env=self.environment).stdout.strip()

    def commit(self) -> None:
        """Commits all changes, and records the checks for the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Change something")
        for check in ("test", "package-test"):
            self.passed(check, self.passed("--commit"))

    def passed(self, *arguments) -> str:
        return process.run("scripts/passed", *arguments, cwd=self.path, env=self.environment).stdout.strip()

    def release(self, *arguments) -> subprocess.CompletedProcess:
        command = ["scripts/release", *(arguments or ["1.0.0"])]
        return subprocess.run(command, cwd=self.path, env=self.environment, capture_output=True, text=True)

    def refuses(self, message: str) -> None:
        """Fails with the one message before anything is made."""
        done = self.release()
        assert done.returncode == 1 and message in done.stderr, (done.stdout, done.stderr)
        assert done.stderr.count("release: ") == 1, done.stderr
        assert self.git("tag") == "" and not self.folder.exists()


@pytest.fixture
def repository(tmp_path, key) -> Repository:
    return Repository(tmp_path / "repository", key)


def test_release_has_an_annotated_tag_with_its_notes(repository):
    done = repository.release()
    assert done.returncode == 0, done.stderr
    for step in ("git push origin v1.0.0", "copy .build/dist/1.0.0 ", "make apt-repository"):
        assert step in done.stdout
    assert repository.git("cat-file", "-t", "v1.0.0") == "tag"
    assert repository.git("rev-parse", "v1.0.0^{commit}") == repository.git("rev-parse", "HEAD")
    message = repository.git("tag", "--list", "--format=%(contents)", "v1.0.0")
    assert message == "data-gateway 1.0.0\n\n### Added\n\n- The first thing."
    assert (repository.folder / "release-notes.md").read_text().startswith("### Added\n\n- The first thing.")
    assert "@PUBLIC_KEY@\n" not in (repository.folder / "install.sh").read_text()
    ring = repository.folder / "data-gateway-release-key.gpg"
    process.run("gpgv", "--keyring", ring, repository.folder / "install.sh.asc", repository.folder / "install.sh")
    again = repository.release()
    assert again.returncode == 1 and "the tag v1.0.0 exists" in again.stderr


def test_dry_run_makes_nothing(repository):
    done = repository.release("1.0.0", "--dry-run")
    assert done.returncode == 0 and done.stdout.endswith("- The first thing.\n\n"), (done.stdout, done.stderr)
    assert repository.git("tag") == "" and not repository.folder.exists()


def test_uncommitted_change_stops_the_release(repository):
    repository.write("new", "")
    repository.refuses("the tree has changes that are not committed")


def test_other_version_of_the_program_stops_the_release(repository):
    repository.write("Sources/Platform/Basics/ProgramVersion.swift", '    package static let current = "1.0.1"\n')
    repository.commit()
    repository.refuses("the program has the version 1.0.1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2026-11-28", "unreleased", 'has no day: "## 1.0.0 (unreleased)"'),
        ("2026-11-28", "2026-13-28", "has no day"),
        ("## 1.0.0 ", "## 1.0.1 ", "has no section 1.0.0"),
        ("### Added\n\n- The first thing.\n\n", "", "is empty"),
    ],
)
def test_incomplete_changelog_stops_the_release(repository, old, new, message):
    repository.write("CHANGELOG.md", CHANGES.replace(old, new))
    repository.commit()
    repository.refuses(message)


@pytest.mark.parametrize("check", ["test", "package-test"])
def test_check_that_did_not_pass_stops_the_release(repository, check):
    (repository.path / ".build/passed" / check).unlink()
    repository.refuses(f"make {check} did not pass for the commit")
    repository.write(f".build/passed/{check}", "0" * 40 + "\n")
    repository.refuses(f"make {check} did not pass for the commit")


def test_check_of_a_changed_tree_is_not_recorded(repository):
    record = repository.path / ".build/passed/test"
    start = repository.passed("--commit")
    repository.write("new", "")
    assert repository.passed("--commit") == ""
    repository.passed("test", start)
    assert not record.exists()
    (repository.path / "new").unlink()
    repository.passed("test", "")
    assert not record.exists()
    repository.passed("test", start)
    assert record.read_text().strip() == start


def test_missing_signing_key_stops_the_release(repository):
    repository.environment = repository.environment | {"DIST_SIGNING_KEY": "other@example.com"}
    repository.refuses("gpg has no private key other@example.com")
    del repository.environment["DIST_SIGNING_KEY"]
    repository.refuses("DIST_SIGNING_KEY does not name the key")


def test_public_key_of_another_signer_stops_the_release(repository, tmp_path):
    other = SigningKey(Path(tempfile.mkdtemp(prefix="key-", dir="/tmp")))
    try:
        shutil.copy(other.public, tmp_path / "other.asc")
    finally:
        other.close()
    repository.environment = repository.environment | {"DIST_PUBLIC_KEY": str(tmp_path / "other.asc")}
    repository.refuses("does not belong to the public key")


def test_public_key_of_a_file_is_accepted(repository, key):
    repository.environment = repository.environment | {"DIST_PUBLIC_KEY": str(key.public)}
    assert repository.release().returncode == 0


@pytest.mark.parametrize("name", ["SHA256SUMS", "install.sh"])
def test_file_without_a_valid_signature_stops_the_release(repository, name):
    repository.write("Makefile", DIST + f"\techo other >>.build/dist/1.0.0/{name}\n")
    repository.commit()
    done = repository.release()
    assert done.returncode == 1 and f"wrote no .build/dist/1.0.0/{name} that the release's key signed" in done.stderr
    assert repository.git("tag") == ""


def test_files_of_an_earlier_run_stop_the_release(repository):
    repository.write(".build/dist/1.0.0/old", "")
    done = repository.release()
    assert done.returncode == 1 and ".build/dist/1.0.0 has files" in done.stderr
    assert repository.git("tag") == "" and [path.name for path in repository.folder.iterdir()] == ["old"]


@pytest.mark.parametrize("script", ["test", "package-test"])
def test_checks_record_the_commit_of_their_start(script):
    lines = (ROOT / "scripts" / script).read_text().splitlines()
    assert lines[-1] == f'scripts/passed {script} "$commit"' and "set -euo pipefail" in lines
    assert "commit=$(scripts/passed --commit)" in lines and not any(line.startswith("exec ") for line in lines)
