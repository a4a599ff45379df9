"""`data-gateway serve`: its output, its files, and its end."""

import json
import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from support.faults import late_threads
from support.gateway import ADMIN_PASSWORD, LISTENERS, Gateway, eventually
from support.parties import Fleet, User
from support.uploads import completed, content
from support.waiting import WAIT_SECONDS


@pytest.fixture
def serve(binary, tmp_path):
    """Starts `serve` on free ports, in DIRECTORY/data, with standard error in DIRECTORY/stderr; it ends with the test."""
    started: list[subprocess.Popen] = []

    def start(directory=tmp_path, password: str | None = ADMIN_PASSWORD, config: str = "{}") -> subprocess.Popen:
        (directory / "config.json5").write_text(config)
        command = [binary, "serve", "--data-dir", directory / "data", "--config", directory / "config.json5"]
        for name in LISTENERS:
            command += [f"--{name}-listen", "127.0.0.1:0"]
        environment = {name: value for name, value in os.environ.items() if name != "DATA_GATEWAY_ADMIN_PASSWORD"}
        if password is not None:
            environment["DATA_GATEWAY_ADMIN_PASSWORD"] = password
        with open(directory / "stderr", "wb") as stderr:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, env=environment
            )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def ended(process: subprocess.Popen) -> int:
    """Asks the process to end, and returns its exit code."""
    process.send_signal(signal.SIGTERM)
    return process.wait(WAIT_SECONDS)


def test_sigterm_ends_it_with_zero_and_the_data_is_there_again(gateway_with, login):
    gateway = gateway_with()
    site = login(gateway).admin("CreateSite", name="Here").site
    assert gateway.stop() == 0
    gateway.start()
    assert login(gateway).admin("GetSite", site_id=site.site_id).site == site


def test_the_end_of_the_process_does_not_disturb_its_threads(gateway_with, login):
    gateway = gateway_with({}, late_threads())
    # All event loops, and a thread of the object store, sign and verify.
    completed(Fleet.create(login(gateway)).uploader(), content(300_000))
    assert gateway.stop() == 0


def test_every_listener_has_a_port_of_its_own(gateway):
    ports = {address.rsplit(":", 1)[1] for address in gateway.listeners.values()}
    assert len(ports) == len(gateway.listeners) >= len(LISTENERS)
    assert "0" not in ports


def test_standard_output_has_the_ready_line_only(serve):
    process = serve()
    assert json.loads(process.stdout.readline())["event"] == "ready"
    assert ended(process) == 0
    assert process.stdout.read() == b""


def test_the_first_password_is_written_once_for_its_owner_only(serve, binary, tmp_path, stubs):
    process = serve(password=None)
    ready = json.loads(process.stdout.readline())
    path = tmp_path / "data" / "initial-admin-password"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    password = path.read_text().strip()
    assert len(password) >= 16
    gateway = Gateway(binary, tmp_path)
    gateway.listeners = ready["listeners"]
    assert User.login(gateway, stubs, "system", "admin", password)
    gateway.channel("auth").close()
    assert ended(process) == 0
    assert password not in (tmp_path / "stderr").read_text()


def test_a_password_that_was_given_is_not_written(serve, tmp_path):
    process = serve()
    assert process.stdout.readline()
    assert not (tmp_path / "data" / "initial-admin-password").exists()


def test_secret_files_are_readable_by_their_owner_only(gateway):
    keys = gateway.data / "keys"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    files = [path for path in keys.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_no_secret_is_in_the_log(gateway, uploader, upload):
    upload.put(b"x").complete()
    log = gateway.stderr
    for secret in [
        ADMIN_PASSWORD,
        uploader.credential,
        uploader.token,
        upload.credentials.secret,
        upload.credentials.token,
    ]:
        assert secret not in log


def test_a_database_without_its_root_key_does_not_start(gateway_with, serve):
    gateway = gateway_with()
    gateway.stop()
    for path in (gateway.data / "keys").rglob("*"):
        if path.is_file():
            path.unlink()
    process = serve(gateway.directory)
    assert process.wait(WAIT_SECONDS) != 0
    assert process.stdout.read() == b""


def test_two_gateways_do_not_share_a_data_directory(gateway_with, serve):
    gateway = gateway_with()
    assert serve(gateway.directory).wait(WAIT_SECONDS) != 0


@pytest.mark.parametrize(
    "config",
    [
        "nonsense",
        '{"uploads": {"part_size_bytes": 1000}}',
        '{"uploads": {"part_size_bytes": -1}}',
        '{"uploads": {"no_such_key": 1}}',
        '{"object_store": {"bucket": "Not A Bucket"}}',
        '{"object_store": {"public_endpoint": "no-scheme:80"}}',
        '{"object_store": {"public_endpoint": "http://[::1]:80"}}',
        '{"object_store": {"public_endpoint": "http://127.0.0.1:80/prefix"}}',
        '{"device_init": {"reinit": "whenever"}}',
    ],
)
def test_a_configuration_that_breaks_a_rule_is_refused_with_the_reason(serve, tmp_path, config):
    process = serve(config=config)
    assert process.wait(WAIT_SECONDS) != 0
    assert process.stdout.read() == b""
    assert (tmp_path / "stderr").read_text().strip()


def test_json5_with_comments_is_accepted(serve):
    process = serve(config="{uploads: {part_size_bytes: 65536,},} // as people write it")
    assert json.loads(process.stdout.readline())["event"] == "ready"


def test_second_sigterm_is_ignored(serve):
    process = serve()
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    process.wait(WAIT_SECONDS)


def test_code_of_the_start_is_not_resident(serve, binary):
    process = serve()
    assert process.stdout.readline()
    code = re.compile(
        rf"^\S+ r-xp .* {re.escape(str(binary.resolve()))}\nSize: +(\d+) kB\n(?:.*\n)*?Rss: +(\d+) kB", re.M
    )

    def resident() -> float:
        """Returns the part of the program's code that is mapped."""
        ((size, mapped),) = code.findall(Path(f"/proc/{process.pid}/smaps").read_text())
        return int(mapped) / int(size)

    eventually(lambda: resident() < 0.3)
