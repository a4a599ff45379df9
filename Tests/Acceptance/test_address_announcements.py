"""New addresses of the gateway, which an operator announces and devices take by themselves."""

import json
import time

import grpc
import pytest
from support.certificates import Authority
from support.client import Device, Network
from support.commands import OK, REFUSED, UNREACHABLE, USAGE, CommandLine
from support.impostor import announcement, forger
from support.parties import Fleet, Uploader
from support.ports import free_port
from support.relay import TLSRelay

LISTENERS = ("auth", "gateway", "device-init")


@pytest.fixture
def network(gateway_with):
    network = Network(gateway_with)
    yield network
    network.close()


@pytest.fixture
def fleet(network, login):
    return Fleet.create(login(network.gateway))


@pytest.fixture
def operator(binary, network, tmp_path):
    (tmp_path / "operator").mkdir()
    return CommandLine(binary, network.gateway, tmp_path / "operator").login()


@pytest.fixture
def device(binary, network, fleet, tmp_path) -> Device:
    return Device(binary, network, tmp_path / "device").join(fleet)


@pytest.fixture
def secured(network, authority):
    """The same gateway at new addresses with TLS."""
    certificate, key, _ = authority.issue("server", ("127.0.0.1",))
    relays = {name: TLSRelay(network.gateway.listeners[name], certificate, key) for name in LISTENERS}
    yield relays
    for relay in relays.values():
        relay.close()


def urls(addresses, scheme: str = "https") -> list[str]:
    return [word for name in LISTENERS for word in (f"--{name}", f"{scheme}://{addresses[name]}")]


def at(relays) -> dict[str, str]:
    return {name: relay.address for name, relay in relays.items()}


def announce(operator, addresses, authority=None, scheme: str = "https") -> dict:
    trust = ["--authority", str(authority.path)] if authority else []
    return operator.json("device", "address", "announce", *urls(addresses, scheme), *trust)


def gateway_of(device) -> str:
    endpoint = json.loads((device.folder / "archebase-endpoints.json").read_text())["gateway"]
    return f"{endpoint['scheme']}://{endpoint['host']}:{endpoint['port']}"


def history(device) -> dict:
    return json.loads((device.folder / "gateway-address.json").read_text())


def notes(device, *arguments) -> list[str]:
    return [event["message"] for event in device.events_of(*arguments) if event["event"] == "address"]


def counts(operator) -> tuple[int, int, int]:
    shown = operator.json("device", "address", "show")
    return shown["devices"], shown["taken"], shown["unaware"]


def test_device_takes_announced_addresses(device, operator, secured, authority, path, network, fleet):
    device.done("upload", path)
    announced = announce(operator, at(secured), authority)
    assert (announced["serial"], announced["gateway"]) == (1, f"https://{secured['gateway'].address}")
    # Another device, with a client that does not read announcements.
    fleet.uploader()
    assert counts(operator) == (2, 0, 1)
    (note,) = notes(device, "upload", path)
    assert f"is https://{secured['gateway'].address} now, as was announced (number 1)" in note
    assert gateway_of(device) == f"https://{secured['gateway'].address}"
    # Nothing is at the old address any more, and no variable names the authority.
    network.auth.target = network.rpc.target = f"127.0.0.1:{free_port()}"
    assert notes(device, "upload", path) == []
    assert [event["event"] for event in device.events_of("upload", path, "--skip-existing")][-1] == "skipped"
    assert counts(operator) == (2, 1, 1)
    listed = {each["device_id"]: each["address_serial"] for each in operator.json("device", "list")["devices"]}
    assert listed.pop(device.device_id) == 1
    assert list(listed.values()) == [None]
    output = operator.run("device", "list").stderr
    assert "1 of 2 devices with a key took the addresses announced as number 1, 0 will" in output
    assert "1 have a client that does not read announcements" in output
    # A new key is fetched there, too.
    assert device.run("init", device.device_id, "--reinit").returncode == OK


def test_withdrawn_and_replaced_announcements(device, operator, secured, authority, path):
    announce(operator, {name: f"127.0.0.1:{free_port()}" for name in LISTENERS}, authority)
    assert operator.json("device", "address", "withdraw")["serial"] == 0
    assert notes(device, "upload", path) == []
    assert announce(operator, at(secured), authority)["serial"] == 2
    assert "(number 2)" in notes(device, "upload", path)[0]
    assert operator.json("device", "address", "withdraw")["serial"] == 0
    assert gateway_of(device) == f"https://{secured['gateway'].address}"


@pytest.mark.parametrize("missing", LISTENERS)
def test_addresses_without_the_gateway_are_not_taken(device, operator, secured, authority, path, missing):
    before = gateway_of(device)
    announce(operator, at(secured) | {missing: f"127.0.0.1:{free_port()}"}, authority)
    (note,) = notes(device, "upload", path)
    assert "is not used yet" in note and "connection refused" in note
    assert gateway_of(device) == before
    # Later it is there.
    announce(operator, at(secured), authority)
    assert len(notes(device, "upload", path)) == 1
    assert gateway_of(device) != before


def test_certificate_of_another_authority_is_not_taken(device, operator, secured, path, tmp_path):
    before = gateway_of(device)
    announce(operator, at(secured), Authority(tmp_path, "other"))
    assert "certificate is not accepted" in notes(device, "upload", path)[0]
    announce(operator, at(secured))
    assert "certificate is not accepted" in notes(device, "upload", path)[0]
    assert gateway_of(device) == before


def test_another_gateway_is_not_taken(device, operator, gateway_with, path):
    """It does not accept the device's token."""
    before = gateway_of(device)
    announce(operator, gateway_with().listeners, scheme="http")
    assert "UNAUTHENTICATED" in notes(device, "upload", path)[0]
    assert gateway_of(device) == before


def test_mac_of_the_documented_form_is_accepted(device, network, impostor, stubs, path):
    direct = {name: network.gateway.listeners[name] for name in LISTENERS}
    impostor.change = lambda reply: impostor.signed(reply, announcement(stubs, direct, 5))
    assert "(number 5)" in notes(device, "upload", path)[0]
    assert gateway_of(device) == f"http://{direct['gateway']}"
    assert history(device)["serial"] == 5


def test_forged_announcement_is_refused(device, operator, network, impostor, stubs, secured, authority, path):
    """Whoever is between device and gateway cannot change one, without the device's key."""
    before = gateway_of(device)
    announce(operator, at(secured), authority)

    def cut(reply):
        reply.address_announcement_mac = reply.address_announcement_mac[:31]
        return reply

    def unsigned(reply):
        reply.address_announcement_mac = b""
        return reply

    for impostor.change in (forger(stubs, "192.0.2.66"), cut, unsigned):
        assert "its MAC is not that of the device's key" in notes(device, "upload", path)[0]
        assert gateway_of(device) == before
    impostor.change = lambda reply: reply
    assert "(number 1)" in notes(device, "upload", path)[0]


def test_repeated_announcement_is_refused(device, operator, network, impostor, stubs, secured, authority, path):
    first = {name: network.gateway.listeners[name] for name in LISTENERS}
    recorded = []

    def record(reply):
        recorded.append((reply.address_announcement, reply.address_announcement_mac))
        return reply

    impostor.change = record
    announce(operator, first, scheme="http")
    assert "(number 1)" in notes(device, "upload", path)[0]
    announce(operator, at(secured), authority)
    assert "(number 2)" in notes(device, "upload", path)[0]
    taken = gateway_of(device)

    def repeat(reply):
        reply.address_announcement, reply.address_announcement_mac = recorded[0]
        return reply

    impostor.change = repeat
    endpoints = json.loads((device.folder / "archebase-endpoints.json").read_text())
    host, port = network.auth.address.rsplit(":", 1)
    endpoints["auth"] = {"scheme": "http", "host": host, "port": int(port)}
    (device.folder / "archebase-endpoints.json").write_text(json.dumps(endpoints))
    assert "its number is 1, and number 2 was taken" in notes(device, "upload", path)[0]
    assert gateway_of(device) == taken


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"ends_in": -1}, "it has ended"), ({"serial": 0}, "its number is 0"), ({"tls": False}, "has no TLS")],
)
def test_device_rejects_unusable_announcement(device, network, impostor, stubs, path, change, reason):
    """Though it is signed with the device's key."""
    direct = {name: network.gateway.listeners[name] for name in LISTENERS}
    if change == {"tls": False}:
        (device.folder / "gateway-address.json").write_text(
            json.dumps({"serial": 1, "usedTLS": True, "former": [], "movedAt": 0})
        )
    signed = announcement(stubs, direct, **({"serial": 7} | change))
    impostor.change = lambda reply: impostor.signed(reply, signed)
    before = gateway_of(device)
    assert reason in notes(device, "upload", path)[0]
    assert gateway_of(device) == before


def failing_for_an_hour(device):
    changed = history(device)
    assert changed["failingSince"] > time.time() - 600
    (device.folder / "gateway-address.json").write_text(
        json.dumps(changed | {"failingSince": changed["failingSince"] - 3600})
    )


def test_device_returns_when_the_new_address_fails_for_an_hour(device, operator, network, path):
    old = gateway_of(device)
    direct = {name: network.gateway.listeners[name] for name in LISTENERS}
    announce(operator, direct, scheme="http")
    device.done("upload", path)
    assert gateway_of(device) == f"http://{direct['gateway']}"
    # The new addresses are those of the gateway itself: behind others, they fail.
    broken = {name: {"scheme": "http", "host": "127.0.0.1", "port": free_port()} for name in ("auth", "gateway")}
    endpoints = json.loads((device.folder / "archebase-endpoints.json").read_text())
    (device.folder / "archebase-endpoints.json").write_text(json.dumps(endpoints | broken))
    # As it fails for less than an hour, the device waits.
    device.refused(UNREACHABLE, "upload", path, "--retry-for", "0")
    assert gateway_of(device) == f"http://127.0.0.1:{broken['gateway']['port']}"
    failing_for_an_hour(device)
    # Neither address works, as for a device without a network.
    network.auth.target = f"127.0.0.1:{free_port()}"
    device.refused(UNREACHABLE, "upload", path, "--resume", "--retry-for", "0")
    assert gateway_of(device) == f"http://127.0.0.1:{broken['gateway']['port']}"
    network.point_at(network.gateway)
    (note,) = notes(device, "upload", path, "--resume")
    assert "failed for an hour" in note and old in note
    assert gateway_of(device) == old
    # The same announcement is not taken again, a new one is.
    assert notes(device, "upload", path) == []
    announce(operator, direct, scheme="http")
    assert "(number 2)" in notes(device, "upload", path)[0]


def test_device_does_not_return_to_cleartext(device, operator, secured, authority, path):
    announce(operator, at(secured), authority)
    device.done("upload", path)
    assert "previous" not in history(device)
    assert history(device)["usedTLS"]


def test_deployed_clients_see_no_announcement(network, fleet, operator, secured, authority, stubs):
    uploader: Uploader = fleet.uploader()
    announce(operator, at(secured), authority)
    stub = stubs.auth.AuthServiceStub(network.gateway.channel("auth"))
    request = stubs.auth.ExchangeCredentialRequest(credential=uploader.credential)
    assert not stub.ExchangeCredential(request, timeout=20).address_announcement
    request.address_serial = 0
    assert stub.ExchangeCredential(request, timeout=20).address_announcement
    request.address_serial = 1
    assert not stub.ExchangeCredential(request, timeout=20).address_announcement


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--host", "https://gateway.example.com", "--days", "0"], "--days must be 1 to 400"),
        (["--auth", "https://gateway.example.com:1"], "requires --host or all of the three URLs"),
    ],
)
def test_announcement_of_the_command_line_is_checked(operator, options, output):
    assert output in operator.refused(USAGE, "device", "address", "announce", *options)


def test_announcement_is_checked(operator, fleet, tmp_path, stubs):
    (tmp_path / "no.pem").write_text("no certificate")
    host = ["--host", "https://gateway.example.com"]
    output = operator.refused(REFUSED, "device", "address", "announce", *host, "--authority", str(tmp_path / "no.pem"))
    assert "authority must contain certificates in the PEM format" in output
    good = announcement(stubs, dict.fromkeys(LISTENERS, "gateway.example.com:1"), 0)
    for field, value, rule in (
        ("host", "", "auth.host must be a host name"),
        ("host", "a b", "auth.host must be a host name"),
        ("host", "[::1]", "auth.host must be a host name"),
        ("port", 0, "auth.port must be 1 to 65535"),
    ):
        endpoint = stubs.auth.DeviceEndpoint(host="gateway.example.com", port=1)
        setattr(endpoint, field, value)
        with pytest.raises(grpc.RpcError) as refusal:
            fleet.user.devices("AnnounceAddresses", auth=endpoint, gateway=good.gateway, device_init=good.device_init)
        assert rule in refusal.value.details()
    assert operator.json("device", "address", "show")["serial"] == 0
