"""A gateway with its database on a PostgreSQL server, for the operator: configuration, TLS, rights, a second gateway, metrics."""

import json
import os
import pwd
import shutil
import signal
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from engines.postgres import Server
from support import database_engine
from support.certificates import Authority
from support.client import SignedIn
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, unique
from support.ports import free_port
from support.raw import fetch_url
from support.replicas import ROOT
from support.uploads import completed, content, download

#: The role of the server with TLS, and its passwords.
ROLE, PASSWORDS = "robots", ("first password", "second password")
PREFIX = "data_gateway_database"


class SecureServer(Server):
    """A server that asks for a password and for TLS at a port of loopback."""

    def __init__(self, authority: Authority):
        self._files = authority.issue("server", addresses=("127.0.0.1",))[:2]
        super().__init__(
            settings={
                "listen_addresses": "127.0.0.1",
                "port": str(free_port()),
                "ssl": "on",
                "ssl_cert_file": "server.pem",
                "ssl_key_file": "server.key",
            }
        )

    def _make_data(self) -> None:
        super()._make_data()
        data = self.directory / "data"
        owner = data.stat()
        for file in self._files:
            shutil.copy(file, data / file.name)
            os.chown(data / file.name, owner.st_uid, owner.st_gid)
            (data / file.name).chmod(0o600)
        (data / "pg_hba.conf").write_text("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")

    def secure_url(self, host: str = "127.0.0.1") -> str:
        return f"postgresql://{ROLE}@{host}:{self.port}/postgres"


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def secure(authority):
    with SecureServer(authority) as server:
        server.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORDS[0]}'")
        server.execute(f"GRANT CREATE ON DATABASE postgres TO {ROLE}")
        yield server


class Pooler:
    """PgBouncer in front of a server."""

    def __init__(self, server: Server, mode: str):
        #: The folder of its socket, which the server's user owns.
        self.directory = server.directory / unique("pooler")
        self.directory.mkdir()
        owner = pwd.getpwnam("postgres")
        settings = {
            "listen_addr": "",
            "listen_port": 6432,
            "unix_socket_dir": self.directory,
            "auth_type": "any",
            "pool_mode": mode,
            "max_client_conn": 200,
            "default_pool_size": 60,
            "logfile": self.directory / "log",
        }
        lines = ["[databases]", f"postgres = host={server.directory} user=gateway", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        (file := self.directory / "pgbouncer.ini").write_text("\n".join(lines) + "\n")
        for path in (self.directory, file):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig=KILL"]
        self.process = subprocess.Popen([*command, "pgbouncer", "--quiet", file])
        assert eventually(lambda: (self.directory / ".s.PGSQL.6432").exists())

    @property
    def variables(self) -> dict[str, str]:
        url = f"postgresql://gateway@/postgres?host={self.directory}&port=6432"
        return variables(url=url, schema=unique("pooled").replace("-", "_"))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def pooler(postgres):
    poolers: list[Pooler] = []

    def start(mode: str) -> Pooler:
        poolers.append(Pooler(postgres, mode))
        return poolers[-1]

    yield start
    for each in poolers:
        each.close()


@pytest.fixture
def place(postgres) -> dict[str, str]:
    """The variables for a schema of the test's own."""
    return database_engine.variables(postgres, unique("test").replace("-", "_"))


@pytest.fixture
def password(tmp_path, secure) -> Path:
    """The file with the password of the role."""
    secure.execute(f"ALTER ROLE {ROLE} PASSWORD '{PASSWORDS[0]}'")
    (file := tmp_path / "password").write_text(PASSWORDS[0] + "\n")
    file.chmod(0o600)
    return file


def variables(**settings) -> dict[str, str]:
    return {f"DATA_GATEWAY_DATABASE__{name.upper()}": str(value) for name, value in settings.items()}


def refusal(gateway_with, environment: dict[str, str], config: dict | None = None) -> str:
    """Returns what a gateway says that does not start."""
    with pytest.raises(AssertionError, match="no ready line") as failure:
        gateway_with(config, environment)
    return str(failure.value)


def check(binary, environment: dict[str, str], *options: str) -> subprocess.CompletedProcess:
    command = [binary, "config", "check", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin"} | environment)


def uploaded(login, gateway) -> tuple[str, bytes]:
    """Uploads an object, and returns its id and its bytes."""
    boss, data = login(gateway), content(300_000)
    completed(Fleet.create(boss).uploader(), data)
    (entry,) = boss.list_all()
    return entry.file_id, data


def test_data_are_on_the_server_after_a_restart(gateway_with, login, place):
    gateway = gateway_with(None, place)
    file_id, data = uploaded(login, gateway)
    assert not (gateway.data / "gateway.db").exists()
    assert gateway.stop() == 0
    assert download(login(gateway.start()), file_id) == data


def test_killed_gateway_starts_again_at_once(gateway_with, login, place):
    gateway = gateway_with(None, place)
    file_id, data = uploaded(login, gateway)
    gateway.kill()
    assert download(login(gateway.start()), file_id) == data


def test_second_gateway_is_refused(gateway_with, login, place):
    gateway = gateway_with(None, place)
    file_id, data = uploaded(login, gateway)
    message = refusal(gateway_with, place)
    assert "the database is in use by another gateway (process " in message and "stop that gateway" in message
    assert download(login(gateway), file_id) == data
    assert gateway.stop() == 0
    assert "the root key " in refusal(gateway_with, place)


def test_gateway_with_another_store_is_refused(binary, gateway_with, login, place, tmp_path):
    first = gateway_with(None, place)
    file_id, data = uploaded(login, first)
    assert first.stop() == 0
    second = Gateway(binary, tmp_path)
    second.environment |= place
    second.data.mkdir()
    shutil.copytree(first.data / "keys", second.data / "keys")
    shutil.copy(first.data / "format", second.data / "format")
    with pytest.raises(AssertionError, match="is empty, and the database is that of another store"):
        second.start()
    assert download(login(first.start()), file_id) == data


def test_directory_keeps_its_kind_of_database(gateway_with, login, place):
    # Empty variables are ignored.
    none = dict.fromkeys([*place, "DATA_GATEWAY_DATABASE__READ_CONNECTIONS"], "")
    own = gateway_with(None, none)
    assert own.stop() == 0
    own.environment |= place
    with pytest.raises(AssertionError, match="has the data of this gateway, and database.url names a server"):
        own.start()
    served = gateway_with(None, place)
    assert served.stop() == 0
    served.environment |= none
    with pytest.raises(AssertionError, match="is on a server .* set database.url and database.schema"):
        served.start()


def test_new_schema_is_refused_for_a_used_directory(gateway_with, place):
    gateway = gateway_with(None, place)
    assert gateway.stop() == 0
    gateway.environment |= variables(schema="another")
    with pytest.raises(AssertionError, match="schema another is a new database, but .* is there"):
        gateway.start()


def test_password_is_changed_without_a_restart(gateway_with, login, secure, authority, password):
    gateway = gateway_with(
        None,
        variables(
            url=secure.secure_url(),
            schema="changed",
            password_file=password,
            authorities=authority.path,
        ),
    )
    file_id, data = uploaded(login, gateway)
    secure.execute(f"ALTER ROLE {ROLE} PASSWORD '{PASSWORDS[1]}'")
    password.write_text(PASSWORDS[1] + "\n")
    secure.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'")
    boss = login(gateway)
    assert download(boss, file_id) == data
    completed(Fleet.create(boss).uploader(), content(1000))
    assert PASSWORDS[0] not in gateway.stderr and PASSWORDS[1] not in gateway.stderr


def test_server_of_another_authority_is_refused(binary, gateway_with, secure, password, tmp_path):
    other = Authority(tmp_path, "other")
    place = variables(url=secure.secure_url(), password_file=password, authorities=other.path)
    assert "certificate verify failed" in refusal(gateway_with, place | variables(start_timeout=0))
    done = check(binary, place)
    assert done.returncode == 1 and "database: refusal: the database is not available" in done.stdout, done
    place |= variables(url=secure.secure_url("localhost"), authorities=tmp_path / "none.pem")
    assert check(binary, place).returncode == 1


def test_wrong_password_is_not_shown(binary, secure, authority, password):
    password.write_text("wrong password\n")
    place = variables(url=secure.secure_url(), password_file=password, authorities=authority.path)
    done = check(binary, place)
    assert done.returncode == 1 and "password authentication failed" in done.stdout, done
    assert "wrong password" not in done.stdout + done.stderr


@pytest.mark.parametrize("url", ["postgresql://u:secretword@h/d", "postgresql://u@h/d?password=secretword"])
def test_url_with_a_password_is_refused(binary, url):
    done = check(binary, variables(url=url), "--offline")
    assert done.returncode == 1
    assert "database.url must not have a password: write it into a file, and set database.password_file" in done.stderr
    assert "secretword" not in done.stdout + done.stderr


def test_check_describes_the_server(binary, gateway_with, place, secure, authority, password):
    done = check(binary, place)
    assert done.returncode == 0, done
    assert "database: fact: PostgreSQL 15." in done.stdout and "without TLS" in done.stdout
    assert "database: warning: the role is a superuser" in done.stdout
    assert "database: warning: the server may lose its data in a power loss: set fsync = on" in done.stdout
    assert "has no tables: a gateway creates them when it starts" in done.stdout
    gateway_with(None, place)
    done = check(binary, place, "--json")
    findings = json.loads(done.stdout)["database"]
    assert any("a gateway that uses the database is process" in finding for finding in findings), findings
    assert any(finding.endswith("is current") for finding in findings), findings
    assert json.loads(check(binary, place, "--offline", "--json").stdout)["database"] == []
    secured = variables(url=secure.secure_url(), schema="checked", password_file=password, authorities=authority.path)
    done = check(binary, secured)
    assert done.returncode == 0 and "TLSv1.3" in done.stdout and "superuser" not in done.stdout, done
    assert "grant pg_read_all_stats to it" in done.stdout


def test_check_names_missing_rights(binary, secure, authority, password):
    secure.execute("CREATE SCHEMA foreign_owner")
    place = variables(
        url=secure.secure_url(), schema="foreign_owner", password_file=password, authorities=authority.path
    )
    done = check(binary, place)
    assert done.returncode == 1
    assert "refusal: the role may not use the schema foreign_owner and create tables in it" in done.stdout


def test_commands_for_files_say_what_to_use(binary, gateway_with, place, tmp_path):
    gateway = gateway_with(None, place)
    assert gateway.stop() == 0
    for command in (["doctor"], ["restore", "--from", str(tmp_path / "none")]):
        done = subprocess.run(
            [binary, *command, "--data-dir", gateway.data], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 1, done
    assert "name the configuration of the gateway with --config" in done.stderr or command[0] == "restore", done


def test_pooler_is_refused_unless_it_keeps_sessions(binary, gateway_with, login, pooler):
    transactions, sessions = pooler("transaction"), pooler("session")
    for each in (transactions, sessions):
        assert "a connection pooler is in front of the database" in refusal(gateway_with, each.variables)
    allowed = variables(pooler="session")
    message = "the connection pooler changes sessions with each transaction: set its pool_mode to session"
    assert message in refusal(gateway_with, transactions.variables | allowed)
    assert message in check(binary, transactions.variables | allowed).stdout
    gateway = gateway_with(None, sessions.variables | allowed)
    file_id, data = uploaded(login, gateway)
    assert gateway.stop() == 0
    assert download(login(gateway.start()), file_id) == data
    assert gateway.stop() == 0


def test_keys_of_a_server_are_refused_without_one(binary):
    done = check(binary, variables(schema="robots"), "--offline")
    assert done.returncode == 1
    assert "database.schema is only for a database on a server: remove it, or set database.url" in done.stderr


def test_metrics_and_status_show_the_server(binary, gateway_with, login, place, tmp_path):
    gateway = gateway_with(None, place)
    uploaded(login, gateway)
    assert eventually(lambda: metric(gateway, f"{PREFIX}_up") == 1)
    assert metric(gateway, f"{PREFIX}_writes_total") >= metric(gateway, f"{PREFIX}_batches_total") > 0

    def counts() -> set[float]:
        names = ("commit_seconds_count", "lock_held_seconds_count", "batches_total")
        return {metric(gateway, f"{PREFIX}_{name}") for name in names}

    assert eventually(lambda: len(counts()) == 1)
    assert metric(gateway, f"{PREFIX}_lock_wait_seconds_count") >= max(counts())
    assert metric(gateway, f"{PREFIX}_pool_wait_seconds_count", **{"for": "connection"}) > 0
    assert metric(gateway, f"{PREFIX}_round_trips_total") > metric(gateway, f"{PREFIX}_batches_total")
    assert metric(gateway, f"{PREFIX}_in_doubt_total") == 0
    assert metric(gateway, f"{PREFIX}_bytes") > 0 and metric(gateway, f"{PREFIX}_xid_age") > 0
    user = SignedIn(binary, gateway, tmp_path)
    state = json.loads(user.done("status", "--ops", gateway.listeners["ops"], "--json"))["database"]
    assert (state["engine"], state["state"]) == ("postgresql", "available") and state["version"].startswith("15.")
    assert place["DATA_GATEWAY_DATABASE__SCHEMA"] in state["place"]


def test_the_lines_for_several_gateways_are_valid(secure):
    file = secure.directory / "data/pg_hba.conf"
    before = file.read_text()
    # The server does not use them before it is asked to read the file again.
    file.write_text((ROOT / "deploy/scale-out/pg_hba.conf").read_text())
    try:
        with closing(secure.connect("postgres")) as connection:
            rules = connection.execute("SELECT type, error FROM pg_hba_file_rules").fetchall()
    finally:
        file.write_text(before)
    assert rules == [(kind, None) for kind in ("local", "hostssl", "hostssl", "hostssl", "host")]


def test_a_gateway_without_its_server_is_not_ready(gateway_with):
    with Server() as server:
        gateway = gateway_with(environment=database_engine.variables(server, "lost"))
        ready = f"http://{gateway.listeners['ops']}/readyz"
        assert fetch_url(ready).status == 200
        server.process.send_signal(signal.SIGINT)
        server.process.wait()
        eventually(lambda: fetch_url(ready).status == 503)
        assert fetch_url(ready).body == b"the database's server does not answer\n"
        gateway.kill()


@contextmanager
def starting(gateway: Gateway):
    """Starts a gateway in a thread, and continues when it waits for its database."""
    with ThreadPoolExecutor(1) as pool:
        started: Future[Gateway] = pool.submit(gateway.start)
        try:
            eventually(lambda: started.done() or "the gateway waits for its database" in gateway.stderr)
            assert not started.done(), started.result()
            yield started
        finally:
            if started.running():
                gateway.process.kill()


def test_a_gateway_waits_for_its_server_at_its_start(binary, login, tmp_path):
    with Server() as server:
        gateway = Gateway(binary, tmp_path)
        gateway.environment |= database_engine.variables(server, "late") | variables(start_timeout=600)
        # Like all hosts before one of them is promoted.
        server.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        server.execute("SELECT pg_reload_conf()")
        with starting(gateway) as started:
            server.kill()
            eventually(lambda: "Connection refused" in gateway.stderr)
            (server.directory / "data/postgresql.auto.conf").write_text("")
            server.serve()
            started.result()
        waits = [json.loads(line) for line in gateway.stderr.splitlines() if "waits for its database" in line]
        assert "session is read-only" in waits[0]["error"] and str(server.directory) in waits[0]["place"]
        assert "the database is available" in gateway.stderr
        uploaded(login, gateway)
        gateway.close()


def test_a_gateway_that_waits_for_its_server_ends_at_sigterm(binary, tmp_path):
    gateway = Gateway(binary, tmp_path)
    gateway.environment |= variables(url=f"postgresql://gateway@/postgres?host={tmp_path}", start_timeout=600)
    with starting(gateway) as started:
        gateway.process.send_signal(signal.SIGTERM)
        with pytest.raises(AssertionError, match="no ready line"):
            started.result()
    assert gateway.exit_code == 0


def test_a_gateway_without_a_server_ends_after_its_wait(binary, tmp_path):
    gateway = Gateway(binary, tmp_path)
    gateway.environment |= variables(url=f"postgresql://gateway@/postgres?host={tmp_path}", start_timeout=2)
    with pytest.raises(AssertionError, match="data-gateway: the database is not available: .*No such file"):
        gateway.start()
    assert gateway.exit_code == 1 and gateway.stderr.count("the gateway waits for its database") == 1
