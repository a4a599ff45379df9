"""The device's side over time: expiring tokens, credentials and sessions, and a gateway that dies and returns."""

from functools import partial

import pytest
from support.certificates import Authority
from support.client import Device, Network, SignedIn, Stage
from support.commands import OK, REFUSED, UNREACHABLE, USAGE
from support.faults import Clock, wrong_clock
from support.parties import Fleet
from support.uploads import content, fresh_seeds

PART = 256 * 1024
SIZE = 4 * PART + 99
#: The lifetime of tokens and credentials in seconds.
LIFETIME = 600


@pytest.fixture
def clock(tmp_path) -> Clock:
    """The gateway's clock, which tests set."""
    return Clock(tmp_path)


@pytest.fixture
def scene(binary, gateway_with, login, tmp_path, clock):
    """Makes a device of a gateway with its own configuration, and a user who sees the uploaded files."""
    networks = []

    def make(config: dict) -> tuple[Device, SignedIn, Fleet]:
        start = partial(gateway_with, environment=clock.environment)
        network = Network(start, config | {"uploads": {"part_size_bytes": PART} | config.get("uploads", {})})
        networks.append(network)
        fleet = Fleet.create(login(network.gateway))
        device = Device(binary, network, tmp_path / "device").join(fleet)
        return device, SignedIn(binary, network.gateway, tmp_path), fleet

    yield make
    for network in networks:
        network.close()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "drive.mcap"
    path.write_bytes(content(SIZE, next(fresh_seeds)))
    return path


def assert_arrived(user: SignedIn, run: str, path, tmp_path) -> None:
    (found,) = user.objects(f"raw_tags.run={run}")
    user.done("download", found["file_id"], "--by-id", "--to", tmp_path / "arrived")
    assert (tmp_path / "arrived" / found["file_id"]).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("after", [0, PART // 2])
def test_tokens_and_credentials_that_end_on_the_way_are_replaced(scene, clock, run, path, tmp_path, after):
    config = {"auth": {"access_token_lifetime_seconds": LIFETIME}, "uploads": {"credential_lifetime_seconds": LIFETIME}}
    device, user, _ = scene(config)
    # Credentials that were valid when the request was signed have expired when it arrives.
    for part, ahead in ((2, LIFETIME + 1), (4, 2 * LIFETIME + 2)):
        device.network.store.before(f"partNumber={part}&", partial(clock.set, ahead), after)
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert events[-1]["event"] == "completed"
    assert not any(event["event"] == "restarted" for event in events)
    assert_arrived(user, run, path, tmp_path)


def test_replaced_key_stops_the_upload_and_the_new_key_continues_it(scene, run, path, tmp_path):
    device, user, fleet = scene({})
    stage = Stage()
    device.network.store.before("partNumber=3&", stage)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    before = device.network.store.bodies
    other = Device(device.binary, device.network, tmp_path / "other")
    assert other.init(device.device_id, "--reinit").returncode == OK
    stage.let_go()
    _, errors = client.communicate(timeout=60)
    assert client.returncode == REFUSED
    assert "AUTH_INVALID_CREDENTIAL" in errors and "--reinit" in errors
    (device.folder / "archebase-config.json").write_bytes((other.folder / "archebase-config.json").read_bytes())
    device.done("upload", "--resume")
    # The part that was refused may have been sent: a body of less than a mebibyte does not wait for the gateway's consent.
    assert device.network.store.bodies - before <= SIZE - 2 * PART + PART
    assert_arrived(user, run, path, tmp_path)


def test_a_session_that_ended_begins_again(scene, clock, run, path, tmp_path):
    seconds = 600
    device, user, fleet = scene({"uploads": {"session_idle_seconds": seconds, "session_total_seconds": seconds}})
    stage = Stage()
    device.network.store.before("partNumber=3&", stage)
    stage.kill(device.start("upload", path, "--tag", f"run={run}"), device.network)
    clock.set(seconds + 1, boot=seconds + 1)
    events = device.events_of("upload", "--resume")
    assert [event["event"] for event in events].count("restarted") == 1
    assert_arrived(user, run, path, tmp_path)


@pytest.mark.parametrize("line", ["partNumber=1&", "partNumber=3&", r"POST .*\?uploadId"])
def test_upload_continues_after_a_kill_of_the_gateway(scene, run, path, tmp_path, line):
    device, user, _ = scene({})
    network = device.network
    stage = Stage()
    network.store.before(line, stage)
    client = device.start("upload", path, "--tag", f"run={run}")
    stage.wait()
    network.gateway.kill()
    for proxy in network.proxies:
        proxy.cut()
    stage.let_go()
    network.gateway.start()
    network.point_at(network.gateway)
    _, errors = client.communicate(timeout=90)
    assert client.returncode == OK, errors
    assert "trying again" in errors
    assert network.store.bodies - SIZE < PART
    assert_arrived(user, run, path, tmp_path)


@pytest.mark.parametrize("size", [PART, SIZE])
@pytest.mark.parametrize("ahead", [-10 * 365 * 86_400, -1000, 1000, 10 * 365 * 86_400])
def test_a_wrong_clock_is_set_by_the_stores(scene, run, tmp_path, ahead, size):
    device, user, _ = scene({"object_store": {"max_clock_skew_seconds": 900}})
    path = tmp_path / "drive.mcap"
    path.write_bytes(content(size, next(fresh_seeds)))
    device.environment = wrong_clock(ahead)
    events = device.events_of("upload", path, "--tag", f"run={run}")
    assert [event["event"] for event in events if event["event"] in ("waiting", "restarted")] == []
    assert_arrived(user, run, path, tmp_path)


def test_upload_over_tls_needs_the_authority(binary, gateway_with, login, path, tmp_path):
    authority = Authority(tmp_path, "authority")
    tls = authority.tls("device-init", "gateway", "object-store", addresses=("127.0.0.1",))
    network = Network(gateway_with, {"uploads": {"part_size_bytes": PART}, "tls": tls})
    trust = {"DATA_GATEWAY_CA": str(authority.path)}
    fleet = Fleet.create(login(network.gateway))
    device = Device(binary, network, tmp_path / "device", scheme="https", environment=trust)
    device.join(fleet)
    (event,) = [each for each in device.events_of("upload", path) if each["event"] == "completed"]
    assert event["part_count"] == 5
    device.environment = {"DATA_GATEWAY_CA": str(tmp_path / "nothing.pem")}
    assert "DATA_GATEWAY_CA" in device.refused(USAGE, "upload", path)
    device.environment = {"DATA_GATEWAY_CA": str(Authority(tmp_path, "other").path)}
    assert "certificate" in device.refused(UNREACHABLE, "upload", path, "--retry-for", "0")
    network.close()
