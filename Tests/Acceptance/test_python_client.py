"""`clients/python`: the Python client, installed from its wheel, against a real gateway with an unreliable network."""

import contextlib
import errno
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from support.certificates import Authority
from support.client import Device, Network, SignedIn, Stage, end
from support.commands import OK, REFUSED, UNREACHABLE, USAGE
from support.faults import Clock
from support.gateway import eventually
from support.parties import Fleet, Uploader
from support.python_client import ROOT, PythonDevice, build, install
from support.uploads import FILE_NAME_TAG, MIB, content, fresh_seeds, is_stored
from support.waiting import WAIT_SECONDS

PART = 64 * 1024
#: Three parts and a shorter one.
SIZE = 3 * PART + 1234
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}
#: The lifetime of tokens and credentials in seconds.
LIFETIME = 600


@pytest.fixture(scope="session")
def installed(request, tmp_path_factory):
    """The folder of the installed package, or the command that `--python-client` names."""
    return request.config.getoption("--python-client") or install(tmp_path_factory.mktemp("python-client"))


@pytest.fixture(scope="module")
def initialized(installed, network, network_fleet, tmp_path_factory) -> PythonDevice:
    device = PythonDevice(installed, network, tmp_path_factory.mktemp("device") / "folder")
    return device.join(network_fleet, tags={"model": "mk2"})


@pytest.fixture
def path(tmp_path):
    return file_with(tmp_path, SIZE)


def file_with(tmp_path, size: int, name: str = "drive.mcap"):
    path = tmp_path / name
    with open(path, "wb") as file:
        for start in range(0, size, MIB):
            file.write(content(min(MIB, size - start), next(fresh_seeds)))
    return path


def arrived(user, run: str, tmp_path, count: int = 1) -> list[bytes]:
    """Returns the contents of the objects with the run's tag; there must be `count` of them."""
    ids = [found["file_id"] for found in user.objects(f"raw_tags.run={run}")]
    assert len(ids) == count
    user.done("download", *ids, "--by-id", "--to", tmp_path / "arrived")
    return [(tmp_path / "arrived" / id).read_bytes() for id in ids]


# The package


def test_package_has_the_version_of_the_program():
    source = (ROOT / "Sources/Platform/Basics/ProgramVersion.swift").read_text()
    package = (ROOT / "clients/python/src/data_gateway_device/version.py").read_text()
    assert re.search(r'VERSION = "(.*)"', package)[1] == re.search(r'current = "(.*)"', source)[1]


def test_descriptors_are_generated_from_the_protos(tmp_path):
    generate = ROOT / "clients/python/generate"
    subprocess.run([sys.executable, generate, tmp_path / "descriptors.py"], check=True)
    sources = (ROOT / "clients/python/src/data_gateway_device/_descriptors.py", tmp_path / "descriptors.py")
    committed, generated = ({} for _ in sources)
    for source, names in zip(sources, (committed, generated), strict=True):
        exec(source.read_text(), names)
    assert committed["FILES"] == generated["FILES"], "run clients/python/generate"


def test_two_builds_of_the_wheel_are_equal(tmp_path):
    for name in ("one", "two"):
        build(tmp_path / name)
    (one,), (two,) = ((tmp_path / name).iterdir() for name in ("one", "two"))
    assert one.name == two.name and one.name.endswith("-py3-none-any.whl")
    assert one.read_bytes() == two.read_bytes()


# init


def test_init_writes_what_the_sdks_write(initialized, network):
    assert initialized.config.keys() == {"api_key", "tags"}
    assert initialized.config["tags"] == {"model": "mk2"}
    endpoints = json.loads((initialized.folder / "archebase-endpoints.json").read_text())
    assert endpoints.keys() == {"auth", "gateway", "deviceInit"}
    host, port = network.rpc.address.split(":")
    assert endpoints["gateway"] == {"scheme": "http", "host": host, "port": int(port)}
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in initialized.folder.glob("*.json"))


def test_init_is_refused_with_the_code(installed, initialized, network, network_fleet, tmp_path):
    device = PythonDevice(installed, network, tmp_path / "device")
    for device_id, code in (("nonsense", "DEVICE_ID_INVALID"), ("991231-999999", "DEVICE_NOT_FOUND")):
        refused = device.init(device_id)
        assert refused.returncode == REFUSED and code in refused.stderr and "device" in refused.stderr
    refused = device.init(initialized.device_id)
    assert refused.returncode == REFUSED
    assert "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED" in refused.stderr and "--reinit" in refused.stderr
    assert not (device.folder / "archebase-config.json").exists()


def test_reinit_fetches_the_first_key_or_replaces_it(installed, network, network_fleet, tmp_path):
    device = PythonDevice(installed, network, tmp_path / "device")
    device_id = network_fleet.register().device_id
    # The gateway answers NOT_INITIALIZED to ReinitDevice.
    assert device.init(device_id, "--reinit").returncode == OK
    first = device.config["api_key"]
    assert "already has a key" in device.refused(REFUSED, "init", device_id)
    assert device.init(device_id, "--reinit").returncode == OK
    assert device.config["api_key"] != first
    device.done("upload", file_with(tmp_path, 100))


def test_both_programs_share_a_folder(device, binary, user, run, path, tmp_path):
    device.done("upload", path, "--tag", f"run={run}")
    other = Device(binary, device.network, device.folder, device.device_id)
    events = [event["event"] for event in other.events_of("upload", path, "--tag", f"run={run}")]
    assert "begun" not in events and "completed" not in events
    second = file_with(tmp_path, SIZE, "second.mcap")
    other.done("upload", second, "--tag", f"run={run}")
    assert [event["event"] for event in device.events_of("upload", second, "--tag", f"run={run}")] == ["skipped"]
    assert len(arrived(user, run, tmp_path, 2)) == 2


def test_file_of_an_unfinished_upload_is_left_to_the_other_program(device, binary, network, user, run, path, tmp_path):
    other = Device(binary, device.network, device.folder, device.device_id)
    stage = Stage()
    network.store.before("partNumber=2&", stage)
    client = other.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    assert "another process is uploading it" in device.refused(REFUSED, "upload", path)
    stage.kill(client, network)
    assert "data-gateway-device began an upload of this file" in device.refused(REFUSED, "upload", path)
    other.done("upload", path)
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


# upload


@pytest.mark.parametrize("size", [0, 1, PART, PART + 1, SIZE])
def test_uploads_files_of_any_size(device, user, run, tmp_path, size):
    path = file_with(tmp_path, size)
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert [event["event"] for event in events] == ["begun", "completed"]
    assert (events[-1]["size_bytes"], events[-1]["part_count"]) == (size, 0 if size <= PART else -(-size // PART))
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert device.journals == []
    assert user.objects(f"raw_tags.run={run} raw_tags.{FILE_NAME_TAG}=drive.mcap raw_tags.model=mk2")


def test_a_file_that_arrived_is_not_sent_twice(device, user, network, run, path, tmp_path):
    device.done("upload", path, "--tag", f"run={run}")
    before = network.store.bodies
    assert "was uploaded before" in device.done("upload", path, "--tag", f"run={run}")
    assert network.store.bodies == before
    path.write_bytes(content(SIZE, next(fresh_seeds)))
    device.done("upload", path, "--tag", f"run={run}")
    assert path.read_bytes() in arrived(user, run, tmp_path, 2)


def test_the_command_line_is_checked(device, path):
    for arguments in ([], [path, "--resume"], [path, "--tag", "a"], [path, "--tag", "a=1", "--tag", "a=2"]):
        device.refused(USAGE, "upload", *arguments)
    assert device.journals == []


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("k" * 65 + "=v", "must have 1 to 64 bytes"),
        ("k=" + "v" * 2049, "must have at most 2048 bytes, not 2049"),
        ("k=a\tb", "must not have control characters"),
    ],
)
def test_tags_over_a_limit_are_refused(device, path, tag, reason):
    assert reason in device.refused(REFUSED, "upload", path, "--tag", tag)
    assert device.journals == []


def test_missing_file_is_refused_and_the_others_are_uploaded(device, user, run, tmp_path):
    path = file_with(tmp_path, 10)
    os.mkfifo(pipe := tmp_path / "pipe")
    message = device.refused(REFUSED, "upload", tmp_path / "nothing", pipe, path, "--tag", f"run={run}")
    assert "No such file" in message and "is not a regular file" in message
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_wrong_key_is_refused_with_the_reason(device, path):
    wrong = device.config | {"api_key": "nonsense"}
    (device.folder / "archebase-config.json").write_text(json.dumps(wrong))
    message = device.refused(REFUSED, "upload", path)
    assert "AUTH_INVALID_CREDENTIAL" in message and "--reinit" in message


@pytest.mark.parametrize("damage", ["{", '{"api_key": 1, "tags": {}}', '{"tags": {}}'])
def test_a_damaged_configuration_names_its_file(device, path, damage):
    (device.folder / "archebase-config.json").write_text(damage)
    assert "archebase-config.json" in device.refused(REFUSED, "upload", path)


def test_unreachable_gateway_is_exit_code_3(device, path):
    endpoints = json.loads((device.folder / "archebase-endpoints.json").read_text())
    endpoints["auth"]["port"] = 1
    (device.folder / "archebase-endpoints.json").write_text(json.dumps(endpoints))
    assert "try again later" in device.refused(UNREACHABLE, "upload", path, "--retry-for", "0")


def test_library_reports_progress_and_typed_errors(installed, device, path):
    program = f"""
import sys; sys.path.insert(0, {str(installed)!r})
from data_gateway_device import DeviceClient, GatewayError
seen = []
with DeviceClient({str(device.folder)!r}) as client:
    assert client.exchange() > 0
    result = client.upload({str(path)!r}, {{"weather": "rain"}}, seen.append)
    try:
        client.init("nonsense", reinit=True)
    except GatewayError as error:
        print(error.code, error.status, result.part_count, seen[-1].sent, seen[-1].size)
"""
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert output == f"DATA_GATEWAY_DEVICE_ID_INVALID INVALID_ARGUMENT 4 {SIZE} {SIZE}\n"


# Interruptions


@dataclass(frozen=True)
class Point:
    """A point of an upload at which the client is killed: `arm` makes it wait there."""

    name: str
    arm: Callable[[Network, Stage], None]


def store_point(name: str, line: str, after: int | None) -> Point:
    """Before or during a request, or, without `after`, at its response."""
    if after is None:
        return Point(f"{name}-not-answered", lambda network, stage: network.store.on_reply(line, stage))
    return Point(f"{name}-after-{after}-bytes", lambda network, stage: network.store.before(line, stage, after))


def reply_point(name: str, offset: int) -> Point:
    """Within the replies of the gateway; the rest of them is lost."""

    def arm(network: Network, stage: Stage) -> None:
        def cut() -> None:
            stage()
            raise ConnectionResetError

        network.rpc.on_received(network.rpc.received + offset, cut)

    return Point(name, arm)


def without_call(network: Network, stage: Stage) -> None:
    """All bytes are stored, and the call that says so does not arrive."""

    def hold() -> None:
        held = network.rpc.hold("up")
        stage.wait = lambda: eventually(held.is_set)

    network.store.on_reply(r"POST .*\?uploadId", hold)


def points(part_size: int) -> list[Point]:
    """The 43 points of an upload in 12 parts, in order."""
    found = [reply_point("create-not-answered", 300)]
    found += [store_point("initiate", r"POST .*\?uploads", after) for after in (0, None)]
    for number in range(1, 13):
        for after in (0, part_size // 3, None):
            found.append(store_point(f"part-{number}", f"partNumber={number}&", after))
    found += [store_point("join", r"POST .*\?uploadId", 0), Point("complete-not-sent", without_call)]
    return found + [reply_point(f"recovery-cut-{offset}", offset) for offset in (60, 200)]


def stopped(device: Device, point: Point, *arguments) -> None:
    """Runs the client until the point, and kills it there."""
    stage = Stage()
    point.arm(device.network, stage)
    client = device.start("upload", *arguments)

    def reached() -> bool:
        assert client.poll() is None, (point.name, client.communicate())
        return stage._reached.is_set()

    if "wait" in vars(stage) or point.name == "complete-not-sent":
        eventually(lambda: "wait" in vars(stage))
    else:
        eventually(reached)
    stage.kill(client, device.network)
    device.network.store.forget()
    device.network.rpc.forget()


def test_upload_survives_kills_at_every_point(installed, gateway_with, login, is_full, tmp_path):
    part, size = (25 * 1024**2, 300_000_000) if is_full else (PART, 11 * PART + 777)
    network = Network(gateway_with, {"uploads": {"part_size_bytes": part}})
    user = login(network.gateway)
    device = PythonDevice(installed, network, tmp_path / "device").join(Fleet.create(user))
    path = file_with(tmp_path, size)
    chosen = points(part) if is_full else points(part)[::7]
    assert len(points(part)) == 43
    for number, point in enumerate(chosen):
        stopped(device, point, path)
        # Every fourth time, the gateway is killed as well.
        if number % 4 == 3:
            network.restart()
    sent = network.store.bodies
    device.done("upload", path)
    (found,) = user.list_all(page_size=10)
    assert found.size_bytes == size and is_stored(user, found.file_id, path)
    assert device.journals == []
    # An initiated upload without a part is restarted; of the other kills each costs at most one part.
    assert sent - size <= len(chosen) * part
    network.close()


@pytest.mark.parametrize("direction", ["up", "down"])
def test_upload_resumes_after_a_kill_while_completing(device, network, user, run, path, tmp_path, direction):
    before = network.store.bodies
    stage = Stage()

    def hold():
        held = network.rpc.hold(direction)
        stage.wait = lambda: eventually(held.is_set)

    network.store.on_reply(r"POST .*\?uploadId", hold)
    client = device.start("upload", path, "--tag", f"run={run}")
    eventually(lambda: "wait" in vars(stage))
    stage.kill(client, network)
    # The file is not needed any more.
    data = path.read_bytes()
    path.unlink()
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [data]
    assert network.store.bodies - before == SIZE


def test_a_small_file_whose_put_was_not_answered_is_not_put_again(device, network, user, run, tmp_path):
    path = file_with(tmp_path, PART)
    before = network.store.bodies
    stage = Stage()
    network.store.on_reply("PUT ", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before == PART


def test_upload_survives_a_network_that_breaks(device, network, user, run, path, tmp_path):
    before = network.store.bodies
    network.store.cut_at(*(network.store.sent + int(PART * share) for share in (0.5, 2.2)))
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert sum(event["event"] == "waiting" for event in events) >= 2
    assert arrived(user, run, tmp_path) == [path.read_bytes()]
    assert network.store.bodies - before - SIZE < 2 * PART


def test_slow_connection_is_waited_for(device, network, path):
    # The delay is what is tested: a connection over a mobile network takes this long.
    network.auth.on_received(network.auth.received + 1, lambda: time.sleep(1))
    assert [event["event"] for event in device.events_of("upload", path)] == ["begun", "completed"]


def test_interrupted_upload_can_be_continued(device, network, user, run, path, tmp_path):
    stage = Stage()
    network.store.before("partNumber=2&", stage, PART // 2)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    _, errors = end(client, signal.SIGINT)
    assert client.returncode == REFUSED
    assert "the same command continues the upload" in errors
    stage.let_go()
    events = device.events_of("upload", path, "--tag", "run=other")
    assert [event["event"] for event in events] == ["continued", "completed"]
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


@pytest.mark.parametrize("change", ["grows", "is-rewritten", "is-replaced"])
def test_a_file_that_changes_while_it_is_uploaded_is_refused(device, network, user, run, path, change):
    stage = Stage()
    network.store.before("partNumber=2&", stage, PART // 2)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    if change == "is-replaced":
        shutil.copy2(path, other := path.with_name("other"))
        other.replace(path)
    else:
        with open(path, "r+b") as file:
            file.seek(0, os.SEEK_END if change == "grows" else os.SEEK_SET)
            file.write(b"more")
    stage.let_go()
    _, errors = client.communicate(timeout=WAIT_SECONDS)
    assert client.returncode == REFUSED
    assert "upload it again" in errors
    assert device.journals == []
    assert user.objects(f"raw_tags.run={run}") == []


def test_upload_that_was_aborted_elsewhere_is_explained(device, network, network_fleet, run, path):
    stage = Stage()
    network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    (state,) = device.journals[:1]
    uploader = Uploader(network.gateway, network_fleet.user.stubs, device.config["api_key"]).sign_in()
    uploader.abort(json.loads(state.read_text())["logical_id"], "wrong robot")
    assert "wrong robot" in device.refused(REFUSED, "upload", path)
    assert [each for each in device.journals if each.suffix == ".json"] == []


@pytest.fixture
def scene(installed, gateway_with, login, tmp_path, binary):
    """Makes a device of a gateway with its own configuration and clock, and a user who sees the uploaded files."""
    networks = []
    clock = Clock(tmp_path)

    def make(config: dict) -> tuple[PythonDevice, SignedIn, Clock]:
        start = partial(gateway_with, environment=clock.environment)
        network = Network(start, config | {"uploads": {"part_size_bytes": PART} | config.get("uploads", {})})
        networks.append(network)
        fleet = Fleet.create(login(network.gateway))
        device = PythonDevice(installed, network, tmp_path / "device").join(fleet)
        return device, SignedIn(binary, network.gateway, tmp_path), clock

    yield make
    for network in networks:
        network.close()


def test_tokens_and_credentials_that_end_on_the_way_are_replaced(scene, run, path, tmp_path):
    config = {"auth": {"access_token_lifetime_seconds": LIFETIME}, "uploads": {"credential_lifetime_seconds": LIFETIME}}
    device, user, clock = scene(config)
    device.network.store.before("partNumber=2&", partial(clock.set, LIFETIME + 1))
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert [event["event"] for event in events] == ["begun", "completed"]
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_a_session_that_ended_begins_again(scene, run, path, tmp_path):
    device, user, clock = scene({"uploads": {"session_idle_seconds": LIFETIME, "session_total_seconds": LIFETIME}})
    stage = Stage()
    device.network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), device.network)
    clock.set(LIFETIME + 1, boot=LIFETIME + 1)
    events = device.events_of("upload", "--resume")
    assert [event["event"] for event in events] == ["continued", "restarted", "completed"]
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_upload_over_tls_needs_the_authority(installed, gateway_with, login, path, tmp_path):
    authority = Authority(tmp_path, "authority")
    tls = authority.tls("device-init", "gateway", "object-store", addresses=("127.0.0.1",))
    network = Network(gateway_with, {"uploads": {"part_size_bytes": PART}, "tls": tls})
    trust = {"DATA_GATEWAY_CA": str(authority.path)}
    device = PythonDevice(installed, network, tmp_path / "device", scheme="https", environment=trust)
    device.join(Fleet.create(login(network.gateway)))
    device.done("upload", path)
    device.environment = {}
    device.done("upload", file_with(tmp_path, SIZE, "second.mcap"), "--ca", authority.path)
    third = file_with(tmp_path, SIZE, "third.mcap")
    assert "nothing.pem" in device.refused(REFUSED, "upload", third, "--ca", tmp_path / "nothing.pem")
    other = Authority(tmp_path, "other").path
    assert "ertificate" in device.refused(UNREACHABLE, "upload", third, "--retry-for", "0", "--ca", other)
    network.close()


# Slow networks, files that change, and disks that fail


@pytest.fixture(scope="session")
def library(installed):
    """Imports a module of the installed package."""
    sys.path.insert(0, str(installed))
    yield lambda name: importlib.import_module(f"data_gateway_device.{name}")
    sys.path.remove(str(installed))


class Receiver:
    """A store that reads slowly, and responds with the MD5 of what it read, or at once with `reply` and without reading."""

    def __init__(self, pause: float, reply: bytes | None = None):
        self._pause, self._reply = pause, reply
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        # A client that fails closes its connection.
        with contextlib.suppress(OSError):
            self._serve()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1)
        left = int(re.search(rb"content-length: (\d+)", head)[1])
        if self._reply is not None:
            client.sendall(self._reply)
            # The body is neither read nor refused by a reset.
            threading.Event().wait(WAIT_SECONDS)
        digest = hashlib.md5()
        while left > 0:
            # The pause is what is tested: a connection that is slow and never silent.
            time.sleep(self._pause)
            data = client.recv(min(left, 8192))
            digest.update(data)
            left -= len(data)
        client.sendall(f'HTTP/1.1 200 OK\r\netag: "{digest.hexdigest()}"\r\ncontent-length: 0\r\n\r\n'.encode())


@pytest.fixture
def put(library, path, monkeypatch):
    """Puts a file into the store at a port, with a timeout that is short for a test; returns the ETag."""
    store = library("store")

    def run(port: int, sent: Callable[[int], None] = lambda count: None, timeout: float = 0.5) -> str:
        monkeypatch.setattr(store, "_TIMEOUT", timeout)
        place = {"bucket": "bucket", "endpoint": f"http://127.0.0.1:{port}", "object_key": "key", "region": "region"}
        secrets = {"access_key_id": "id", "secret": "s3cret", "token": "t0ken"}
        credentials = store.Credentials(**place, **secrets, expires_at=0, part_size=PART)
        assert "s3cret" not in repr(credentials) and "t0ken" not in repr(credentials)
        client = store.Store(credentials, library("tls").Authorities(), sent)
        with open(path, "rb") as file:
            return client.put(store.Piece(str(path), file.fileno(), 0, path.stat().st_size))

    return run


def test_slow_connection_that_is_never_silent_does_not_fail(put, path):
    # Each block, and the bytes that the system accepted before the reply, take several timeouts.
    with open(path, "ab") as file:
        file.write(bytes(MIB // 2))
    assert put(Receiver(0.015).port) == f'"{hashlib.md5(path.read_bytes()).hexdigest()}"'


def test_refusal_before_the_body_was_read_is_understood(library, put, path):
    with open(path, "ab") as file:
        file.write(bytes(8 * MIB))
    body = b"<Error><Code>SecurityTokenExpired</Code></Error>"
    reply = b"HTTP/1.1 403 Forbidden\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    # The reply comes before or while the client waits to send more, which ends the wait.
    with pytest.raises(library("errors").StoreError) as refusal:
        put(Receiver(0, reply=reply).port, timeout=WAIT_SECONDS / 2)
    assert refusal.value.code == "SecurityTokenExpired"


def test_error_of_the_caller_is_not_one_of_the_network(put):
    def fail(count: int) -> None:
        raise BrokenPipeError("the terminal was closed")

    with pytest.raises(BrokenPipeError, match="terminal"):
        put(Receiver(0).port, fail)


def test_file_that_cannot_be_read_is_refused_at_once(library, put, path, monkeypatch):
    def fail(*_: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", fail)
    with pytest.raises(library("errors").SourceError, match="drive.mcap at byte 0: Input/output error"):
        put(Receiver(0).port)


@pytest.mark.parametrize(("named", "longest"), [("86400", 300), ("9" * 500, 300), ("7", 7), ("soon", 0.5)])
def test_servers_wait_is_bounded(library, monkeypatch, named, longest):
    retries = library("retries")
    waits = []
    monkeypatch.setattr(retries.time, "sleep", waits.append)
    failures = iter([retries.TemporaryError("busy", retries.waited(named))])

    def attempt() -> str:
        for failure in failures:
            raise failure
        return "done"

    assert retries.Retrying(300).run(attempt) == "done"
    assert len(waits) == 1 and longest / 2 <= waits[0] <= longest


def test_connection_that_became_silent_is_replaced(library, device, path, monkeypatch):
    monkeypatch.setattr(library("gateway"), "_DEADLINE", 1.0)
    network, client_module, events = device.network, library("client"), []
    options = client_module.Options(on_event=lambda name, values: events.append(name))
    with client_module.DeviceClient(device.folder, options) as client:
        client.exchange()
        # As with a NAT that has forgotten the connection: its bytes get lost, and nobody says so.
        network.auth._held = OnlyOld(network.auth.hold("up"))
        before = network.auth.connections
        client.exchange()
        assert network.auth.connections > before
    assert events == ["waiting"]


class OnlyOld(dict):
    """Holds the bytes of one connection, and of no later one."""

    def __init__(self, event: threading.Event):
        super().__init__()
        self._event, self._holder = event, None

    def get(self, direction, default=None):
        if direction != "up":
            return None
        self._holder = self._holder or threading.get_ident()
        return self._event if threading.get_ident() == self._holder else None


def test_directory_of_authorities_is_read(library, tmp_path, monkeypatch):
    tls, errors = library("tls"), library("errors")
    authority = Authority(tmp_path, "authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "directory"))
    (tmp_path / "directory").mkdir()
    with pytest.raises(errors.FolderError, match="no trusted authorities"):
        tls.Authorities().pem()
    shutil.copy(authority.path, tmp_path / "directory/authority.pem")
    assert b"BEGIN CERTIFICATE" in tls.Authorities().pem()


def test_space_for_the_key_is_held_until_it_arrives(installed, network, network_fleet, tmp_path):
    device = PythonDevice(installed, network, tmp_path / "device")
    reserve = device.folder / "init.space"
    sizes = []
    received = network.device_init.received
    network.device_init.on_received(received + 1, lambda: sizes.append(reserve.stat().st_size))
    device.join(network_fleet)
    assert sizes == [256 * 1024] and not reserve.exists()


def stopped_at(device, line: str, *arguments) -> None:
    """Kills the client before a request to the store."""
    stage = Stage()
    device.network.store.before(line, stage)
    stage.kill(device.start("upload", *arguments), device.network)
    device.network.store.forget()


def state_of(device) -> tuple[Path, dict]:
    (path,) = (each for each in device.journals if each.suffix == ".json")
    return path, json.loads(path.read_text())


@pytest.mark.parametrize("size", [PART, SIZE])
def test_bytes_that_changed_with_the_same_times_are_uploaded(device, user, run, tmp_path, size):
    path = file_with(tmp_path, size)
    stage = Stage()
    device.network.store.on_reply("PUT " if size == PART else r"POST .*\?uploadId", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), device.network)
    former, status = path.read_bytes(), path.stat()
    path.write_bytes(bytes(reversed(former)))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    device.done("upload", path, "--tag", f"run={run}")
    contents = arrived(user, run, tmp_path, 1 if size == PART else 2)
    assert path.read_bytes() in contents
    assert "was uploaded before" in device.done("upload", path, "--tag", f"run={run}")


def test_change_of_the_status_alone_sends_nothing_again(device, network, user, run, path, tmp_path):
    before = network.store.bodies
    stage = Stage()
    network.store.on_reply(r"POST .*\?uploadId", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), network)
    path.chmod(0o600)
    device.done("upload", path)
    assert "was uploaded before" in device.done("upload", path)
    assert network.store.bodies - before == SIZE


def test_upload_whose_parts_the_store_lost_begins_again(device, network, network_fleet, user, run, path, tmp_path):
    stopped_at(device, "partNumber=3&", path, "--tag", f"run={run}")
    state_path, state = state_of(device)
    state_path.write_text(json.dumps(state | {"multipart_id": "0" * len(state["multipart_id"])}))
    device.done("upload", path)
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_upload_of_the_former_device_begins_again(device, network_fleet, user, run, path, tmp_path):
    stopped_at(device, "partNumber=2&", path, "--tag", f"run={run}")
    device.init(network_fleet.register().device_id, "--reinit")
    device.done("upload", path)
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_upload_that_the_gateway_never_accepts_is_aborted(device, run, path):
    stopped_at(device, "partNumber=2&", path, "--tag", f"run={run}")
    state_path, state = state_of(device)
    state_path.write_text(json.dumps(state | {"tags": {**state["tags"], "k" * 65: "v"}}))
    assert "INVALID_ARGUMENT" in device.refused(REFUSED, "upload", path)
    assert device.journals == []
    device.done("upload", path)


@pytest.mark.parametrize("reason", ["disk-is-not-mounted", "folder-cannot-be-searched"])
def test_file_that_cannot_be_found_now_is_not_given_up(device, user, run, tmp_path, reason):
    (folder := tmp_path / "disk").mkdir()
    path = file_with(folder, SIZE)
    stopped_at(device, "partNumber=3&", path, "--tag", f"run={run}")
    data = path.read_bytes()
    folder.rename(elsewhere := tmp_path / "elsewhere")
    state_path, state = state_of(device)
    if reason == "disk-is-not-mounted":
        state_path.write_text(json.dumps(state | {"source": {**state["source"], "device": 1}}))
    else:
        folder.write_text("a file")
    device.refused(REFUSED, "upload", "--resume")
    assert state_path.exists()
    folder.unlink(missing_ok=True)
    elsewhere.rename(folder)
    device.done("upload", "--resume")
    assert arrived(user, run, tmp_path) == [data]


def test_damaged_state_does_not_stop_the_other_uploads(device, user, run, path, tmp_path):
    stopped_at(device, "partNumber=2&", path, "--tag", f"run={run}")
    (device.folder / "python-uploads" / ("0" * 32 + ".json")).write_text("{")
    assert "0.json" in device.refused(REFUSED, "upload", "--resume")
    assert arrived(user, run, tmp_path) == [path.read_bytes()]


def test_name_that_the_output_cannot_show_is_uploaded(device, tmp_path):
    device.environment = {"PYTHONIOENCODING": "ascii"}
    assert "caf\\xe9" in device.done("upload", file_with(tmp_path, 10, "café.mcap"))
    assert "is not UTF-8" in device.refused(REFUSED, "upload", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    device.refused(USAGE, "upload", tmp_path, "--retry-for", "nan")


def test_ipv6_address_of_the_store_is_in_brackets(library, path):
    store = library("store")
    place = {"bucket": "bucket", "endpoint": "https://[2001:db8::1]:50080", "object_key": "key", "region": "region"}
    credentials = store.Credentials(**place, access_key_id="id", secret="", token="", expires_at=0, part_size=PART)
    client = store.Store(credentials, library("tls").Authorities(), lambda count: None)
    _, headers = client._signed(store.Request("HeadObject", "HEAD", {}))
    assert headers["host"] == "[2001:db8::1]:50080"
