"""A database on a server that is prepared for several gateways: `cluster init`, and the root key in a file that all of them have."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from engines.postgres import Server
from support import database_engine
from support.client import SignedIn
from support.commands import offline
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import User, unique

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


class Cluster:
    """A schema of the test's own, and the files of its operator."""

    def __init__(self, binary: Path, server: Server, folder: Path):
        self.binary, self.folder = binary, folder
        self.root_key, self.password = folder / "root.key", folder / "password"
        self.variables = database_engine.variables(server, unique("cluster").replace("-", "_"))

    def environment(self, root_key: Path | None = None) -> dict[str, str]:
        return self.variables | {"DATA_GATEWAY_DATABASE__ROOT_KEY_FILE": str(root_key or self.root_key)}

    def run(self, *options, root_key: Path | None = None, password: Path | None = None, **variables: str):
        """Runs `cluster init`."""
        given = ["--password-file", password or self.password] if not variables else []
        return subprocess.run(
            [self.binary, "cluster", "init", *given, *options],
            capture_output=True,
            text=True,
            timeout=120,
            env={"PATH": "/usr/bin"} | self.environment(root_key) | variables,
        )

    def prepare(self, **options) -> dict:
        done = self.run("--json", **options)
        assert done.returncode == 0, done
        return json.loads(done.stdout)


@pytest.fixture
def cluster(binary, postgres, tmp_path) -> Cluster:
    return Cluster(binary, postgres, tmp_path)


def test_gateway_serves_a_prepared_database(cluster, gateway_with, stubs):
    made = cluster.prepare()
    assert made["is_new"] and made["root_key_file"] == str(cluster.root_key), made
    assert cluster.root_key.stat().st_mode & 0o777 == 0o600 and cluster.password.stat().st_mode & 0o777 == 0o600
    gateway = gateway_with(None, cluster.environment())
    # The variable with a password has no effect any more.
    password = cluster.password.read_text().strip()
    assert password != ADMIN_PASSWORD
    assert User.login(gateway, stubs, "system", "admin", password).admin("ListSites") is not None
    assert not (gateway.data / "keys/root").exists() and not (gateway.data / "initial-admin-password").exists()
    assert gateway.stop() == 0
    assert User.login(gateway.start(), stubs, "system", "admin", password).admin("ListSites") is not None


def test_repetition_changes_nothing(cluster, binary):
    made = cluster.prepare()
    files = [cluster.root_key.read_bytes(), cluster.password.read_bytes()]
    again = cluster.prepare()
    assert again == made | {"is_new": False}
    assert files == [cluster.root_key.read_bytes(), cluster.password.read_bytes()]
    # The password of a file that the repetition has made would belong to nobody.
    other = cluster.folder / "other"
    done = cluster.run(password=other)
    assert done.returncode == 0 and "was prepared before, nothing was changed" in done.stdout, done
    assert not other.exists()
    assert cluster.prepare(DATA_GATEWAY_ADMIN_PASSWORD="another password") == again


@pytest.mark.parametrize("is_shared", [True, False])
def test_one_of_several_at_once_wins(cluster, gateway_with, stubs, is_shared):
    keys = [cluster.root_key if is_shared else cluster.folder / f"root-{number}" for number in range(4)]
    passwords = [cluster.folder / f"password-{number}" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(
            pool.map(
                lambda files: cluster.run("--json", root_key=files[0], password=files[1]),
                zip(keys, passwords, strict=True),
            )
        )
    prepared = [json.loads(each.stdout) for each in done if each.returncode == 0]
    assert [each["is_new"] for each in prepared].count(True) == 1, done
    for each in done:
        if each.returncode:
            assert not is_shared, each
            assert re.search("root key .* is (not that of the database|.*missing)", each.stderr), each
    assert len({each["root_key_fingerprint"] for each in prepared}) == 1
    # The files of the others are gone.
    (key,), (password,) = ({path for path in paths if path.exists()} for paths in (keys, passwords))
    gateway = gateway_with(None, cluster.environment(key))
    assert User.login(gateway, stubs, "system", "admin", password.read_text().strip()).admin("ListSites") is not None


def test_gateway_without_the_root_key_is_refused(cluster, binary, tmp_path_factory):
    def refusal(root_key: Path) -> str:
        gateway = Gateway(binary, tmp_path_factory.mktemp("refused"))
        gateway.environment |= cluster.environment(root_key)
        with pytest.raises(AssertionError, match="no ready line") as failure:
            gateway.start()
        return str(failure.value)

    missing = f"the root key {cluster.root_key} (database.root_key_file) is missing: copy the file from another gateway"
    assert missing in refusal(cluster.root_key)
    fingerprint = cluster.prepare()["root_key_fingerprint"]
    (other := cluster.folder / "other.key").write_bytes(bytes(32))
    message = refusal(other)
    assert f"the root key {other} is not that of the database " in message and f"the database {fingerprint})" in message
    done = cluster.run(root_key=other)
    assert done.returncode == 1 and f"the root key {other} is not that of the database " in done.stderr, done


def test_init_needs_a_server_a_root_key_and_a_password(cluster, binary):
    def run(variables: dict[str, str], *options: str) -> str:
        done = subprocess.run(
            [binary, "cluster", "init", *options], capture_output=True, text=True, timeout=60, env=variables
        )
        assert done.returncode != 0
        return done.stderr

    given = ("--password-file", str(cluster.password))
    needed = "the configuration must have database.url and database.root_key_file"
    assert needed in run({}, *given) and needed in run(cluster.variables, *given)
    assert "--password-file" in run(cluster.environment())
    cluster.password.write_text("short\n")
    assert "must be a password of at least 8 bytes" in run(cluster.environment(), *given)
    assert not cluster.root_key.exists()


def test_archive_has_the_root_key(cluster, gateway_with, binary, tmp_path):
    cluster.password.write_text(f"{ADMIN_PASSWORD}\n")
    cluster.prepare()
    gateway = gateway_with(None, cluster.environment())
    operator = SignedIn(binary, gateway, tmp_path)
    archive, restored = tmp_path / "gateway.backup", tmp_path / "restored"
    assert operator.done("backup", "--to", str(archive))
    offline(binary, "restore", "--from", archive, "--data-dir", restored)
    assert (restored / "keys/root").read_bytes() == cluster.root_key.read_bytes()
    assert gateway.stop() == 0
    examined = offline(
        binary, "doctor", "--data-dir", gateway.data, "--config", gateway.config, environment=cluster.environment()
    )
    assert examined["key_problems"] == []
