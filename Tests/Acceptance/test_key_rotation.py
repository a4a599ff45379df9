"""Keys that devices replace by themselves, as an operator requested."""

import fcntl
import json

import pytest
from support.client import Device
from support.commands import REFUSED, USAGE, CommandLine
from support.gateway import eventually
from support.parties import Fleet, Uploader, call, init_device, unique
from support.ports import free_port
from support.proxy import Proxy
from support.refusal import refused
from support.uploads import content

INVALID = ("UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL")
LISTENERS = ("auth", "gateway", "device-init")


@pytest.fixture
def boss(network, login):
    return login(network.gateway)


@pytest.fixture
def fleet(boss):
    return Fleet.create(boss)


@pytest.fixture(scope="module")
def operator(binary, network, tmp_path_factory):
    return CommandLine(binary, network.gateway, tmp_path_factory.mktemp("operator")).login()


@pytest.fixture
def keys(network, stubs):
    return Keys(network, stubs)


@pytest.fixture
def device(binary, network, fleet, tmp_path, path) -> Device:
    """A device that has uploaded, so that the gateway knows its client."""
    device = Device(binary, network, tmp_path / "device").join(fleet)
    device.done("upload", path)
    return device


class Keys:
    """The calls of AuthService with a key."""

    def __init__(self, network, stubs):
        self.stubs, self.gateway = stubs, network.gateway
        self.stub = stubs.auth.AuthServiceStub(network.gateway.channel("auth"))

    def exchange(self, credential: str, **fields):
        return call(
            self.stub.ExchangeCredential, self.stubs.auth.ExchangeCredentialRequest(credential=credential, **fields)
        )

    def next(self, credential: str) -> str:
        request = self.stubs.auth.RotateCredentialRequest(credential=credential)
        return call(self.stub.RotateCredential, request).credential

    def is_invalid(self, credential: str) -> bool:
        with refused(self.stubs, *INVALID):
            self.exchange(credential)
        return True


def key_of(device) -> str:
    return device.config["api_key"]


def store_rotation(device, former: str, following: str) -> None:
    (device.folder / "key-rotation.json").write_text(json.dumps({"formerKey": former, "nextKey": following}))


def store_key(device, key: str) -> None:
    (device.folder / "archebase-config.json").write_text(json.dumps(device.config | {"api_key": key}))


def notes(device, *arguments) -> list[str]:
    """Returns what an upload says about the key."""
    events = device.events_of("upload", *arguments)
    # A repeated upload asks the gateway for the file, too.
    assert events[-1]["event"] in ("completed", "skipped")
    return [event["message"] for event in events if event["event"] == "key"]


def requested_at(operator, device_id: str) -> str | None:
    return operator.json("device", "show", device_id)["key_rotation_requested_at"]


REPLACED = ["the device's key was replaced, as an operator requested"]


def test_device_replaces_its_key_with_the_next_token(device, operator, keys, path):
    before = device.config
    assert operator.json("device", "rotate", device.device_id) == {"devices": 1, "unaware": 0}
    assert requested_at(operator, device.device_id)
    assert notes(device, path) == REPLACED
    assert key_of(device) != before["api_key"]
    assert device.config["tags"] == before["tags"]
    assert requested_at(operator, device.device_id) is None
    assert keys.is_invalid(before["api_key"])
    assert notes(device, path) == []
    lines = operator.run("audit", "--action", "RotateCredential", "--actor", f"device:{device.device_id}").stdout
    assert len(lines.splitlines()) == 2, lines
    for name in ("key-rotation.json", "key.lock", "archebase-config.json"):
        assert (device.folder / name).stat().st_mode & 0o777 == 0o600


def test_tokens_of_the_old_key_end_with_the_first_use_of_the_new_one(fleet, keys, stubs):
    old = fleet.uploader()
    fleet.user.devices("RotateDeviceKeys", devices=[f"devices/{old.device_id}"])
    following = keys.next(old.credential)
    old.create()
    new = Uploader(old.gateway, stubs, following, old.device_id).sign_in()
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        old.create()
    new.create()
    assert keys.is_invalid(old.credential)


def test_deployed_clients_see_no_request_and_are_counted(fleet, keys, operator):
    deployed = fleet.uploader()
    requested = operator.run("device", "rotate", "--suite", fleet.suite)
    assert "asked 1 device " in requested.stdout and "1 of them have a client that does not" in requested.stdout
    assert not keys.exchange(deployed.credential).rotate_credential
    assert keys.exchange(deployed.credential, address_serial=0).rotate_credential
    # The client is known now.
    assert eventually(lambda: operator.json("device", "rotate", "--suite", fleet.suite)["unaware"] == 0)


def test_repeated_request_keeps_the_fetched_key(fleet, keys, operator):
    device = fleet.uploader()
    operator.json("device", "rotate", device.device_id)
    since = requested_at(operator, device.device_id)
    following = keys.next(device.credential)
    operator.json("device", "rotate", device.device_id)
    assert requested_at(operator, device.device_id) == since
    keys.exchange(following)


def test_lost_answer_is_harmless(fleet, keys, stubs):
    device = fleet.uploader()
    fleet.user.devices("RotateDeviceKeys", devices=[f"devices/{device.device_id}"])
    lost, following = keys.next(device.credential), keys.next(device.credential)
    assert keys.is_invalid(lost)
    keys.exchange(device.credential)
    keys.exchange(following)
    keys.exchange(following)
    assert keys.is_invalid(device.credential)
    with refused(stubs, "FAILED_PRECONDITION"):
        keys.next(following)


def test_new_key_that_is_sent_to_rotate_is_used(fleet, keys, stubs):
    device = fleet.uploader()
    fleet.user.devices("RotateDeviceKeys", devices=[f"devices/{device.device_id}"])
    following = keys.next(device.credential)
    with refused(stubs, "FAILED_PRECONDITION"):
        keys.next(following)
    assert keys.is_invalid(device.credential)
    keys.exchange(following)


def test_rotation_that_is_not_requested_is_refused(fleet, keys, stubs, network):
    device = fleet.uploader()
    with refused(stubs, "FAILED_PRECONDITION") as refusal:
        keys.next(device.credential)
    assert "no operator requested a new key for this device" in refusal.message
    site_key = fleet.user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="gate").credential
    with refused(stubs, "FAILED_PRECONDITION"):
        keys.next(site_key)
    for wrong in ("nonsense", device.credential[:-1] + ("A" if device.credential[-1] != "A" else "B")):
        with refused(stubs, *INVALID):
            keys.next(wrong)
    keys.exchange(device.credential)


def test_disabled_device_replaces_its_key_later(fleet, keys, stubs):
    device = fleet.uploader()
    name = f"devices/{device.device_id}"
    fleet.user.devices("RotateDeviceKeys", devices=[name])
    following = keys.next(device.credential)
    fleet.user.devices("DisableDevice", name=name)
    for credential in (device.credential, following):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_KEY_DISABLED"):
            keys.exchange(credential)
    fleet.user.devices("EnableDevice", name=name)
    keys.exchange(device.credential)
    keys.exchange(following)
    assert keys.is_invalid(device.credential)


@pytest.mark.parametrize("change", ["ReinitDevice", "RetireDevice", "RotateApiKeySecret", "DeleteApiKey"])
def test_request_and_fetched_key_end_with_the_key(fleet, keys, stubs, network, change):
    device = fleet.uploader()
    name = f"devices/{device.device_id}"
    fleet.user.devices("RotateDeviceKeys", devices=[name])
    assert fleet.user.devices("GetDevice", name=name).HasField("key_rotation_requested_at")
    following = keys.next(device.credential)
    if change == "ReinitDevice":
        init_device(network.gateway, stubs, device.device_id, change)
    elif change == "RetireDevice":
        fleet.user.devices(change, name=name)
    else:
        (key,) = fleet.user.admin("ListApiKeys", device_id=device.device_id).api_keys
        fleet.user.admin(change, api_key_id=key.api_key_id)
    assert keys.is_invalid(following)
    assert keys.is_invalid(device.credential)
    assert not fleet.user.devices("GetDevice", name=name).HasField("key_rotation_requested_at")


def test_devices_are_selected_by_suite_site_and_organization(fleet, boss, stubs, network):
    """Nothing of another organization can be asked."""
    device, unbound, without_key = fleet.uploader(), fleet.uploader(), fleet.register()
    boss.devices("RemoveDeviceFromSuite", suite=fleet.suite, device=f"devices/{unbound.device_id}")
    organization, password = unique("other"), "long enough"
    other = Fleet.create(boss.create_organization(organization, password))
    theirs = other.uploader()

    def is_requested(user, one) -> bool:
        return user.devices("GetDevice", name=f"devices/{one.device_id}").HasField("key_rotation_requested_at")

    for fields in ({"suite": fleet.suite}, {"site_id": fleet.site_id}):
        assert boss.devices("RotateDeviceKeys", **fields).devices == 1
    assert is_requested(boss, device) and not is_requested(boss, unbound) and not is_requested(boss, without_key)
    for fields in (
        {"suite": fleet.suite},
        {"site_id": fleet.site_id},
        {"devices": [f"devices/{theirs.device_id}", f"devices/{unbound.device_id}"]},
    ):
        with refused(stubs, "NOT_FOUND"):
            other.user.devices("RotateDeviceKeys", **fields)
    assert not is_requested(boss, unbound) and not is_requested(other.user, theirs)
    assert boss.devices("RotateDeviceKeys", all=True).devices >= 2
    assert is_requested(boss, unbound) and not is_requested(other.user, theirs)
    assert other.user.devices("RotateDeviceKeys", all=True).devices == 1
    assert is_requested(other.user, theirs)


def test_requests_are_checked(fleet, operator, stubs):
    for options in ([], ["--all", "--suite", fleet.suite], [fleet.register().device_id, "--all"]):
        output = operator.refused(USAGE, "device", "rotate", *options)
        assert "exactly one of DEVICE_ID, --suite, --site and --all" in output
    output = operator.refused(REFUSED, "device", "rotate", fleet.register().device_id)
    assert "has no key to replace" in output
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        fleet.user.devices("RotateDeviceKeys")
    assert "exactly one of devices, suite, site_id and all must be set" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        fleet.user.devices("RotateDeviceKeys", devices=["devices/260101-000001"] * 1001)


def test_device_takes_announced_addresses_first(fleet, keys, network, operator, stubs):
    device = fleet.uploader()
    urls = [word for name in LISTENERS for word in (f"--{name}", f"https://127.0.0.1:{free_port()}")]
    serial = operator.json("device", "address", "announce", *urls)["serial"]
    operator.json("device", "rotate", device.device_id)
    reply = keys.exchange(device.credential, address_serial=serial - 1)
    assert reply.address_announcement and not reply.rotate_credential
    assert keys.exchange(device.credential, address_serial=serial).rotate_credential
    operator.json("device", "address", "withdraw")
    assert keys.exchange(device.credential, address_serial=serial - 1).rotate_credential


@pytest.mark.parametrize("point", ["fetched", "stored", "used", "outdated", "settled"])
def test_interrupted_rotation_is_finished(device, operator, keys, path, point):
    """The device was killed after it had fetched the new key, had stored it, had used it, or had made it its own."""
    old = key_of(device)
    operator.json("device", "rotate", device.device_id)
    following = keys.next(old)
    if point != "fetched":
        store_rotation(device, old, following)
    if point in ("used", "settled"):
        keys.exchange(following)
    if point == "outdated":
        keys.next(old)
    if point == "settled":
        store_key(device, following)
    output = notes(device, path)
    assert output == ([] if point in ("used", "settled") else REPLACED)
    assert keys.is_invalid(old)
    assert (key_of(device) == following) == (point not in ("fetched", "outdated"))
    assert notes(device, path) == []
    keys.exchange(key_of(device))


def test_address_changes_though_a_rotation_was_interrupted(device, operator, keys, network):
    old = key_of(device)
    operator.json("device", "rotate", device.device_id)
    following = keys.next(old)
    store_rotation(device, old, following)
    keys.exchange(following)
    second = Proxy()
    second.target = network.gateway.listeners["auth"]
    device.done("init", "--auth", f"http://{second.address}")
    assert key_of(device) == following
    second.close()


def test_former_key_is_used_if_the_gateway_knows_only_that(device, operator, keys, path):
    """It was restored from a backup of a time before the rotation."""
    old = key_of(device)
    operator.json("device", "rotate", device.device_id)
    following = keys.next(old)
    store_rotation(device, old, following)
    store_key(device, following)
    keys.next(old)
    assert notes(device, path) == REPLACED
    assert key_of(device) not in (old, following)
    keys.exchange(key_of(device))


def test_neither_key_is_accepted(device, network, stubs, path):
    store_rotation(device, key_of(device), key_of(device)[:-2] + "AA")
    init_device(network.gateway, stubs, device.device_id, "ReinitDevice")
    output = device.refused(REFUSED, "upload", path)
    assert "AUTH_INVALID_CREDENTIAL" in output and "init DEVICE_ID --reinit" in output


def test_new_init_forgets_the_rotation(device, operator, keys, path):
    operator.json("device", "rotate", device.device_id)
    notes(device, path)
    assert (device.folder / "key-rotation.json").exists()
    device.done("init", device.device_id, "--reinit")
    assert not (device.folder / "key-rotation.json").exists()
    assert notes(device, path) == []


def test_lost_reply_with_the_new_key_stops_no_upload(device, operator, impostor, path):
    old = key_of(device)
    operator.json("device", "rotate", device.device_id)
    impostor.fails = lambda method, _: method == "RotateCredential"
    (output,) = notes(device, path)
    assert output.startswith("the device's key is not replaced yet: RotateCredential at ")
    assert key_of(device) == old
    impostor.fails = lambda *_: False
    assert notes(device, path) == REPLACED
    assert key_of(device) != old


def test_lost_reply_to_the_first_use_stops_no_upload(device, operator, impostor, keys, path):
    """The old key and its token have ended by then."""
    old, lost = key_of(device), []

    def fails(method, credential) -> bool:
        if method == "ExchangeCredential" and credential != old and not lost:
            lost.append(credential)
            return True
        return False

    impostor.fails = fails
    operator.json("device", "rotate", device.device_id)
    (output,) = notes(device, path)
    assert output.startswith("the device's key is not replaced yet: ExchangeCredential at ")
    assert [key_of(device)] == lost
    assert keys.is_invalid(old)
    assert notes(device, path) == []


def test_announced_request_that_is_refused_stops_no_upload(device, impostor, path):
    """Somebody between device and gateway can ask for a rotation, and gets nothing by it."""

    def ask(reply):
        reply.rotate_credential = True
        return reply

    impostor.change = ask
    before = key_of(device)
    (output,) = notes(device, path)
    assert "no operator requested a new key" in output
    assert key_of(device) == before


def test_one_process_replaces_the_key_at_a_time(device, operator, path):
    operator.json("device", "rotate", device.device_id)
    before = key_of(device)
    with (device.folder / "key.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert notes(device, path) == []
        assert key_of(device) == before
    assert notes(device, path) == REPLACED
    assert key_of(device) != before


@pytest.fixture
def agent(device, tmp_path):
    """An agent that watches a folder."""
    (watched := tmp_path / "watched").mkdir()
    (device.folder / "agent.json").write_text(
        json.dumps({"directories": [{"path": str(watched), "settle_seconds": 1}]})
    )
    with (device.folder / "agent.log").open("wb") as log:
        process = device.start("agent", "run", stderr=log.fileno())
    yield Agent(device, watched)
    process.kill()
    process.communicate()
    # Shown if the test failed.
    print((device.folder / "agent.log").read_text())


class Agent:
    def __init__(self, device, watched):
        self.device, self.watched = device, watched

    def upload(self, name: str) -> None:
        (self.watched / name).write_bytes(content(1000))
        eventually(lambda: name in (self.device.folder / "delivered.jsonl").read_text(), 180)


def test_agent_replaces_the_key(device, operator, keys, agent):
    old = key_of(device)
    operator.json("device", "rotate", device.device_id)
    agent.upload("first.mcap")
    assert key_of(device) != old
    assert REPLACED[0] in (device.folder / "agent.log").read_text()
    assert keys.is_invalid(old)


def test_agent_uses_the_key_that_another_process_fetched(device, operator, agent, path):
    agent.upload("first.mcap")
    operator.json("device", "rotate", device.device_id)
    assert notes(device, path) == REPLACED
    key = key_of(device)
    agent.upload("second.mcap")
    assert key_of(device) == key
    assert "AUTH_INVALID_CREDENTIAL" not in (device.folder / "agent.log").read_text()
