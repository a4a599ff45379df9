"""Events under kills of the gateway: every acknowledged one is delivered, at least once and in order."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from support.gateway import eventually
from support.parties import init_device
from support.webhooks import metrics

KILLS = 4
FULL_KILLS = 40


def test_events_arrive_at_least_once_and_in_order(with_webhooks, stubs, is_full):
    """The gateway is killed while devices call and events are in transit; every acknowledged one is delivered, in order."""
    kills = FULL_KILLS if is_full else KILLS
    gateway, fleet, receiver = with_webhooks(concurrency=8)
    lots = iter(range(10**9))
    receiver.respond = lambda event: 500 if next(lots) % 20 == 3 else 204
    devices = [fleet.register().device_id for _ in range(4)]
    answered: dict[str, int] = defaultdict(int)
    for device in devices:
        init_device(gateway, stubs, device)
        answered[device] += 1

    def reinit(device: str):
        """Calls ReinitDevice thirty times, or until the gateway is killed."""
        try:
            for _ in range(30):
                init_device(gateway, stubs, device, "ReinitDevice")
                answered[device] += 1
        except Exception:  # noqa: BLE001 — however the connection broke
            pass

    for number in range(kills):
        before = len(receiver.events)
        with ThreadPoolExecutor(len(devices)) as pool:
            for device in devices:
                pool.submit(reinit, device)
            eventually(lambda: len(receiver.events) >= before + 10 + 7 * (number % 10))
            gateway.kill()
        gateway.start()
    eventually(lambda: metrics(gateway, "pending") == {"all": 0}, seconds=120)
    for device in devices:
        first = list(dict.fromkeys(event["id"] for event in receiver.of(f"devices/{device}")))
        # A call whose response was lost may have been committed: at most one for each kill.
        assert answered[device] <= len(first) <= answered[device] + kills
        assert first == sorted(first), "an event was first told before an earlier one"
    assert metrics(gateway, "dead") == {"all": 0}
