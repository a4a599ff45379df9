"""One address uses up everything that a gateway offers to unknown callers, and others are served meanwhile.

The attacker is 127.0.0.2. The bystanders at 127.0.0.1, a device that uploads and a user who lists, are signed in
before. The short form shows that they are served and that the limits hold; the long form (--full) attacks with
realistic sizes, and limits the duration of the bystanders' calls and the gateway's memory.
"""

import gzip
import http.client
import json
import os
import resource
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import grpc
import pytest
from support.bystanders import Bystanders
from support.database import rows
from support.floods import ANOTHER, ATTACKER, REFLECTION, WATCH, ask_for_keys, call_head, reached, sign_in, wait_on
from support.gateway import ADMIN_PASSWORD, Gateway, eventually
from support.h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer, frame
from support.monitoring import logged, metric
from support.parties import Fleet, init_device
from support.process_usage import memory
from support.refusal import refused
from support.uploads import Upload, content
from support.waiting import WAIT_SECONDS

#: The limit of the bystanders' 99th percentile in the long form, in milliseconds.
LONGEST = 200
#: The limit of the growth of the gateway's resident memory in the long form, in bytes.
GROWTH = 256 * 1024 * 1024
#: The duration of an attack in the long form, in seconds.
HELD = 45
REPORTS = Path(__file__).resolve().parents[2] / ".build" / "lab"


@pytest.fixture
def scene(gateway_with, login):
    """A gateway with its own configuration, and signed-in bystanders."""

    def make(config: dict | None = None) -> Bystanders:
        gateway = gateway_with(config)
        bystanders = Bystanders(gateway, login(gateway))
        bystanders.serve(rounds=1)
        return bystanders

    return make


@contextmanager
def measured(bystanders: Bystanders, name: str):
    """Wraps the long form of an attack: serves the bystanders for a while, and limits the effect on them."""
    before = memory(bystanders.gateway.process.pid)
    bystanders.timings.clear()
    yield
    bystanders.serve_for(HELD)
    p50, p99 = bystanders.percentile(0.5), bystanders.percentile(0.99)
    grown = memory(bystanders.gateway.process.pid) - before
    REPORTS.mkdir(parents=True, exist_ok=True)
    line = f"{name}: {len(bystanders.timings)} calls, p50 {p50:.1f} ms, p99 {p99:.1f} ms, resident {grown / 2**20:+.1f} MiB"
    with open(REPORTS / "floods.txt", "a") as report:
        report.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")
    print(line)
    assert p99 < LONGEST, line
    assert grown < GROWTH, line


def cpu_seconds(gateway) -> float:
    """Returns the CPU time of the gateway so far."""
    fields = Path(f"/proc/{gateway.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# MARK: calls that wait


@pytest.mark.parametrize("path, is_whole", [(WATCH, True), (REFLECTION, False)], ids=["watch", "reflection"])
def test_calls_that_wait_take_no_handlers(scene, is_full, path, is_whole):
    connections, streams = (40, 256) if is_full else (6, 64)
    # Without a limit of their own, as many as there are handlers would exclude everybody else.
    bystanders = scene({} if is_full else {"rpc": {"max_handlers": 200}})
    gateway = bystanders.gateway
    for listener in ("gateway", "auth"):
        with ExitStack() as open_peers:
            refused = 0
            for _ in range(connections):
                peer = open_peers.enter_context(Peer(gateway.listeners[listener], source=ATTACKER))
                refused += len(wait_on(peer, path, streams, is_whole))
            assert metric(gateway, "data_gateway_waiting_calls", listener=listener) == 16
            assert metric(gateway, "data_gateway_handlers", listener=listener) == 0
            # Each call ended separately, without the connection's others.
            assert reached(gateway, listener, "waiting_calls_per_connection") == connections * streams - 16 - reached(
                gateway, listener, "waiting_calls_per_address"
            )
            # Another address still has its own limit.
            other = open_peers.enter_context(Peer(gateway.listeners[listener], source=ANOTHER))
            assert wait_on(other, path, 1, is_whole) == []
            bystanders.reconnect()
            bystanders.serve()
            if is_full:
                with measured(bystanders, f"waiting calls at {listener}"):
                    pass
        eventually(lambda: metric(gateway, "data_gateway_waiting_calls", listener=listener) == 0)


def test_watch_over_http_1_reports_the_state_and_ends(scene, is_full):
    requests = 256 if is_full else 40
    bystanders = scene({} if is_full else {"web": {"max_connections": 32}})
    host, port = bystanders.gateway.listeners["web"].split(":")
    body = b"\0\0\0\0\2{}"
    with ExitStack() as connections:
        for _ in range(requests if is_full else 8):
            connection = http.client.HTTPConnection(host, int(port), timeout=20, source_address=(ATTACKER, 0))
            connections.callback(connection.close)
            connection.request("POST", WATCH, body, {"Content-Type": "application/connect+json"})
            response = connection.getresponse().read()
            assert response[0] == 0 and json.loads(response[5 : 5 + response[4]]) == {"status": "SERVING"}
            connection.close()
        bystanders.serve()


def test_a_watch_ends_in_order_after_its_time(scene, stubs):
    bystanders = scene({"rpc": {"waiting_call_seconds": 1}})
    stub = stubs.health.HealthStub(bystanders.gateway.channel("auth"))
    states = [response.status for response in stub.Watch(stubs.health.HealthCheckRequest(), timeout=20)]
    assert states == [stubs.health.HealthCheckResponse.SERVING]


# MARK: file descriptors

GRPC = ("auth", "gateway", "admin", "device-init")


def open_descriptors(gateway) -> int:
    return len(list(Path(f"/proc/{gateway.process.pid}/fd").iterdir()))


def connect(address: str, count: int, stack: ExitStack, source: str = ATTACKER) -> list[socket.socket]:
    """Opens a number of connections, as far as they are accepted."""
    host, port = address.split(":")
    opened = []
    for _ in range(count):
        try:
            peer = socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))
        except OSError:
            break
        opened.append(stack.enter_context(peer))
    return opened


@pytest.mark.parametrize("hard", [4096, 1024])
def test_connections_leave_descriptors_to_the_rest(binary, login, tmp_path, is_full, hard):
    count = 1000 if is_full else 150
    gateway = Gateway(binary, tmp_path, {"rpc": {"handshake_timeout_seconds": 120}})
    gateway.wrapper = ["prlimit", f"--nofile={hard}:{hard}"]
    try:
        gateway.start()
        bystanders = Bystanders(gateway, login(gateway))
        with ExitStack() as stack:
            for listener in (*GRPC, "web"):
                connect(gateway.listeners[listener], count, stack)
            # A new connection for every call: each listener has some left for another address.
            for _ in range(3):
                bystanders.reconnect()
                bystanders.serve(rounds=1)
            assert open_descriptors(gateway) < hard - 100
            assert sum(reached(gateway, listener, "descriptors") for listener in GRPC) == 0
            if is_full:
                with measured(bystanders, f"connections at {hard} descriptors"):
                    pass
            assert logged(gateway, event="the connection limits were lowered")["descriptors"] == str(hard)
        assert gateway.stop() == 0
    finally:
        gateway.close()


def test_a_gateway_without_descriptors_recovers(scene, is_full):
    bystanders = scene()
    gateway = bystanders.gateway
    _, hard = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        # Files can use descriptors that are reserved for them; here the limit falls to the number of open ones.
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (open_descriptors(gateway) + 2, hard))
        for listener in ("auth", "gateway"):
            connect(gateway.listeners[listener], 50, stack)
        # Connected clients are served.
        listed = bystanders.user.objects("ListObjects", page_size=10)
        assert listed.objects
        eventually(lambda: "the process has no free file descriptors" in gateway.stderr)
        if is_full:
            before = cpu_seconds(gateway)
            # The time over which its work is counted.
            time.sleep(5)
            assert cpu_seconds(gateway) - before < 2.5, "a listener spins"
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
    bystanders.reconnect()
    bystanders.serve()
    assert reached(gateway, "auth", "descriptors") + reached(gateway, "gateway", "descriptors") > 0
    logged(gateway, event="the process has no free file descriptors")


def test_a_gateway_without_descriptors_ends_at_sigterm(scene, is_full):
    bystanders = scene()
    gateway = bystanders.gateway
    _, hard = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (open_descriptors(gateway) + 2, hard))
        for listener in ("auth", "gateway"):
            connect(gateway.listeners[listener], 50, stack)
        eventually(lambda: "the process has no free file descriptors" in gateway.stderr)
        gateway.process.send_signal(signal.SIGTERM)
        # Otherwise the gateway waits for them as long as it waits for calls.
        if not is_full:
            stack.close()
        assert gateway.process.wait(WAIT_SECONDS) == 0


# MARK: slow header sections


def is_open(peer: socket.socket) -> bool:
    """Returns whether the other side keeps the connection open; it sends nothing before it closes it."""
    peer.setblocking(False)
    try:
        return peer.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@pytest.mark.parametrize("listener", ["web", "ops"])
def test_slow_header_sections_do_not_delay_others(scene, is_full, listener):
    # All connections are made within the time that the first one may take.
    short = {"max_connections": 32, "header_timeout_seconds": 5}
    bystanders = scene({} if is_full else {"web": short})
    gateway = bystanders.gateway
    share = 16 if listener == "ops" else 64 if is_full else 8
    with ExitStack() as stack:
        peers = connect(gateway.listeners[listener], 256 if is_full else 40, stack)
        for peer in peers:
            with suppress(OSError):
                peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
        # Connections beyond the share are closed at once, and the rest while others are served.
        eventually(lambda: sum(map(is_open, peers)) <= share)
        path = "/healthz" if listener == "ops" else "/.well-known/jwks.json"
        assert get(gateway.listeners[listener], path) == 200
        if is_full:
            with measured(bystanders, f"slow header sections at {listener}"):
                pass
        eventually(lambda: not any(map(is_open, peers)))
        assert get(gateway.listeners[listener], path) == 200
        bystanders.serve(rounds=1)
    assert reached(gateway, listener, "connections_per_address") == len(peers) - share
    assert reached(gateway, listener, "slow_client") == share


def get(address: str, path: str, source: str = ANOTHER) -> int:
    """Returns the status of a GET on a new connection."""
    host, port = address.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20, source_address=(source, 0))
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


# MARK: responses that nobody reads

LIST = "/archebase.data_gateway.v1.DataGatewayObjectService/ListObjects"
INITIAL_WINDOW_SIZE = 4


def test_unread_responses_do_not_delay_others(scene, is_full):
    # In the short form a response has about 10 KiB, and one address may have 32 of them.
    small = {
        "max_response_bytes": 1280 * 1024,
        "max_response_bytes_per_connection": 64 * 1024,
        "stall_timeout_seconds": 2,
    }
    bystanders = scene({} if is_full else {"rpc": small})
    gateway, user = bystanders.gateway, bystanders.user
    connections, streams, objects = (6, 256, 1000) if is_full else (4, 64, 40)
    bystanders.serve(rounds=objects)
    request = user.stubs.gateway.ListObjectsRequest(page_size=1000).SerializeToString()
    message = b"\0" + len(request).to_bytes(4, "big") + request
    share = 16 * 1024 * 1024 if is_full else 320 * 1024
    with ExitStack() as stack:
        peers = []
        for _ in range(connections):
            peer = Peer(gateway.listeners["gateway"], settings={INITIAL_WINDOW_SIZE: 0}, source=ATTACKER)
            peers.append(stack.enter_context(peer))
            headers = call_head(peer.authority, LIST, ("authorization", f"Bearer {user.token}"))
            for number in range(streams):
                stream = 2 * number + 1
                peer.raw(frame(HEADERS, END_HEADERS, stream, headers) + frame(DATA, END_STREAM, stream, message))

        def trickle() -> None:
            # A byte now and then, like a client that wants to stay connected.
            for peer in peers:
                with suppress(OSError):
                    peer.window_update(1, 1)

        # The calls after it wait: their responses are not made.
        eventually(lambda: reached(gateway, "gateway", "response_bytes_per_connection") > 0)
        # One more response, for which there was space when it was made, and the small ones.
        assert metric(gateway, "data_gateway_response_bytes", listener="gateway") < share + 1024 * 1024
        bystanders.serve(rounds=2)
        if is_full:
            with measured(bystanders, "unread answers"):
                trickle()

        def is_read() -> bool:
            trickle()
            return metric(gateway, "data_gateway_response_bytes", listener="gateway") == 0

        eventually(is_read)
        assert reached(gateway, "gateway", "stalled") > 0
    bystanders.serve(rounds=1)


def test_reflection_takes_small_requests_only(scene):
    gateway = scene().gateway
    request = b"\x0a" + b"\xff\xff\xff\x01" + bytes(4 * 1024 * 1024 - 1)
    packed = gzip.compress(request)
    with Peer(gateway.listeners["auth"], source=ATTACKER) as peer:
        headers = call_head(peer.authority, REFLECTION, ("grpc-encoding", "gzip"))
        peer.raw(frame(HEADERS, END_HEADERS, 1, headers))
        peer.raw(frame(DATA, 0, 1, b"\1" + len(packed).to_bytes(4, "big") + packed))
        while (got := peer.next()) is not None and not (got.kind == HEADERS and got.flags & END_STREAM):
            assert got.kind != DATA, "reflection echoes what it was sent"
    assert metric(gateway, "grpc_server_handled_total", listener="auth", grpc_code="RESOURCE_EXHAUSTED") == 1


# MARK: incomplete requests


def test_half_sent_requests_do_not_delay_others(scene, is_full):
    small = {
        "max_request_bytes": 8 * 1024 * 1024,
        "max_request_bytes_per_address": 1024 * 1024,
        "stall_timeout_seconds": 2,
    }
    bystanders = scene({} if is_full else {"rpc": small})
    gateway = bystanders.gateway
    connections, streams = (64, 4) if is_full else (4, 4)
    #: Below the window of a stream; four of them are below that of a connection.
    piece = bytes(200 * 1024)
    with ExitStack() as stack:
        for _ in range(connections):
            peer = stack.enter_context(Peer(gateway.listeners["auth"], source=ATTACKER))
            for stream in range(1, 2 * streams, 2):
                peer.raw(frame(HEADERS, END_HEADERS, stream, call_head(peer.authority, "/grpc.health.v1.Health/Check")))
                peer.raw(frame(DATA, 0, stream, b"\0" + (1024 * 1024).to_bytes(4, "big")))
                for start in range(0, len(piece), 16384):
                    peer.raw(frame(DATA, 0, stream, piece[start : start + 16384]))
            peer.expect_pong()
        assert reached(gateway, "auth", "request_bytes_per_address") > 0
        assert reached(gateway, "auth", "request_bytes") == 0
        bystanders.reconnect()
        bystanders.serve()
        if is_full:
            with measured(bystanders, "half-sent requests"):
                pass
        eventually(lambda: reached(gateway, "auth", "slow_request") > 0)


# MARK: accounts and devices


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.9"], ids=["at home", "after a restart"])
def test_wrong_passwords_of_strangers_do_not_lock_the_owner_out(scene, login, is_full, source):
    bystanders = scene()
    gateway = bystanders.gateway
    if source != "127.0.0.1":
        assert sign_in(gateway, ADMIN_PASSWORD, source) == (200, "")
        gateway.stop()
        gateway.start()
        bystanders = Bystanders(gateway, login(gateway))
        bystanders.serve(rounds=1)
    ends = threading.Event()
    seen: set[tuple[int, str]] = set()

    def guess(attacker: str) -> None:
        # At the rate at which passwords can be hashed; a higher one would slow down the bystanders in this process,
        # not the gateway.
        while not ends.wait(0.5):
            seen.add(sign_in(gateway, "wrong", attacker))

    # More than the places in the queue of passwords.
    attackers = [f"127.0.1.{number}" for number in range(1, 101 if is_full else 81)]
    with ThreadPoolExecutor(len(attackers)) as pool:
        try:
            guesses = [pool.submit(guess, attacker) for attacker in attackers]
            eventually(lambda: (503, "too many logins failed: try again later") in seen)
            for _ in range(10):
                assert sign_in(gateway, ADMIN_PASSWORD, source) == (200, "")
            # An address without an earlier sign-in is treated like the attackers, who leave a place free now and then: who
            # signs in from there is known from then on.
            strangers = (f"127.0.2.{number}" for number in range(1, 255))
            eventually(lambda: sign_in(gateway, ADMIN_PASSWORD, next(strangers))[0] == 503)
            bystanders.serve(rounds=1)
            if is_full:
                with measured(bystanders, "wrong passwords"):
                    pass
                assert sign_in(gateway, ADMIN_PASSWORD, source) == (200, "")
        finally:
            ends.set()
        for guessing in guesses:
            guessing.result()


def test_calls_in_a_devices_name_do_not_block_the_device(scene, stubs, is_full):
    bystanders = scene()
    gateway, fleet = bystanders.gateway, Fleet.create(bystanders.user)
    device_id, waiting = fleet.register().device_id, fleet.register().device_id
    init_device(gateway, stubs, device_id)
    for _ in range(20 if is_full else 1):
        ask_for_keys(gateway, stubs, [device_id] * 300)
    assert init_device(gateway, stubs, device_id, "ReinitDevice").api_key
    ask_for_keys(gateway, stubs, [f"990101-{number:06}" for number in range(20_000 if is_full else 400)])
    assert init_device(gateway, stubs, waiting).api_key
    bystanders.serve(rounds=1)
    if is_full:
        with measured(bystanders, "device ids"):
            pass


def test_unknown_ids_of_neighbors_leave_a_device_its_first_key(scene, stubs):
    bystanders = scene()
    gateway, fleet = bystanders.gateway, Fleet.create(bystanders.user)
    waiting = fleet.register().device_id
    for number in range(100):
        with pytest.raises(grpc.RpcError):
            init_device(gateway, stubs, f"990101-{number:06}")
    assert init_device(gateway, stubs, waiting).api_key


def test_audit_lines_of_another_organization_are_not_displaced(scene, stubs, is_full):
    lines = 20_000 if is_full else 1000
    bystanders = scene({"audit": {"max_lines": lines}})
    gateway, admin = bystanders.gateway, bystanders.user
    attacker = admin.create_organization("acme")
    Upload.create(Fleet.create(attacker).uploader()).put(content(10)).complete()
    (found,) = attacker.list_all()

    def actions(**wanted: str) -> int:
        where = " AND ".join(f"{name} = ?" for name in wanted)
        return rows(gateway, f"SELECT count(*) FROM audit WHERE {where}", *wanted.values())[0][0]

    before = actions(organization="system")
    # Few threads, because the bystanders' calls are timed at the same time.
    with ThreadPoolExecutor(4) as pool, measured(bystanders, "audit log") if is_full else nullcontext():
        ids = [found.file_id]
        calls = [pool.submit(attacker.objects, "RequestDownload", file_ids=ids) for _ in range(2 * lines + 100)]
    for call in calls:
        call.result()
    # The sweep runs at start, and once a minute.
    gateway.stop()
    gateway.start()
    eventually(lambda: metric(gateway, "data_gateway_audit_overfull_organizations") == 1)
    assert actions(organization="system") >= before
    assert actions(organization="acme", action="RequestDownload") == 2 * lines + 100
    with refused(stubs, "UNAVAILABLE", "DATA_GATEWAY_RATE_LIMITED"):
        for _ in range(100):
            attacker.objects("RequestDownload", file_ids=[found.file_id])
    assert metric(gateway, "data_gateway_audit_refused_calls_total") == 1
    assert attacker.list_all()
    bystanders = Bystanders(gateway, admin)
    bystanders.serve(rounds=1)
