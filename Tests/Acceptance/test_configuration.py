"""The configuration of a gateway: `config check`, `config show`, the environment, and reloads by SIGHUP."""

import json
import signal
import subprocess

import grpc
import pytest
from support.certificates import Authority
from support.gateway import Gateway, eventually
from support.monitoring import log, logged
from support.parties import Fleet
from support.uploads import Upload

LOG_KEYS = {"level": "debug", "format": "json"}


@pytest.mark.parametrize("mode, is_warned_about", [(0o600, False), (0o640, False), (0o644, True), (0o602, True)])
def test_a_secret_that_others_reach_is_warned_about(config, tmp_path, mode, is_warned_about):
    (secret := tmp_path / "secret").write_text("a secret of some length")
    secret.chmod(mode)
    shop = {"url": "http://127.0.0.1:1/", "secret_file": str(secret)}
    done = config("check", text=json.dumps({"webhooks": {"shop": shop}}))
    assert done.returncode == 0
    assert ("other users can read a secret" in done.stderr) == is_warned_about
    assert (str(secret) in done.stderr) == is_warned_about


@pytest.fixture
def config(binary, tmp_path):
    """Runs `data-gateway config …` with a configuration file of that text, and environment variables."""

    def run(*arguments: str, text: str = "{}", **variables: str) -> subprocess.CompletedProcess:
        path = tmp_path / "gateway.json5"
        path.write_text(text)
        return subprocess.run(
            [binary, "config", *arguments, "--config", path],
            capture_output=True, text=True, timeout=30, env={"PATH": "/usr/bin"} | variables,
        )  # fmt: skip

    return run


def test_valid_configuration_passes_the_check(config):
    done = config("check", text="{scrub: {interval_seconds: 60}} // often", DATA_GATEWAY_LOG__LEVEL="warning")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no faults: 2 keys set")


def test_every_fault_is_reported_with_its_line(config):
    text = """{
      log: { levle: "info" },
      scrub: { interval_seconds: 0 },
      nonsense: 1,
      copy: { destinations: [
        { organizations: [] , bogus: 2 },
      ] },
    }"""
    done = config("check", "--json", text=text, DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES="1")
    assert done.returncode == 1
    faults = json.loads(done.stdout)["faults"]
    found = [(fault["line"], fault["key"]) for fault in faults]
    assert (2, "log.levle") in found and (3, "scrub.interval_seconds") in found and (4, "nonsense") in found
    assert (None, "uploads.part_size_bytes") in found
    assert any(line == 6 and key.startswith("copy.destinations[0].") for line, key in found), found
    output = config("check", text=text).stderr
    assert (
        "gateway.json5:3: scrub.interval_seconds must be" in output
        and "gateway.json5:4: unknown key nonsense" in output
    )


@pytest.mark.parametrize(
    "text, expected",
    [
        ('{ listeners: {gatewy: "1"}, tls: {certificate: "nope"} }', ["listeners.gatewy", "tls.certificate"]),
        ('{ listeners: {auth: "0.0.0.0:1"}, tls: {key: "nope"}, copies: {} }', ["copies", "tls.key"]),
        (
            '{ webhooks: {crm: {url: "no"}}, loging: {level: "info"}, log: {} }',
            ["loging.level", "webhooks.crm", "webhooks.crm.url"],
        ),
        (
            '{ copy: {destinations: [{kind: "ftp"}, {kind: "directory", root: "x", rot: 1}]} }',
            ["copy.destinations[0].kind", "copy.destinations[1].root"],
        ),
        ('{ listeners: {auth: "0.0.0.0:1", admin: "0.0.0.0:2"} }', ["listeners.admin", "listeners.auth"]),
    ],
)
def test_no_fault_hides_another_one(config, text, expected):
    done = config("check", "--json", text=text)
    assert done.returncode == 1
    faults = json.loads(done.stdout)["faults"]
    assert sorted((fault["key"] for fault in faults), key=str) == sorted(expected, key=str), faults


def test_empty_sections_are_known_only_by_their_names(config):
    assert config("check", text="{tls: {}, webhooks: {}, copy: {}}").returncode == 0
    assert "unknown key copies" in config("check", text="{copies: {}}").stderr


@pytest.mark.parametrize(
    "text, says",
    [
        (
            "{\n  uploads: {\n    part_size_bytes: oops\n  }\n}",
            "line 3, column 22: unexpected oops: strings must be in quotation marks",
        ),
        ("{uploads: {part_size: 1}}", "unknown key uploads.part_size"),
        ("{log: {levle: 'info'}}", "unknown key log.levle; did you mean log.level?"),
        ("{log: {level: 'loud'}}", "log.level must be debug, info, warning or error, not loud"),
        ("{rpc: 1}", "rpc must be a section"),
        ("{tls: {certificate: '/nowhere/chain.pem', key: '/nowhere/key.pem'}}", "/nowhere/chain.pem cannot be used"),
        ("{listeners: {auth: '0.0.0.0:1'}}", "reachable from other machines"),
    ],
)
def test_invalid_setting_is_named(config, text, says):
    for command in ("check", "show"):
        if command == "show" and "pem" in says:
            continue
        done = config(command, text=text)
        assert done.returncode == 1 and done.stdout == ""
        assert says in done.stderr


@pytest.mark.parametrize(
    "name, says",
    [
        ("nowhere", "cannot read the configuration file {}: No such file or directory"),
        ("", "cannot read the configuration file {}: Is a directory"),
    ],
)
def test_file_that_cannot_be_read_is_named_with_the_reason(binary, tmp_path, name, says):
    path = tmp_path / name
    command = [binary, "config", "check", "--config", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (1, "")
    assert says.format(path) in done.stderr


def test_a_misspelt_variable_is_named(config):
    done = config("check", DATA_GATEWAY_LOG__LEVLE="info")
    assert done.returncode == 1
    assert "DATA_GATEWAY_LOG__LEVLE; did you mean DATA_GATEWAY_LOG__LEVEL?" in done.stderr
    # Neither of these is a key: commands read the first, Kubernetes sets the second.
    assert config("check", DATA_GATEWAY_ADMIN="127.0.0.1:1", DATA_GATEWAY_SERVICE_HOST="10.0.0.1").returncode == 0


def test_show_names_values_and_their_sources(config):
    def shown(*arguments: str) -> dict[str, tuple[str, str]]:
        text = "{quota: {device_bytes: 1000}, rpc: {trusted_proxies: ['192.0.2.0/24', '::1']}}"
        options = ["--json", "--web-listen", "127.0.0.1:0"]
        done = config("show", *arguments, *options, text=text, DATA_GATEWAY_QUOTA__DEVICE_BYTES="2000")
        assert (done.returncode, done.stderr) == (0, "")
        return {row["key"]: (row["value"], row["source"]) for row in json.loads(done.stdout)["settings"]}

    given = {
        "listeners.web": ("127.0.0.1:0", "option --web-listen"),
        "quota.device_bytes": ("2000", "environment DATA_GATEWAY_QUOTA__DEVICE_BYTES"),
        "rpc.trusted_proxies": ("192.0.2.0/24, ::1", "file"),
    }
    assert shown() == given
    effective = shown("--effective")
    assert given.items() <= effective.items()
    assert effective["log.level"] == ("info", "default")
    assert len(effective) > 60


def test_show_lists_the_members_of_lists(config, tmp_path):
    (secret := tmp_path / "secret").write_text("hush, a secret of some length")
    keys = [{"id": "tools", "secret_file": str(secret), "access": "read"}]
    text = json.dumps(
        {"object_store": {"static_keys": keys}, "copy": {"destinations": [{"kind": "directory", "root": "/srv"}]}}
    )
    done = config("show", "--json", text=text)
    assert (done.returncode, done.stderr) == (0, "")
    shown = {row["key"]: row["value"] for row in json.loads(done.stdout)["settings"]}
    assert shown["copy.destinations"] == "1 entry"
    assert shown["copy.destinations[0].root"] == "/srv"
    assert shown["object_store.static_keys[0].id"] == "tools"
    assert shown["object_store.static_keys[0].secret_file"] == str(secret)
    assert "hush" not in done.stdout


def test_environment_overrides_the_file(binary, tmp_path, stubs, login):
    gateway = Gateway(binary, tmp_path, {"uploads": {"part_size_bytes": 65536}})
    gateway.environment = {"DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES": "131072"}
    try:
        uploader = Fleet.create(login(gateway.start())).uploader()
        assert Upload.create(uploader).part_size == 131072
    finally:
        gateway.close()


def reload(gateway, config: dict | str) -> None:
    gateway.config.write_text(config if isinstance(config, str) else json.dumps(config))
    gateway.process.send_signal(signal.SIGHUP)


def test_sighup_takes_what_it_can_and_names_the_rest(gateway_with, login):
    gateway = gateway_with({"log": LOG_KEYS, "quota": {"device_uploads": 1}})
    uploader = Fleet.create(login(gateway)).uploader()
    Upload.create(uploader)
    with pytest.raises(grpc.RpcError) as refused:
        Upload.create(uploader)
    assert "1 uploads in progress" in refused.value.details()

    reload(gateway, {"log": LOG_KEYS, "quota": {"device_uploads": 2}, "web": {"max_connections": 7}})
    line = logged(gateway, event="reloaded")
    assert line["changed"] == "quota.device_uploads"
    assert line["needs_restart"] == "web.max_connections"
    Upload.create(uploader)
    with pytest.raises(grpc.RpcError) as refused:
        Upload.create(uploader)
    assert "2 uploads in progress" in refused.value.details()


def test_sighup_names_the_keys_that_were_removed(gateway_with, tmp_path):
    (secret := tmp_path / "secret").write_text("0123456789abcdef")
    secret.chmod(0o600)
    shop = {"url": "http://127.0.0.1:1/", "secret_file": str(secret)}
    gateway = gateway_with({"log": LOG_KEYS, "webhooks": {"shop": shop}})
    reload(gateway, {"log": LOG_KEYS})
    assert "webhooks.shop.url" in logged(gateway, event="reloaded")["needs_restart"].split(", ")


def test_sighup_changes_how_the_log_is_written(gateway_with, stubs):
    gateway = gateway_with({"log": LOG_KEYS})
    check = stubs.health.HealthStub(gateway.channel("auth")).Check

    def probe(name: str) -> None:
        check(stubs.health.HealthCheckRequest(), timeout=20, metadata=[("x-request-id", name)])

    probe("seen")
    assert logged(gateway, request_id="seen")["level"] == "debug"
    reload(gateway, {"log": {"format": "json"}})
    eventually(lambda: any(line["event"] == "reloaded" for line in log(gateway)))
    probe("unseen")
    reload(gateway, {"log": LOG_KEYS | {"format": "text"}})
    eventually(lambda: " reloaded " in gateway.stderr)
    probe("seen-again")
    eventually(lambda: " request_id=seen-again method=/grpc.health.v1.Health/Check code=OK " in gateway.stderr)
    assert "unseen" not in gateway.stderr


@pytest.mark.parametrize("config", ["{", '{"quota": {"device_uploads": -1}}', '{"no": {"such": "key"}}'])
def test_a_configuration_that_breaks_a_rule_changes_nothing(gateway_with, login, config):
    gateway = gateway_with({"quota": {"device_uploads": 1}})
    reload(gateway, config)
    assert logged(gateway, event="the reload failed")["consequence"] == "the current configuration stays in use"
    uploader = Fleet.create(login(gateway)).uploader()
    Upload.create(uploader)
    with pytest.raises(grpc.RpcError):
        Upload.create(uploader)


def test_certificates_are_checked(config, tmp_path):
    certificate, key, _ = Authority(tmp_path, "authority").issue("server")
    pair = {"tls": {"certificate": str(certificate), "key": str(key)}}
    assert config("check", text=json.dumps(pair)).returncode == 0
    key.write_text("no key")
    assert f"{key} cannot be used" in config("check", text=json.dumps(pair)).stderr
