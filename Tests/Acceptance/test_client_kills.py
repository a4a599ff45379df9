"""Uploads under `kill -9` of either side at random moments: each file arrives once, and little is sent again."""

import os
import random
import time

from support.client import Device, Network
from support.parties import Fleet
from support.uploads import content
from support.waiting import WAIT_SECONDS

PART = 256 * 1024
KILLS, FULL_KILLS = 10, int(os.environ.get("LAB_KILLS", 300))
SEED = 1


def test_kills_of_either_side_lose_no_upload(binary, gateway_with, login, is_full, tmp_path):
    chance = random.Random(SEED)
    network = Network(gateway_with, {"uploads": {"part_size_bytes": PART}})
    user = login(network.gateway)
    device = Device(binary, network, tmp_path / "device").join(Fleet.create(user))
    kills, sizes = 0, []
    while kills < (FULL_KILLS if is_full else KILLS):
        path = tmp_path / f"{len(sizes)}.mcap"
        sizes.append(chance.randrange(1, 16 * PART))
        path.write_bytes(content(sizes[-1], seed=len(sizes)))
        before, killed = network.store.bodies, 0
        while killed < 5 and len(user.list_all(page_size=1000)) < len(sizes):
            client = device.start("upload", path)
            # The moment of the kill is what is tested.
            time.sleep(chance.random() * 0.5)
            killed += 1
            if chance.random() < 0.3:
                network.restart()
            else:
                client.kill()
            client.communicate(timeout=WAIT_SECONDS)
        device.done("upload", path)
        kills += killed
        # A whole part if the kill came between its last byte and its acknowledgement.
        assert network.store.bodies - before - sizes[-1] <= killed * PART, f"seed {SEED}, file {len(sizes)}"
        assert device.journals == []
    network.close()
    assert sorted(each.size_bytes for each in user.list_all(page_size=1000)) == sorted(sizes), f"seed {SEED}"
