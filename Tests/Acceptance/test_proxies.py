"""Callers behind proxies: identified by a trusted proxy's header, and by no one else's."""

import pytest
from support.parties import Fleet, call
from support.refusal import refused

INSIDE, OUTSIDE = "198.51.100.7", "203.0.113.9"


def reinit(gateway, stubs, device_id: str, forwarded_for: str):
    stub = stubs.gateway.DeviceInitServiceStub(gateway.channel("device-init"))
    request = stubs.gateway.ReinitDeviceRequest(device_id=device_id, sdk_version="1", platform="test")
    return call(stub.ReinitDevice, request, metadata={"x-forwarded-for": forwarded_for})


@pytest.fixture(scope="module")
def device_behind(gateway_with, login):
    """A gateway that permits replacing keys from one network only, and a device with a key."""

    def start(proxies: list[str]):
        gateway = gateway_with(
            {"rpc": {"trusted_proxies": proxies}, "device_init": {"reinit_allow": ["198.51.100.0/24"]}}
        )
        return gateway, Fleet.create(login(gateway)).uploader().device_id

    return start


def test_a_trusted_proxy_says_where_the_call_came_from(device_behind, stubs):
    gateway, device_id = device_behind(["127.0.0.0/8"])
    assert reinit(gateway, stubs, device_id, f"{OUTSIDE}, {INSIDE}").api_key
    for forwarded_for in (OUTSIDE, f"{INSIDE}, {OUTSIDE}"):
        with refused(stubs, "PERMISSION_DENIED"):
            reinit(gateway, stubs, device_id, forwarded_for)


def test_forwarded_addresses_of_others_are_ignored(device_behind, stubs):
    gateway, device_id = device_behind([])
    with refused(stubs, "PERMISSION_DENIED"):
        reinit(gateway, stubs, device_id, INSIDE)
