"""The address of the gateway in a device's folder: what changes it, and what must not."""

import json

import pytest
from support.certificates import Authority
from support.client import Device, Network
from support.commands import REFUSED, UNREACHABLE, USAGE
from support.parties import Fleet
from support.ports import free_port
from support.proxy import Proxy

LISTENERS = ("auth", "gateway", "device-init")
CONFIGURATION = {"device_init": {"reinit": "window"}}


@pytest.fixture
def device(binary, network, login, tmp_path) -> Device:
    return Device(binary, network, tmp_path / "device").join(Fleet.create(login(network.gateway)))


def files(device) -> dict[str, str]:
    return {path.name: path.read_text() for path in device.folder.iterdir() if path.is_file()}


def urls(addresses: dict[str, str], scheme: str = "http") -> list[str]:
    return [word for name, address in addresses.items() for word in (f"--{name}", f"{scheme}://{address}")]


@pytest.fixture
def second(network):
    """Other addresses of the same gateway."""
    proxies = {name: Proxy() for name in LISTENERS}
    for name, proxy in proxies.items():
        proxy.target = network.gateway.listeners[name]
    yield {name: proxy.address for name, proxy in proxies.items()}
    for proxy in proxies.values():
        proxy.close()


def test_refused_reinit_changes_nothing(device, second, path):
    # A key that was never used may be replaced.
    device.done("upload", path)
    before = files(device)
    elsewhere = {name: f"127.0.0.1:{free_port()}" for name in LISTENERS}
    device.refused(UNREACHABLE, "init", device.device_id, "--reinit", *urls(elsewhere))
    assert files(device) == before
    # The gateway refuses it: nobody allowed the replacement.
    output = device.refused(REFUSED, "init", device.device_id, "--reinit", *urls(second))
    assert "FAILED_PRECONDITION" in output
    assert files(device) == before
    device.done("upload", path, "--restart")


def test_address_changes_after_a_call_there(device, second, path, network):
    key = device.config
    output = device.done("init", *urls(second))
    assert f"is at http://{second['gateway']} now" in output
    endpoints = json.loads(files(device)["archebase-endpoints.json"])
    assert {name: f"{each['host']}:{each['port']}" for name, each in endpoints.items()} == {
        "auth": second["auth"],
        "gateway": second["gateway"],
        "deviceInit": second["device-init"],
    }
    assert device.config == key
    device.done("upload", path)
    # With its id, and with JSON; other listeners stay.
    (event,) = device.events_of("init", device.device_id, "--auth", f"http://{network.auth.address}")
    assert event["endpoints"]["auth"] == f"http://{network.auth.address}"
    assert event["endpoints"]["gateway"] == f"http://{second['gateway']}"


def test_present_address_is_no_error(device, second):
    device.done("init", *urls(second))
    before = files(device)
    output = device.done("init", device.device_id, *urls(second))
    assert output == f"the gateway of this device is at http://{second['gateway']} already: nothing was changed\n"
    (event,) = device.events_of("init", *urls(second))
    assert event["changed"] is False
    assert files(device) == before


@pytest.mark.parametrize("listener", LISTENERS)
def test_address_of_another_listener_is_refused(device, second, listener):
    before = files(device)
    other = {"auth": "gateway", "gateway": "device-init", "device-init": "auth"}[listener]
    wrong = second | {listener: second[other]}
    output = device.refused(REFUSED, "init", *urls(wrong))
    assert f"http://{wrong[listener]} is another listener: it does not serve archebase." in output
    assert files(device) == before


@pytest.mark.parametrize("listener", LISTENERS)
def test_address_without_the_gateway_is_refused(device, second, path, listener):
    before = files(device)
    wrong = second | {listener: f"127.0.0.1:{free_port()}"}
    assert "connection refused" in device.refused(UNREACHABLE, "init", *urls(wrong))
    assert files(device) == before
    device.done("upload", path)


def test_another_gateway_is_refused(device, gateway_with, second):
    before = files(device)
    other = gateway_with().listeners
    strange = {name: other[name] for name in LISTENERS}
    assert "AUTH_INVALID_CREDENTIAL" in device.refused(REFUSED, "init", *urls(strange))
    # The other gateway does not accept a token of the first.
    mixed = second | {"gateway": other["gateway"]}
    assert "UNAUTHENTICATED" in device.refused(REFUSED, "init", *urls(mixed))
    assert files(device) == before


def test_another_device_needs_another_folder(device, second):
    before = files(device)
    output = device.refused(REFUSED, "init", "260101-999999", *urls(second))
    assert f"already has a key of {device.device_id}" in output
    assert "init requires DEVICE_ID" in device.refused(USAGE, "init", "--reinit")
    assert files(device) == before
    assert "--host alone changes the address" in device.refused(REFUSED, "init", device.device_id)


def test_device_does_not_give_up_tls_by_itself(binary, gateway_with, login, tmp_path, path):
    authority = Authority(tmp_path, "authority")
    network = Network(gateway_with, {"tls": authority.tls("gateway", "device-init", addresses=("127.0.0.1",))})
    trust = {"DATA_GATEWAY_CA": str(authority.path)}
    device = Device(binary, network, tmp_path / "device", scheme="https", environment=trust)
    device.join(Fleet.create(login(network.gateway)))
    before = files(device)
    cleartext = gateway_with().listeners
    for name in ("gateway", "device-init"):
        for options in ([], [device.device_id, "--reinit"]):
            output = device.refused(USAGE, "init", *options, *urls({name: cleartext[name]}))
            assert f"the device uses TLS now, which http://{cleartext[name]} does not" in output
    assert files(device) == before
    # Permitted, it fails only because that gateway is another.
    output = device.refused(REFUSED, "init", "--insecure", *urls({name: cleartext[name] for name in LISTENERS}))
    assert "AUTH_INVALID_CREDENTIAL" in output
    assert files(device) == before
    network.close()


def test_key_that_was_received_survives_a_crash(device, path):
    """The process ended after it had stored the new key, before it replaced the first file."""
    good = {"configuration": device.config, "deviceID": device.device_id}
    good["endpoints"] = json.loads(files(device)["archebase-endpoints.json"])
    (device.folder / "init.json").write_text(json.dumps(good))
    for name in ("archebase-config.json", "archebase-endpoints.json", "device-id"):
        (device.folder / name).unlink()
    device.done("upload", path)
    assert device.config == good["configuration"]
    assert (device.folder / "device-id").read_text() == device.device_id + "\n"
    assert not (device.folder / "init.json").exists()


def test_address_without_a_scheme_means_https(binary, tmp_path):
    """It is https, but http at a loopback address."""
    device = Device(binary, None, tmp_path / "device")
    output = device.refused(UNREACHABLE, "init", "260101-000001", "--host", "127.0.0.9")
    assert "cannot reach 127.0.0.9:50057" in output
    assert "[http[s]://]NAME" in device.refused(USAGE, "init", "260101-000001", "--host", "ftp://127.0.0.9")
    assert not (tmp_path / "device" / "archebase-endpoints.json").exists()


def test_cleartext_address_of_a_listener_with_tls_is_explained(binary, gateway_with, tmp_path):
    authority = Authority(tmp_path, "authority")
    address = gateway_with({"tls": authority.tls("device-init", addresses=("127.0.0.1",))}).listeners["device-init"]
    device = Device(binary, None, tmp_path / "device")
    output = device.refused(UNREACHABLE, "init", "260101-000001", "--device-init", f"http://{address}")
    assert "use https:// if the listener uses TLS" in output
