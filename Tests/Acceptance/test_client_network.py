"""Uploads over a network with random cuts, delays and repetitions: each file arrives completely and once."""

import itertools
import random

from support import object_engine
from support.client import Device, Network
from support.parties import Fleet
from support.unreliable_network import UnreliableNetwork
from support.uploads import content, download

PART = 256 * 1024
FILES, FULL_FILES = 4, 100
SEED = 3


def test_uploads_arrive_over_an_unreliable_network(binary, gateway_with, login, is_full, tmp_path):
    chance = random.Random(SEED)
    network = Network(gateway_with, {"uploads": {"part_size_bytes": PART}})
    user = login(network.gateway)
    device = Device(binary, network, tmp_path / "device").join(Fleet.create(user))
    sent, cuts, repeats = {}, 0, 0
    for number in itertools.count():
        # On a fast machine a few uploads may complete before anything happens to them.
        if number >= (FULL_FILES if is_full else FILES) and cuts and repeats:
            break
        assert number < 10 * FULL_FILES, "the network was never cut, or nothing ever came twice"
        path = tmp_path / f"{number}.mcap"
        size = chance.randrange(1, 24 * PART)
        path.write_bytes(content(size, seed=number))
        before = network.store.bodies
        with UnreliableNetwork(network, chance) as unreliable:
            events = device.events_of("upload", path, "--parallel", str(chance.choice((1, 1, 3))))
        assert events[-1]["event"] == "completed"
        assert not any(event["event"] == "restarted" for event in events), f"seed {SEED}, file {number}"
        # A cut costs the bytes in transit: up to one part for each connection.
        assert network.store.bodies - before - size <= 3 * unreliable.cuts * PART, f"seed {SEED}, file {number}"
        sent[size], cuts, repeats = path.read_bytes(), cuts + unreliable.cuts, repeats + unreliable.repeats
        path.unlink()
    found = user.list_all(page_size=1000)
    assert sorted(each.size_bytes for each in found) == sorted(sent), f"seed {SEED}"
    for each in found:
        assert download(user, each.file_id) == sent[each.size_bytes]
    # Nothing incomplete is left.
    if not object_engine.is_used():
        assert len(list(network.gateway.data.glob("store/data/*/*"))) == len(sent)
    network.close()
