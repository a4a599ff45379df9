"""HTTP/2 and HPACK: the 147 cases of h2spec 2.6, by its sections and numbers (RFC 7540 and 7541).

A test's name begins with the section and the number there, and says what the server must do. In cases where h2spec
also accepts a connection that is just closed, these tests require GOAWAY or RST_STREAM with the right code.
"""

import struct

import pytest
from support import h2raw
from support.h2raw import (
    ACK,
    COMPRESSION_ERROR,
    CONTINUATION,
    DATA,
    ENABLE_PUSH,
    END_HEADERS,
    END_STREAM,
    FLOW_CONTROL_ERROR,
    FRAME_SIZE_ERROR,
    GOAWAY,
    HAS_PRIORITY,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE,
    PADDED,
    PING,
    PRIORITY,
    PROTOCOL_ERROR,
    PUSH_PROMISE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    STREAM_CLOSED,
    WINDOW_UPDATE,
    Peer,
    block,
    integer,
    literal,
    priority,
    string,
)

#: The message without fields, with its prefix: the request and the response of an EmptyCall.
MESSAGE = bytes(5)


@pytest.fixture
def connect(interop):
    """Opens connections with SETTINGS of the test's choice, which are closed after the test."""
    opened = []

    def make(settings: dict[int, int] | None = None, greet: bool = True) -> Peer:
        opened.append(interop.peer(settings, greet))
        return opened[-1]

    yield make
    for peer in opened:
        peer.socket.close()


@pytest.fixture
def peer(connect) -> Peer:
    return connect()


@pytest.fixture
def head(interop) -> bytes:
    """The header section of an EmptyCall. Even without its message it gets a response, with 200 and a gRPC status."""
    return h2raw.call(interop.address, "EmptyCall")


@pytest.fixture
def half_closed(connect, head) -> Peer:
    """Stream 1 has a complete request, and its response waits for a window: it is and stays half-closed (remote)."""
    peer = connect({INITIAL_WINDOW_SIZE: 0})
    ask(peer, head)
    peer.expect(HEADERS, 1)
    return peer


@pytest.fixture
def closed(peer, head) -> Peer:
    """Stream 1 has a complete request and a complete response."""
    ask(peer, head)
    peer.expect_end(1)
    return peer


def ask(peer: Peer, head: bytes, stream: int = 1) -> None:
    """Sends a complete call with a message."""
    peer.send(HEADERS, END_HEADERS, stream, head)
    peer.send(DATA, END_STREAM, stream, MESSAGE)


def expect_response(peer: Peer, stream: int = 1) -> None:
    """Expects the header section, the message and the trailers of the response."""
    peer.expect(HEADERS, stream)
    assert peer.expect(DATA, stream).payload == MESSAGE
    assert peer.expect(HEADERS, stream).flags & END_STREAM


# generic/1: starting


def test_generic_1__1_a_preface_is_answered_with_settings(connect):
    peer = connect(greet=False)
    peer.raw(h2raw.PREFACE)
    peer.send(SETTINGS)
    assert not peer.expect(SETTINGS).flags & ACK


# generic/2: streams


def test_generic_2__1_priority_on_an_idle_stream_is_taken(peer, head):
    peer.priority(1)
    ask(peer, head)
    expect_response(peer)


def test_generic_2__2_window_update_on_a_half_closed_stream_is_taken(half_closed):
    half_closed.window_update(1, 100)
    assert half_closed.expect(DATA, 1).payload == MESSAGE


def test_generic_2__3_priority_on_a_half_closed_stream_is_taken(half_closed):
    half_closed.priority(1)
    half_closed.window_update(1, 100)
    assert half_closed.expect(DATA, 1).payload == MESSAGE


def test_generic_2__4_rst_stream_on_a_half_closed_stream_is_taken(half_closed):
    half_closed.reset(1)
    half_closed.expect_pong()


def test_generic_2__5_priority_on_a_closed_stream_is_taken(closed):
    closed.priority(1)
    closed.expect_pong()


# generic/3: frames


def test_generic_3_1__1_data(peer, head):
    ask(peer, head)
    expect_response(peer)


def test_generic_3_1__2_data_in_several_frames(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, 0, 1, MESSAGE[:2])
    peer.send(DATA, END_STREAM, 1, MESSAGE[2:])
    expect_response(peer)


def test_generic_3_1__3_data_with_padding(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, END_STREAM | PADDED, 1, b"\x06" + MESSAGE + bytes(6))
    expect_response(peer)


def test_generic_3_2__1_headers(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, head)
    peer.expect(HEADERS, 1)


def test_generic_3_2__2_headers_with_padding(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, b"\x06" + head + bytes(6))
    peer.expect(HEADERS, 1)


def test_generic_3_2__3_headers_with_priority(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM | HAS_PRIORITY, 1, priority(0, 255) + head)
    peer.expect(HEADERS, 1)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(priority(0, 0), id="1_weight_1"),
        pytest.param(priority(0, 255), id="2_weight_256"),
        pytest.param(priority(3, 255), id="3_depends_on_a_stream"),
        pytest.param(priority(3, 255, exclusive=True), id="4_exclusive"),
    ],
)
def test_generic_3_3__priority(peer, head, payload):
    peer.send(PRIORITY, 0, 1, payload)
    ask(peer, head)
    expect_response(peer)


def test_generic_3_3__5_priority_opens_no_stream_a_lower_one_can_still_be_opened(peer, head):
    peer.priority(5)
    ask(peer, head, 3)
    expect_response(peer, 3)


def test_generic_3_4__1_rst_stream(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.reset(1)
    peer.expect_pong()


def test_generic_3_5__1_settings_are_acknowledged(peer):
    peer.settings((MAX_CONCURRENT_STREAMS, 100))
    peer.expect(SETTINGS, flags=ACK)


def test_generic_3_7__1_ping_is_answered_with_its_data(peer):
    peer.expect_pong(b"h2spec!!")


def test_generic_3_8__1_goaway_does_not_stop_calls_in_progress(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(GOAWAY, 0, 0, struct.pack(">II", 0, 0))
    peer.send(DATA, END_STREAM, 1, MESSAGE)
    expect_response(peer)


def test_generic_3_9__1_window_update_of_the_connection(peer, head):
    peer.window_update(0, 1)
    ask(peer, head)
    expect_response(peer)


def test_generic_3_9__2_window_update_of_a_stream(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.window_update(1, 1)
    peer.send(DATA, END_STREAM, 1, MESSAGE)
    expect_response(peer)


@pytest.mark.parametrize("count", [pytest.param(1, id="1_one"), pytest.param(3, id="2_several")])
def test_generic_3_10__continuation(peer, head, count):
    size = len(head) // (count + 1)
    peer.send(HEADERS, END_STREAM, 1, head[:size])
    for number in range(1, count + 1):
        last = number == count
        fragment = head[number * size :] if last else head[number * size : (number + 1) * size]
        peer.send(CONTINUATION, END_HEADERS if last else 0, 1, fragment)
    peer.expect(HEADERS, 1)


# generic/4: requests


@pytest.mark.parametrize("method", [pytest.param("GET", id="1_get"), pytest.param("HEAD", id="2_head")])
def test_generic_4__a_request_that_is_no_call_is_answered(peer, method):
    fields = block((":method", method), (":scheme", "http"), (":path", "/"), (":authority", peer.authority))
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, fields)
    peer.expect(HEADERS, 1)


def test_generic_4__3_post(peer, head):
    ask(peer, head)
    expect_response(peer)


def test_generic_4__4_post_with_trailers(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, 0, 1, MESSAGE)
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, literal("x-trailer", "test"))
    expect_response(peer)


# generic/5: HPACK's representations, each added to a call

#: `user-agent` in the static table, and the text `xyz` without and with Huffman coding (RFC 7541, appendices A and B).
USER_AGENT = 58
XYZ = string("xyz")
XYZ_HUFFMAN = b"\x83\xf3\xeb\xdf"


@pytest.mark.parametrize(
    "field",
    [
        # accept-encoding: gzip, deflate
        pytest.param(integer(16, 7, 0x80), id="1_indexed"),
        pytest.param(integer(USER_AGENT, 6, 0x40) + XYZ, id="2_incremental_indexed_name"),
        pytest.param(integer(USER_AGENT, 6, 0x40) + XYZ_HUFFMAN, id="3_incremental_indexed_name_huffman"),
        pytest.param(b"\x40" + string("x-test") + XYZ, id="4_incremental_new_name"),
        pytest.param(b"\x40" + XYZ_HUFFMAN + XYZ_HUFFMAN, id="5_incremental_new_name_huffman"),
        pytest.param(integer(USER_AGENT, 4) + XYZ, id="6_without_indexing_indexed_name"),
        pytest.param(integer(USER_AGENT, 4) + XYZ_HUFFMAN, id="7_without_indexing_indexed_name_huffman"),
        pytest.param(b"\0" + string("x-test") + XYZ, id="8_without_indexing_new_name"),
        pytest.param(b"\0" + XYZ_HUFFMAN + XYZ_HUFFMAN, id="9_without_indexing_new_name_huffman"),
        pytest.param(integer(USER_AGENT, 4, 0x10) + XYZ, id="10_never_indexed_indexed_name"),
        pytest.param(integer(USER_AGENT, 4, 0x10) + XYZ_HUFFMAN, id="11_never_indexed_indexed_name_huffman"),
        pytest.param(b"\x10" + string("x-test") + XYZ, id="12_never_indexed_new_name"),
        pytest.param(b"\x10" + XYZ_HUFFMAN + XYZ_HUFFMAN, id="13_never_indexed_new_name_huffman"),
    ],
)
def test_generic_5__a_representation_is_taken(peer, head, field):
    ask(peer, head + field)
    expect_response(peer)


@pytest.mark.parametrize("sizes", [pytest.param([128], id="14_one"), pytest.param([128, 4096], id="15_two")])
def test_generic_5__dynamic_table_size_updates_are_taken(peer, head, sizes):
    ask(peer, b"".join(integer(size, 5, 0x20) for size in sizes) + head)
    expect_response(peer)


# http2/3.5: the preface


def test_http2_3_5__1_the_preface_is_answered_with_settings(connect):
    peer = connect(greet=False)
    peer.raw(h2raw.PREFACE + h2raw.frame(SETTINGS, 0, 0, b""))
    assert peer.next().kind == SETTINGS


def test_http2_3_5__2_another_preface_ends_the_connection(connect):
    peer = connect(greet=False)
    peer.raw(b"INVALID CONNECTION PREFACE\r\n\r\n")
    # That peer may not support HTTP/2 at all: GOAWAY can be omitted (RFC 9113, section 3.4).
    while (frame := peer.next()) is not None:
        assert frame.kind in (SETTINGS, WINDOW_UPDATE) or (frame.kind == GOAWAY and frame.error == PROTOCOL_ERROR)


# http2/4: frames


def test_http2_4_1__1_an_unknown_frame_type_is_ignored(peer):
    peer.send(0x16, 0, 0, bytes(8))
    peer.expect_pong()


def test_http2_4_1__2_an_undefined_flag_is_ignored(peer):
    peer.send(PING, 0x16, 0, b"h2spec!!")
    peer.expect(PING, flags=ACK)


def test_http2_4_1__3_the_reserved_bit_is_ignored(peer):
    peer.raw(h2raw.frame(PING, 0, 0x80000000, b"h2spec!!"))
    peer.expect(PING, flags=ACK)


def test_http2_4_2__1_data_of_16384_octets_is_taken(peer, interop, testing):
    message = testing.SimpleRequest(payload=testing.Payload(body=bytes(16384 - 11))).SerializeToString()
    # Its prefix, and the tags and lengths of two fields.
    frame = b"\0" + len(message).to_bytes(4, "big") + message
    assert len(frame) == 16384
    peer.send(HEADERS, END_HEADERS, 1, h2raw.call(interop.address, "UnaryCall"))
    peer.send(DATA, END_STREAM, 1, frame)
    peer.expect(DATA, 1)


def test_http2_4_2__2_a_data_frame_that_is_too_large_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, END_STREAM, 1, bytes(16385))
    peer.expect_stream_error(1, FRAME_SIZE_ERROR)


def test_http2_4_2__3_a_headers_frame_that_is_too_large_is_a_connection_error(peer, head):
    filler = b"".join(literal(f"x-{number}", "a" * 4000) for number in range(5))
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, head + filler)
    peer.expect_connection_error(FRAME_SIZE_ERROR)


def test_http2_4_3__1_an_invalid_header_block_is_a_connection_error(peer):
    # A literal whose prefix announces a value of 127 or more octets, but has none.
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, b"\x40\x01\x61\xff\x80\x01")
    peer.expect_connection_error(COMPRESSION_ERROR)


def test_http2_4_3__2_priority_within_a_header_block_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.priority(1)
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "b"))
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_4_3__3_headers_of_another_stream_within_a_header_block_are_a_connection_error(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.send(HEADERS, END_HEADERS | END_STREAM, 3, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/5.1: stream states


def test_http2_5_1__1_idle_data_is_a_connection_error(peer):
    peer.send(DATA, END_STREAM, 1, b"test")
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1__2_idle_rst_stream_is_a_connection_error(peer):
    peer.reset(1)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1__3_idle_window_update_is_a_connection_error(peer):
    peer.window_update(1, 100)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1__4_idle_continuation_is_a_connection_error(peer, head):
    peer.send(CONTINUATION, END_HEADERS | END_STREAM, 1, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1__5_half_closed_data_is_an_error(half_closed):
    half_closed.send(DATA, END_STREAM, 1, b"test")
    half_closed.expect_stream_error(1, STREAM_CLOSED)


def test_http2_5_1__6_half_closed_headers_are_an_error(half_closed, head):
    half_closed.send(HEADERS, END_HEADERS | END_STREAM, 1, head)
    half_closed.expect_stream_error(1, STREAM_CLOSED)


def test_http2_5_1__7_half_closed_continuation_is_a_connection_error(half_closed, head):
    half_closed.send(CONTINUATION, END_HEADERS, 1, head)
    half_closed.expect_connection_error(STREAM_CLOSED, PROTOCOL_ERROR)


@pytest.fixture
def reset(peer, head) -> Peer:
    """The client has reset stream 1."""
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.reset(1)
    return peer


def test_http2_5_1__8_data_after_rst_stream_is_an_error(reset):
    reset.send(DATA, END_STREAM, 1, b"test")
    reset.expect_stream_error(1, STREAM_CLOSED)


def test_http2_5_1__9_headers_after_rst_stream_are_an_error(reset, head):
    reset.send(HEADERS, END_HEADERS | END_STREAM, 1, head)
    reset.expect_stream_error(1, STREAM_CLOSED)


def test_http2_5_1__10_continuation_after_rst_stream_is_a_connection_error(reset):
    reset.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "b"))
    reset.expect_connection_error(STREAM_CLOSED, PROTOCOL_ERROR)


def test_http2_5_1__11_closed_data_is_an_error(closed):
    closed.send(DATA, END_STREAM, 1, b"test")
    closed.expect_stream_error(1, STREAM_CLOSED)


def test_http2_5_1__12_closed_headers_are_a_connection_error(closed, head):
    closed.send(HEADERS, END_HEADERS | END_STREAM, 1, head)
    closed.expect_connection_error(STREAM_CLOSED)


def test_http2_5_1__13_closed_continuation_is_a_connection_error(closed):
    closed.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "b"))
    closed.expect_connection_error(STREAM_CLOSED, PROTOCOL_ERROR)


def test_http2_5_1_1__1_an_even_stream_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM, 2, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1_1__2_a_stream_below_one_that_was_opened_is_a_connection_error(peer, head):
    ask(peer, head, 5)
    peer.expect_end(5)
    peer.send(HEADERS, END_HEADERS | END_STREAM, 3, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_5_1_2__1_a_stream_over_the_limit_is_refused(peer, head):
    limit = peer.peer_settings[MAX_CONCURRENT_STREAMS]
    for number in range(limit + 1):
        peer.send(HEADERS, END_HEADERS, 2 * number + 1, head)
    peer.expect_stream_error(2 * limit + 1, PROTOCOL_ERROR, REFUSED_STREAM)


# http2/5.3 to 5.5


def test_http2_5_3_1__1_headers_that_depend_on_themselves_are_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM | HAS_PRIORITY, 1, priority(1) + head)
    peer.expect_stream_error(1, PROTOCOL_ERROR)


def test_http2_5_3_1__2_priority_that_depends_on_itself_is_an_error(peer):
    peer.priority(2, depends_on=2)
    peer.expect_stream_error(2, PROTOCOL_ERROR)


def test_http2_5_4_1__1_after_a_connection_error_the_connection_closes(peer):
    peer.send(PING, 0, 0, b"\0" * 6)
    while peer.next() is not None:
        pass


def test_http2_5_4_1__2_a_connection_error_is_sent_in_goaway(peer):
    peer.send(PING, 0, 0, b"\0" * 6)
    peer.expect_connection_error(FRAME_SIZE_ERROR)


def test_http2_5_5__1_an_unknown_extension_frame_is_ignored(peer):
    peer.send(0xFF, 0xFF, 0, b"unknown")
    peer.expect_pong()


def test_http2_5_5__2_an_unknown_extension_frame_within_a_header_block_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.send(0xFF, 0xFF, 0, b"unknown")
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "b"))
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/6.1: DATA


def test_http2_6_1__1_data_on_stream_0_is_a_connection_error(peer):
    peer.send(DATA, END_STREAM, 0, b"test")
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_1__2_data_on_a_stream_that_is_not_open_is_an_error(half_closed):
    half_closed.send(DATA, END_STREAM, 1, b"test")
    half_closed.expect_stream_error(1, STREAM_CLOSED)


def test_http2_6_1__3_padding_longer_than_the_data_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, END_STREAM | PADDED, 1, b"\x06Test")
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/6.2: HEADERS


def test_http2_6_2__1_priority_after_headers_without_end_headers_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.priority(1)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_2__2_headers_of_another_stream_without_end_headers_are_a_connection_error(peer, head):
    peer.send(HEADERS, 0, 1, head)
    peer.send(HEADERS, END_HEADERS, 3, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_2__3_headers_on_stream_0_are_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM, 0, head)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_2__4_padding_longer_than_the_fragment_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, bytes([min(255, len(head) + 1)]) + head[:100])
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/6.3: PRIORITY


def test_http2_6_3__1_priority_on_stream_0_is_a_connection_error(peer):
    peer.priority(0)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_3__2_priority_of_4_octets_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(PRIORITY, 0, 1, b"\x80\0\0\x01")
    peer.expect_stream_error(1, FRAME_SIZE_ERROR)


# http2/6.4: RST_STREAM


def test_http2_6_4__1_rst_stream_on_stream_0_is_a_connection_error(peer):
    peer.reset(0)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_4__2_rst_stream_on_an_idle_stream_is_a_connection_error(peer):
    peer.reset(1)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_4__3_rst_stream_of_3_octets_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(RST_STREAM, 0, 1, bytes(3))
    peer.expect_connection_error(FRAME_SIZE_ERROR)


# http2/6.5: SETTINGS


def test_http2_6_5__1_an_acknowledgement_with_a_payload_is_a_connection_error(peer):
    peer.send(SETTINGS, ACK, 0, bytes(6))
    peer.expect_connection_error(FRAME_SIZE_ERROR)


def test_http2_6_5__2_settings_on_a_stream_are_a_connection_error(peer):
    peer.send(SETTINGS, 0, 1, h2raw.encode_settings({MAX_CONCURRENT_STREAMS: 100}))
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_5__3_settings_of_3_octets_are_a_connection_error(peer):
    peer.send(SETTINGS, 0, 0, b"\0\x03\0")
    peer.expect_connection_error(FRAME_SIZE_ERROR)


@pytest.mark.parametrize(
    "setting, value, code",
    [
        pytest.param(ENABLE_PUSH, 2, PROTOCOL_ERROR, id="1_enable_push"),
        pytest.param(INITIAL_WINDOW_SIZE, 1 << 31, FLOW_CONTROL_ERROR, id="2_initial_window_size"),
        pytest.param(MAX_FRAME_SIZE, 16383, PROTOCOL_ERROR, id="3_max_frame_size_too_low"),
        pytest.param(MAX_FRAME_SIZE, 1 << 24, PROTOCOL_ERROR, id="4_max_frame_size_too_high"),
    ],
)
def test_http2_6_5_2__a_value_out_of_range_is_a_connection_error(peer, setting, value, code):
    peer.settings((setting, value))
    peer.expect_connection_error(code)


def test_http2_6_5_2__5_an_unknown_setting_is_ignored(peer):
    peer.settings((0xFF, 1))
    peer.expect(SETTINGS, flags=ACK)
    peer.expect_pong()


def test_http2_6_5_3__1_the_last_of_several_values_counts(peer, head):
    peer.settings((INITIAL_WINDOW_SIZE, 100), (INITIAL_WINDOW_SIZE, 1))
    peer.expect(SETTINGS, flags=ACK)
    ask(peer, head)
    assert len(peer.expect(DATA, 1).payload) == 1


def test_http2_6_5_3__2_settings_are_acknowledged(peer):
    peer.settings()
    assert peer.expect(SETTINGS, flags=ACK).payload == b""


# http2/6.7 and 6.8: PING, GOAWAY


def test_http2_6_7__1_ping_is_answered_with_its_data(peer):
    peer.expect_pong(b"h2spec!!")


def test_http2_6_7__2_an_acknowledgement_is_not_answered(peer):
    peer.send(PING, ACK, 0, b"invalid!")
    peer.expect_pong(b"h2spec!!")


def test_http2_6_7__3_ping_on_a_stream_is_a_connection_error(peer):
    peer.send(PING, 0, 1, b"h2spec!!")
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_7__4_ping_of_6_octets_is_a_connection_error(peer):
    peer.send(PING, 0, 0, bytes(6))
    peer.expect_connection_error(FRAME_SIZE_ERROR)


def test_http2_6_8__1_goaway_on_a_stream_is_a_connection_error(peer):
    peer.send(GOAWAY, 0, 1, struct.pack(">II", 0, 0))
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/6.9: WINDOW_UPDATE


def test_http2_6_9__1_an_increment_of_0_is_a_connection_error(peer):
    peer.window_update(0, 0)
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_9__2_an_increment_of_0_on_a_stream_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.window_update(1, 0)
    peer.expect_stream_error(1, PROTOCOL_ERROR)


def test_http2_6_9__3_window_update_of_3_octets_is_a_connection_error(peer):
    peer.send(WINDOW_UPDATE, 0, 0, b"\0\0\x01")
    peer.expect_connection_error(FRAME_SIZE_ERROR)


def test_http2_6_9_1__1_a_window_of_1_lets_out_1_octet(connect, head):
    peer = connect({INITIAL_WINDOW_SIZE: 1})
    ask(peer, head)
    assert len(peer.expect(DATA, 1).payload) == 1


def test_http2_6_9_1__2_a_connection_window_over_the_maximum_is_a_connection_error(peer):
    peer.window_update(0, 0x7FFFFFFF)
    peer.window_update(0, 0x7FFFFFFF)
    peer.expect_connection_error(FLOW_CONTROL_ERROR)


def test_http2_6_9_1__3_a_stream_window_over_the_maximum_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.window_update(1, 0x7FFFFFFF)
    peer.window_update(1, 0x7FFFFFFF)
    peer.expect_stream_error(1, FLOW_CONTROL_ERROR)


def test_http2_6_9_2__1_a_changed_initial_window_changes_open_streams(half_closed):
    half_closed.settings((INITIAL_WINDOW_SIZE, 1))
    assert len(half_closed.expect(DATA, 1).payload) == 1


def test_http2_6_9_2__2_a_window_can_become_negative(connect, head):
    peer = connect({INITIAL_WINDOW_SIZE: 3})
    ask(peer, head)
    assert len(peer.expect(DATA, 1).payload) == 3
    # 3 octets were sent: from now on the window is 2 - 3 = -1.
    peer.settings((INITIAL_WINDOW_SIZE, 2))
    peer.expect(SETTINGS, flags=ACK)
    peer.window_update(1, 2)
    assert len(peer.expect(DATA, 1).payload) == 1


def test_http2_6_9_2__3_an_initial_window_over_the_maximum_is_a_connection_error(peer):
    peer.settings((INITIAL_WINDOW_SIZE, 1 << 31))
    peer.expect_connection_error(FLOW_CONTROL_ERROR)


# http2/6.10: CONTINUATION


def test_http2_6_10__1_several_are_taken(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.send(CONTINUATION, 0, 1, literal("x-a", "1"))
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-b", "2"))
    peer.expect(HEADERS, 1)


def test_http2_6_10__2_another_frame_between_them_is_a_connection_error(peer, head):
    peer.send(HEADERS, 0, 1, head)
    peer.send(CONTINUATION, 0, 1, literal("x-a", "1"))
    peer.send(DATA, END_STREAM, 1, b"test")
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_10__3_on_stream_0_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_STREAM, 1, head)
    peer.send(CONTINUATION, END_HEADERS, 0, literal("x-a", "1"))
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_10__4_after_end_headers_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "1"))
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_10__5_after_a_last_continuation_is_a_connection_error(peer, head):
    peer.send(HEADERS, 0, 1, head)
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "1"))
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-b", "2"))
    peer.expect_connection_error(PROTOCOL_ERROR)


def test_http2_6_10__6_after_data_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, 0, 1, MESSAGE)
    peer.send(CONTINUATION, END_HEADERS, 1, literal("x-a", "1"))
    peer.expect_connection_error(PROTOCOL_ERROR)


# http2/7: error codes


def test_http2_7__1_goaway_with_an_unknown_code_has_no_consequence(peer):
    peer.send(GOAWAY, 0, 0, struct.pack(">II", 0, 0xFF))
    peer.send(PING, 0, 0, b"h2spec!!")
    # No call is in progress: closing is as valid as the PING's acknowledgement.
    while (frame := peer.next()) is not None and frame.kind != PING:
        assert frame.kind != GOAWAY or frame.error == 0


def test_http2_7__2_rst_stream_with_an_unknown_code_has_no_consequence(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.reset(1, 0xFF)
    peer.expect_pong()


# http2/8: requests


def test_http2_8_1__1_a_second_header_section_without_end_stream_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(HEADERS, END_HEADERS, 1, literal("x-a", "1"))
    peer.expect_stream_error(1, PROTOCOL_ERROR)


@pytest.mark.parametrize(
    "first, more",
    [
        pytest.param({}, [("X-TEST", "ok")], id="8_1_2__1_upper_case"),
        pytest.param({":test": "ok"}, [], id="8_1_2_1__1_unknown_pseudo_header"),
        pytest.param({":status": "200"}, [], id="8_1_2_1__2_a_responses_pseudo_header"),
        pytest.param({}, [("x-test", "ok"), (":path", "/")], id="8_1_2_1__4_pseudo_header_after_a_regular_one"),
        pytest.param({}, [("connection", "keep-alive")], id="8_1_2_2__1_connection"),
        pytest.param({}, [("te", "trailers, deflate")], id="8_1_2_2__2_te"),
        pytest.param({":path": ""}, [], id="8_1_2_3__1_empty_path"),
        pytest.param({":method": None}, [], id="8_1_2_3__2_without_method"),
        pytest.param({":scheme": None}, [], id="8_1_2_3__3_without_scheme"),
        pytest.param({":path": None}, [], id="8_1_2_3__4_without_path"),
        pytest.param({}, [(":method", "POST")], id="8_1_2_3__5_two_methods"),
        pytest.param({}, [(":scheme", "http")], id="8_1_2_3__6_two_schemes"),
        pytest.param({}, [(":path", "/")], id="8_1_2_3__7_two_paths"),
    ],
)
def test_http2_8_1_2__a_malformed_header_section_is_an_error(peer, first, more):
    fields = {":method": "POST", ":scheme": "http", ":path": "/", ":authority": peer.authority} | first
    present = [(name, value) for name, value in fields.items() if value is not None]
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, block(*present, *more))
    peer.expect_stream_error(1, PROTOCOL_ERROR)


def test_http2_8_1_2_1__3_a_pseudo_header_in_trailers_is_an_error(peer, head):
    peer.send(HEADERS, END_HEADERS, 1, head)
    peer.send(DATA, 0, 1, MESSAGE)
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, literal(":method", "POST"))
    peer.expect_stream_error(1, PROTOCOL_ERROR)


@pytest.mark.parametrize("frames", [pytest.param(1, id="1_one_frame"), pytest.param(2, id="2_two_frames")])
def test_http2_8_1_2_6__another_content_length_than_the_datas_is_an_error(peer, head, frames):
    peer.send(HEADERS, END_HEADERS, 1, head + literal("content-length", "1"))
    for number in range(frames):
        peer.send(DATA, END_STREAM if number + 1 == frames else 0, 1, b"test")
    peer.expect_stream_error(1, PROTOCOL_ERROR)


def test_http2_8_2__1_a_clients_push_promise_is_a_connection_error(peer, head):
    peer.send(PUSH_PROMISE, END_HEADERS, 1, struct.pack(">I", 3) + head)
    peer.expect_connection_error(PROTOCOL_ERROR)


# hpack


@pytest.mark.parametrize(
    "field",
    [
        pytest.param(integer(70, 7, 0x80), id="2_3_3__1_an_index_beyond_the_tables"),
        pytest.param(integer(70, 6, 0x40) + XYZ, id="2_3_3__2_a_names_index_beyond_the_tables"),
        pytest.param(integer(4096, 5, 0x20), id="4_2__1_a_table_size_update_at_the_end"),
        pytest.param(b"\0" + XYZ + b"\x84\xf3\xeb\xdf\xff", id="5_2__1_padding_longer_than_7_bits"),
        pytest.param(b"\0" + XYZ + b"\x81\x18", id="5_2__2_padding_of_zeros"),
        pytest.param(b"\0" + XYZ + b"\x84\xff\xff\xff\xff", id="5_2__3_the_end_of_string_symbol"),
        pytest.param(b"\x80", id="6_1__1_index_0"),
    ],
)
def test_hpack_an_error_of_decoding_is_a_connection_error(peer, head, field):
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, head + field)
    peer.expect_connection_error(COMPRESSION_ERROR)


def test_hpack_6_3__1_a_table_size_above_the_setting_is_a_connection_error(peer, head):
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, integer(4097, 5, 0x20) + head)
    peer.expect_connection_error(COMPRESSION_ERROR)


# Beyond h2spec: sequences that are not errors.


def test_trailers_that_cross_our_reset_are_no_error(peer, head):
    """The response is complete before the request is, so the server resets the stream (RFC 9113, section 8.1)."""
    peer.send(HEADERS, END_HEADERS, 1, h2raw.call(peer.authority, "Nothing"))
    peer.expect(HEADERS, 1, END_STREAM)
    while peer.next().kind != RST_STREAM:
        pass
    peer.send(DATA, 0, 1, b"late")
    peer.send(HEADERS, END_HEADERS | END_STREAM, 1, literal("x-trailer", "late"))
    ask(peer, head, 3)
    expect_response(peer, 3)


def test_streams_that_come_before_our_settings_and_are_too_many_are_refused_alone(connect, head):
    """A client that has not received the limit yet may open more streams, and send DATA on them."""
    peer = connect(greet=False)
    peer.raw(h2raw.PREFACE + h2raw.frame(SETTINGS, 0, 0, b""))
    opened = b"".join(h2raw.frame(HEADERS, END_HEADERS, 2 * number + 1, head) for number in range(300))
    peer.raw(opened + b"".join(h2raw.frame(DATA, END_STREAM, 2 * number + 1, MESSAGE) for number in range(300)))
    ended, refused = 0, 0
    while ended + refused < 300:
        frame = peer.next()
        ended += frame.kind == HEADERS and bool(frame.flags & END_STREAM)
        if frame.kind == RST_STREAM:
            assert frame.error == REFUSED_STREAM
            refused += 1
    assert (ended, refused) == (256, 44)
