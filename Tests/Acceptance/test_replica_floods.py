"""One client of the balancer uses up what it can, and the balancer's other clients are served meanwhile.

HAProxy has few connections to a gateway, which all clients share: the limits of a gateway must be those of the client, as
`x-forwarded-for` names it, and a connection must not end for what one of its clients does. The attacker is 127.0.0.2; the bystanders,
a device that uploads and a user who lists, call from 127.0.0.1.
"""

import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from engines.postgres import Server
from support import database_engine
from support.buckets import Bucket
from support.bystanders import Bystanders
from support.floods import ANOTHER, ATTACKER, WATCH, ask_for_keys, call_head, sign_in, wait_on
from support.gateway import ADMIN_PASSWORD, eventually
from support.h2raw import (
    CANCEL,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    RST_STREAM,
    Peer,
    frame,
)
from support.monitoring import metric
from support.parties import Fleet, init_device
from support.replicas import Replicas
from support.uploads import completed

pytestmark = pytest.mark.sqlite
#: The calls of the attacker that wait at a gateway.
WAITING = 16
#: The calls that the attacker cancels: for each gateway twice as many as a connection of a client may reset.
RESETS = 6000
#: The limits of a connection, which are not for the connections of the balancer.
CONNECTION_LIMITS = (
    "waiting_calls_per_connection",
    "handlers_per_connection",
    "response_bytes_per_connection",
    "resets",
)
LIST = "/archebase.data_gateway.v1.DataGatewayObjectService/ListObjects"


@pytest.fixture(scope="module")
def replicas(binary, gateway_with, tmp_path_factory) -> Replicas:
    with Server() as server:
        replicas = Replicas(
            binary,
            {"url": database_engine.uri(server.url("postgres")), "schema": "service"},
            Bucket.start(gateway_with, tmp_path_factory.mktemp("bucket")).settings("service"),
            tmp_path_factory.mktemp("replicas"),
            # The balancer, and not the other addresses of loopback.
            rpc={
                "trusted_proxies": ["127.0.0.1"],
                "max_response_bytes": 1280 * 1024,
                "max_response_bytes_per_connection": 64 * 1024,
                "stall_timeout_seconds": 5,
            },
        )
        try:
            yield replicas.start()
        finally:
            replicas.close()


@pytest.fixture
def bystanders(replicas, login) -> Bystanders:
    bystanders = Bystanders(replicas.service, login(replicas.service))
    # Each gateway has a connection of the balancer.
    bystanders.serve(rounds=6)
    yield bystanders
    bystanders.serve(rounds=3)
    for limit in CONNECTION_LIMITS:
        for listener in ("auth", "gateway", "device-init"):
            assert total(replicas, "data_gateway_limits_reached_total", listener=listener, limit=limit) == 0, limit


def total(replicas, name: str, **labels: str) -> int:
    return sum(int(metric(each, name, **labels)) for each in replicas.gateways.values())


def test_waiting_calls_of_one_client_leave_others_theirs(replicas, bystanders):
    authority = replicas.service.listeners["auth"]
    with ExitStack() as peers:
        for _ in range(4):
            peer = peers.enter_context(Peer(authority, source=ATTACKER))
            wait_on(peer, WATCH, 64, True)
        eventually(
            lambda: total(replicas, "data_gateway_waiting_calls", listener="auth") == WAITING * len(replicas.gateways)
        )
        other = peers.enter_context(Peer(authority, source=ANOTHER))
        wait_on(other, WATCH, 12, True)
        eventually(
            lambda: (
                total(replicas, "data_gateway_waiting_calls", listener="auth") == WAITING * len(replicas.gateways) + 12
            )
        )
        bystanders.serve()
    eventually(lambda: total(replicas, "data_gateway_waiting_calls", listener="auth") == 0)


def test_calls_that_one_client_cancels_end_no_connection_of_others(replicas, bystanders):
    listener = replicas.service.listeners["gateway"]
    over = threading.Event()

    def serve() -> int:
        rounds = 0
        while not over.is_set() or rounds == 0:
            bystanders.serve(rounds=1)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(serve)
        try:
            with Peer(listener, source=ATTACKER) as peer:
                head = call_head(peer.authority, LIST)
                for wave in range(RESETS // 50):
                    streams = [2 * (50 * wave + number) + 1 for number in range(50)]
                    for stream in streams:
                        peer.raw(frame(HEADERS, END_HEADERS, stream, head))
                    peer.expect_pong()
                    for stream in streams:
                        peer.raw(frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))
        finally:
            over.set()
        assert served.result() > 0


def test_responses_that_one_client_does_not_read_delay_no_others(replicas, bystanders):
    user = bystanders.user
    # Longer than what the balancer takes of a response before its client reads it.
    for _ in range(5):
        completed(bystanders.device, b"x", {f"tag{number}": "x" * 2000 for number in range(20)})
    request = user.stubs.gateway.ListObjectsRequest(page_size=1000).SerializeToString()
    message = b"\0" + len(request).to_bytes(4, "big") + request
    with ExitStack() as peers:
        for _ in range(8):
            listener = replicas.service.listeners["gateway"]
            peer = peers.enter_context(Peer(listener, settings={INITIAL_WINDOW_SIZE: 0}, source=ATTACKER))
            head = call_head(peer.authority, LIST, ("authorization", f"Bearer {user.token}"))
            for number in range(4):
                stream = 2 * number + 1
                peer.raw(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, message))
        eventually(lambda: total(replicas, "data_gateway_response_bytes", listener="gateway") > 64 * 1024)
        bystanders.serve(rounds=10)


def test_wrong_passwords_of_one_client_refuse_no_other(replicas, bystanders):
    with ThreadPoolExecutor(8) as pool:
        guesses = [pool.submit(sign_in, replicas.service, "wrong", ATTACKER) for _ in range(120)]
        assert {guess.result()[0] for guess in guesses} == {401, 503}
    assert sign_in(replicas.service, "wrong", ATTACKER)[0] == 503
    assert sign_in(replicas.service, ADMIN_PASSWORD, "127.0.0.1") == (200, "")


def test_calls_in_a_devices_name_do_not_block_the_device(replicas, bystanders, stubs):
    device = Fleet.create(bystanders.user).register().device_id
    init_device(replicas.service, stubs, device)
    ask_for_keys(replicas.service, stubs, [device] * 600)
    assert total(replicas, "data_gateway_limits_reached_total", listener="device-init", limit="handlers") == 0
    for _ in range(3):
        assert init_device(replicas.service, stubs, device, "ReinitDevice").api_key
