"""Attacks over HTTP/2 on a running gateway: they are refused or cut off, memory stays bounded, others are served.

Each limit is low in this gateway's configuration, so that attacks are short; the mechanism is the same.
"""

import gzip
import os
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from support import h2raw
from support.gateway import eventually
from support.h2raw import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    Peer,
    block,
    frame,
    literal,
)
from support.monitoring import metric
from support.process_usage import memory, reset_peak

#: The largest increase of the resident memory during an attack.
MEMORY_BOUND = 50 * 1024 * 1024
CONTROL_FRAMES, RESETS, CONNECTIONS = 50, 20, 40


@pytest.fixture(scope="module")
def target(gateway_with):
    return gateway_with(
        {
            "rpc": {
                "control_frame_burst": CONTROL_FRAMES,
                "control_frames_per_second": 1,
                "reset_burst": RESETS,
                "resets_per_second": 1,
                "max_connections_per_address": CONNECTIONS,
                "max_concurrent_streams": 16,
                "handshake_timeout_seconds": 1,
                "stall_timeout_seconds": 1,
            }
        }
    )


@pytest.fixture(autouse=True)
def survives(target, stubs):
    """Wraps each attack: another connection is served during it, a new one afterwards, and the memory stays bounded."""
    other = health(target, stubs)
    other()
    # From here on, the peak belongs to the attack.
    reset_peak(target.process.pid)
    before = memory(target.process.pid)
    is_over = threading.Event()
    with ThreadPoolExecutor(1) as bystander:
        served = bystander.submit(keep_calling, other, is_over)
        yield
        is_over.set()
        assert served.result() > 0
    health(target, stubs, fresh=True)()
    assert memory(target.process.pid, "VmHWM") - before < MEMORY_BOUND


def keep_calling(call, is_over: threading.Event) -> int:
    """Calls until `is_over` is set, and returns the number of calls; raises the first failure."""
    count = 0
    while count == 0 or not is_over.wait(0.02):
        call()
        count += 1
    return count


def health(gateway, stubs, fresh: bool = False):
    """Makes a call that must succeed, on an existing connection or on a new one."""
    options = [("grpc.use_local_subchannel_pool", 1)] if fresh else []
    channel = grpc.insecure_channel(gateway.listeners["auth"], options=options) if fresh else gateway.channel("auth")
    stub = stubs.health.HealthStub(channel)
    return lambda: stub.Check(stubs.health.HealthCheckRequest(), timeout=20)


def reached(gateway, limit: str) -> int:
    """Returns how often the auth listener has counted the limit."""
    return int(metric(gateway, "data_gateway_limits_reached_total", listener="auth", limit=limit))


HEALTH = (":path", "/grpc.health.v1.Health/Check")


def check(authority: str, *more: tuple[str, str]) -> bytes:
    """Returns the header section of a health check."""
    return block(
        (":method", "POST"),
        (":scheme", "http"),
        HEALTH,
        (":authority", authority),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *more,
    )


@pytest.mark.parametrize(
    "flood",
    [
        frame(PING, 0, 0, bytes(8)),
        frame(SETTINGS, 0, 0, b""),
        frame(PRIORITY, 0, 3, h2raw.priority()),
    ],
    ids=["PING", "SETTINGS", "PRIORITY"],
)
def test_flood_of_control_frames_ends_the_connection(target, flood):
    before = reached(target, "control_frames")
    with Peer(target.listeners["auth"]) as peer:
        peer.raw(flood * (CONTROL_FRAMES * 4))
        peer.expect_connection_error(ENHANCE_YOUR_CALM)
    assert reached(target, "control_frames") == before + 1


@pytest.mark.parametrize("kind", [PING, SETTINGS])
def test_the_default_number_of_control_frames_is_answered(gateway, kind):
    """docs/configuration.md has 200: the HTTP/2 library's own limit ended the connection earlier, without a GOAWAY."""
    payload = bytes(8) if kind == PING else b""
    with Peer(gateway.listeners["auth"]) as peer:
        # The peer's own SETTINGS at the beginning, and its acknowledgement, count as well.
        peer.raw(frame(kind, 0, 0, payload) * 190)
        for _ in range(190):
            peer.expect(kind, flags=h2raw.ACK)
    with Peer(gateway.listeners["auth"]) as peer:
        peer.raw(frame(kind, 0, 0, payload) * 260)
        peer.expect_connection_error(ENHANCE_YOUR_CALM)


def test_flood_of_empty_data_ends_the_connection(target):
    with Peer(target.listeners["auth"]) as peer:
        peer.send(HEADERS, END_HEADERS, 1, check(peer.authority))
        peer.raw(frame(DATA, 0, 1, b"") * (CONTROL_FRAMES * 4))
        peer.expect_connection_error(ENHANCE_YOUR_CALM)


def test_pings_between_calls_are_no_flood(target):
    with Peer(target.listeners["auth"]) as peer:
        for number in range(CONTROL_FRAMES * 3):
            stream = 2 * number + 1
            peer.send(HEADERS, END_HEADERS, stream, check(peer.authority))
            peer.send(DATA, END_STREAM, stream, bytes(5))
            peer.expect_end(stream)
            peer.expect_pong()


def test_rapid_resets_leave_others_served(target):
    """CVE-2023-44487: streams that are opened and reset at once."""
    with Peer(target.listeners["auth"]) as peer:
        header = check(peer.authority)
        for number in range(5000):
            stream = 2 * number + 1
            peer.raw(frame(HEADERS, END_HEADERS, stream, header) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))
        # It was either cut off, or is still served; `survives` checks the rest.
        peer.send(PING, 0, 0, bytes(8))
        while (got := peer.next()) is not None and got.kind not in (PING, GOAWAY):
            pass


def test_streams_that_we_are_made_to_reset(target):
    """CVE-2025-8671: the client violates a rule on each stream, so that the server resets it."""
    before = reached(target, "resets")
    with Peer(target.listeners["auth"]) as peer:
        for number in range(RESETS * 3):
            stream = 2 * number + 1
            peer.send(HEADERS, END_HEADERS, stream, check(peer.authority))
            # A window above 2^31-1 is an error of the stream (RFC 9113, section 6.9.1).
            peer.window_update(stream, 2**31 - 1)
            # Waits for each reset: on a slow server, more simultaneous streams than allowed would be another error.
            while (got := peer.next()) is not None and got.kind not in (RST_STREAM, GOAWAY):
                pass
            if got is None or got.kind == GOAWAY:
                break
        assert got is not None and got.kind == GOAWAY, got
        assert got.error == ENHANCE_YOUR_CALM
    assert reached(target, "resets") == before + 1


def test_flood_of_continuations_ends_the_connection(target):
    with Peer(target.listeners["auth"]) as peer:
        peer.send(HEADERS, 0, 1, check(peer.authority))
        for _ in range(2000):
            peer.send(CONTINUATION, 0, 1, literal("x-filler", "a" * 1000))
        while peer.next() is not None:
            pass


def test_hpack_bomb_is_cut_off(target):
    """One field in the dynamic table, referred to thousands of times (CVE-2016-6581)."""
    with Peer(target.listeners["auth"]) as peer:
        insert = b"\x40" + h2raw.string("x-bomb") + h2raw.string("a" * 3900)
        for stream in range(1, 101, 2):
            peer.send(HEADERS, END_HEADERS, stream, check(peer.authority) + insert + b"\xbe" * 10_000)
        while peer.next() is not None:
            pass
    assert reached(target, "header_list_size") > 0


def test_header_section_over_the_limit_is_refused_and_the_connection_stays_open(target):
    with Peer(target.listeners["auth"]) as peer:
        peer.send(HEADERS, END_HEADERS, 1, check(peer.authority, ("x-filler", "a" * 16_100)))
        peer.expect_end(1)
        peer.expect_pong()


def test_more_streams_than_were_granted(target):
    with Peer(target.listeners["auth"]) as peer:
        for number in range(200):
            peer.send(HEADERS, END_HEADERS, 2 * number + 1, check(peer.authority))
        refused = 0
        peer.send(PING, 0, 0, bytes(8))
        while (got := peer.next()) is not None and not (got.kind == PING and got.flags & ACK) and got.kind != GOAWAY:
            refused += got.kind == RST_STREAM
        assert refused > 0 or got is None or got.kind == GOAWAY


def wait_for_the_end(connection: socket.socket, seconds: float = 15) -> None:
    """Waits until the other side closes the connection; discards its output."""
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass


@pytest.mark.parametrize("first", [b"", b"PRI * HT", PREFACE], ids=["nothing", "half a preface", "no SETTINGS"])
def test_connection_without_a_preface_is_closed(target, first):
    before = reached(target, "handshake_timeout")
    host, port = target.listeners["auth"].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(first)
        wait_for_the_end(connection)
    assert reached(target, "handshake_timeout") == before + 1


def test_connection_with_other_bytes_than_http2_is_closed(target):
    host, port = target.listeners["auth"].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + os.urandom(1000))
        wait_for_the_end(connection)


def test_header_section_without_an_end_closes_the_connection(target):
    before = reached(target, "stalled")
    with Peer(target.listeners["auth"]) as peer:
        peer.send(HEADERS, 0, 1, check(peer.authority))
        wait_for_the_end(peer.socket)
    assert reached(target, "stalled") == before + 1


def test_client_with_a_closed_window_is_disconnected(target):
    """Its window is closed and its responses are large: the queued bytes are limited, and it is cut off."""
    before = reached(target, "stalled")
    with Peer(target.listeners["auth"], settings={h2raw.INITIAL_WINDOW_SIZE: 0}) as peer:
        for number in range(16):
            stream = 2 * number + 1
            peer.send(HEADERS, END_HEADERS, stream, check(peer.authority))
            peer.send(DATA, END_STREAM, stream, bytes(5))
        wait_for_the_end(peer.socket)
    assert reached(target, "stalled") == before + 1


def test_client_with_a_full_socket_is_disconnected(target):
    """Its windows are open, but its socket is full: no more responses are made than fit, and it is cut off."""
    before = reached(target, "stalled")
    symbol = b"archebase.auth.v1.AuthService"
    request = b"\x22" + bytes([len(symbol)]) + symbol
    question = b"\0" + len(request).to_bytes(4, "big") + request
    with Peer(target.listeners["auth"], settings={h2raw.INITIAL_WINDOW_SIZE: 2**31 - 1}) as peer:
        peer.window_update(0, 2**31 - 1 - 65535)
        path = (":path", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        peer.send(HEADERS, END_HEADERS, 1, check(peer.authority).replace(literal(*HEALTH), literal(*path)))
        # Responses of some kilobytes: more than the buffers of the two sockets.
        for _ in range(20):
            peer.send(DATA, 0, 1, question * 200)
        eventually(lambda: reached(target, "stalled") == before + 1)


def test_idle_connection_is_closed(gateway_with):
    gateway = gateway_with({"rpc": {"idle_timeout_seconds": 3, "keepalive_interval_seconds": 1}})
    with Peer(gateway.listeners["auth"]) as peer:
        while (got := peer.next()).kind != GOAWAY:
            if got.kind == PING:
                peer.send(PING, ACK, 0, got.payload)
        assert got.error == h2raw.NO_ERROR
    assert reached(gateway, "idle") == 1


def test_vanished_client_is_disconnected(gateway_with):
    """Nothing arrives from it any more, not even the answer to a PING."""
    gateway = gateway_with({"rpc": {"keepalive_interval_seconds": 1, "keepalive_timeout_seconds": 1}})
    with Peer(gateway.listeners["auth"]) as peer:
        wait_for_the_end(peer.socket)
    assert reached(gateway, "keepalive_timeout") == 1


def test_more_connections_than_one_address_may_have(target):
    before = reached(target, "connections_per_address")
    host, port = target.listeners["auth"].rsplit(":", 1)
    connections = [socket.create_connection((host, int(port))) for _ in range(CONNECTIONS + 10)]
    eventually(lambda: reached(target, "connections_per_address") > before)
    for connection in connections:
        connection.close()

    def responds() -> bool:
        try:
            with Peer(target.listeners["auth"]) as peer:
                peer.expect_pong()
            return True
        except (AssertionError, ConnectionError):
            return False

    # The places are free again once the gateway has noticed the ends.
    eventually(responds)


def test_message_with_a_false_length_is_refused(target):
    with Peer(target.listeners["auth"]) as peer:
        for number in range(16):
            stream = 2 * number + 1
            peer.send(HEADERS, END_HEADERS, stream, check(peer.authority))
            peer.send(DATA, 0, stream, b"\0\xff\xff\xff\xff")
            peer.expect_end(stream)
        peer.expect_pong()


def expect_refusals(target, header: bytes, status: grpc.StatusCode, message: bytes = b"") -> None:
    """Expects call after call to be refused with the status, on a connection that continues."""
    with Peer(target.listeners["auth"]) as peer:
        for stream in range(1, 33, 2):
            peer.send(HEADERS, END_HEADERS, stream, header)
            for at in range(0, len(message), 16384):
                peer.send(DATA, 0, stream, message[at : at + 16384])
            head = peer.expect(HEADERS, stream, END_STREAM)
            # Spelled out the first time, and later an index in HPACK's table.
            assert stream > 1 or h2raw.string(str(status.value[0])) in head.payload
        peer.expect_pong()


def test_zip_bomb_is_refused_as_too_large(target):
    """64 KB that decompress to 64 MB: no more is inflated than a message may have."""
    bomb = gzip.compress(bytes(1 << 26), mtime=0)
    message = b"\1" + len(bomb).to_bytes(4, "big") + bomb
    header = check(target.listeners["auth"], ("grpc-encoding", "gzip"))
    expect_refusals(target, header, grpc.StatusCode.RESOURCE_EXHAUSTED, message)


@pytest.mark.parametrize("timeout", ["", "S", "1", "-1S", "123456789S", "1s", "1 S", "9" * 10_000 + "H"])
def test_malformed_timeout_is_refused(target, timeout):
    header = check(target.listeners["auth"], ("grpc-timeout", timeout))
    expect_refusals(target, header, grpc.StatusCode.INVALID_ARGUMENT)


def test_calls_without_te_trailers_are_refused(target):
    header = check(target.listeners["auth"]).removesuffix(literal("te", "trailers"))
    expect_refusals(target, header, grpc.StatusCode.INTERNAL)
