"""gRPC's "Interoperability Test Case Descriptions" with grpcio: each case that a server can meet.

The names and the sizes are those of the descriptions.
"""

import os
import queue

import grpc
import pytest
from support import h2raw

#: The sizes in the cases with large messages.
REQUEST, RESPONSE = 271828, 314159
REQUESTS, RESPONSES = (27182, 8, 1828, 45904), (31415, 9, 2653, 58979)
TIMEOUT = 60


@pytest.fixture(scope="module")
def channel(interop):
    with interop.channel() as channel:
        yield channel


@pytest.fixture(scope="module")
def stub(channel, testing):
    return testing.TestServiceStub(channel)


@pytest.fixture(scope="module")
def zeros(testing):
    """Makes a payload of that many bytes."""
    return lambda size: testing.Payload(body=bytes(size))


@pytest.fixture(scope="module")
def noise(testing):
    """Makes an incompressible payload of that many bytes, which grpcio sends uncompressed."""
    return lambda size: testing.Payload(body=os.urandom(size))


@pytest.fixture(scope="module")
def large(testing, zeros):
    return lambda **more: testing.SimpleRequest(response_size=RESPONSE, payload=zeros(REQUEST), **more)


def refused(call, *arguments, **options) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as raised:
        call(*arguments, timeout=TIMEOUT, **options)
    return raised.value


def outputs(testing, payloads, **more):
    """Makes the requests of ping_pong: one for each response, with its payload."""
    return [
        testing.StreamingOutputCallRequest(response_parameters=[{"size": size}], payload=payload, **more)
        for size, payload in zip(RESPONSES, payloads, strict=False)
    ]


def sizes(responses) -> list[int]:
    return [len(response.payload.body) for response in responses]


def test_empty_unary_call_is_answered(stub, testing):
    assert stub.EmptyCall(testing.Empty(), timeout=TIMEOUT) == testing.Empty()


def test_large_unary_call_is_answered(stub, large, zeros):
    assert stub.UnaryCall(large(), timeout=TIMEOUT).payload == zeros(RESPONSE)


def test_client_compressed_unary(stub, large, zeros):
    # The probe: a server that cannot detect the difference would accept it.
    probe = large(expect_compressed={"value": True})
    assert refused(stub.UnaryCall, probe).code() is grpc.StatusCode.INVALID_ARGUMENT
    compressed = stub.UnaryCall(probe, timeout=TIMEOUT, compression=grpc.Compression.Gzip)
    plain = stub.UnaryCall(large(expect_compressed={"value": False}), timeout=TIMEOUT)
    assert compressed.payload == plain.payload == zeros(RESPONSE)


@pytest.mark.parametrize("algorithm", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed_call_is_answered_compressed(stub, large, zeros, algorithm):
    request = large(expect_compressed={"value": True}, response_compressed={"value": True})
    assert stub.UnaryCall(request, timeout=TIMEOUT, compression=algorithm).payload == zeros(RESPONSE)


def test_a_compressed_message_where_none_is_expected_is_refused(stub, large):
    error = refused(stub.UnaryCall, large(expect_compressed={"value": False}), compression=grpc.Compression.Gzip)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("compressed", [True, False])
def test_server_compressed_unary(stub, large, zeros, compressed):
    request = large(response_compressed={"value": compressed})
    assert stub.UnaryCall(request, timeout=TIMEOUT).payload == zeros(RESPONSE)


def test_client_stream_arrives_whole(stub, testing, zeros):
    requests = [testing.StreamingInputCallRequest(payload=zeros(size)) for size in REQUESTS]
    assert stub.StreamingInputCall(iter(requests), timeout=TIMEOUT).aggregated_payload_size == 74922


def test_client_compressed_streaming(stub, testing, zeros, noise):
    expecting = testing.StreamingInputCallRequest(payload=zeros(27182), expect_compressed={"value": True})
    assert refused(stub.StreamingInputCall, iter([expecting])).code() is grpc.StatusCode.INVALID_ARGUMENT
    plain = testing.StreamingInputCallRequest(payload=noise(45904), expect_compressed={"value": False})
    response = stub.StreamingInputCall(
        iter([expecting, plain, expecting]), timeout=TIMEOUT, compression=grpc.Compression.Gzip
    )
    assert response.aggregated_payload_size == 27182 + 45904 + 27182


def test_server_stream_has_every_message(stub, testing):
    request = testing.StreamingOutputCallRequest(response_parameters=[{"size": size} for size in RESPONSES])
    assert sizes(stub.StreamingOutputCall(request, timeout=TIMEOUT)) == list(RESPONSES)


@pytest.mark.parametrize("order", [(True, False), (False, True), (False, True, False, True)])
def test_server_compressed_streaming(stub, testing, order):
    parameters = [{"size": size, "compressed": {"value": value}} for size, value in zip(RESPONSES, order, strict=False)]
    request = testing.StreamingOutputCallRequest(response_parameters=parameters)
    assert sizes(stub.StreamingOutputCall(request, timeout=TIMEOUT)) == list(RESPONSES[: len(order)])


def test_compressed_messages_are_flagged_on_the_wire(interop, testing):
    """grpcio does not expose whether a message was compressed, so this test reads its flag."""
    order = [False, True, False, True]
    parameters = [{"size": 1000, "compressed": {"value": value}} for value in order]
    request = testing.StreamingOutputCallRequest(response_parameters=parameters).SerializeToString()
    with interop.peer() as peer:
        fields = h2raw.call(peer.authority, "StreamingOutputCall", ("grpc-accept-encoding", "identity,gzip"))
        peer.send(h2raw.HEADERS, h2raw.END_HEADERS, 1, fields)
        peer.send(h2raw.DATA, h2raw.END_STREAM, 1, b"\0" + len(request).to_bytes(4, "big") + request)
        body = b""
        while True:
            frame = peer.next()
            if frame.stream == 1 and frame.kind == h2raw.DATA:
                body += frame.payload
            if frame.stream == 1 and frame.flags & h2raw.END_STREAM:
                break
    flags = []
    while body:
        length = int.from_bytes(body[1:5], "big")
        assert (length < 1000) == bool(body[0])
        flags.append(bool(body[0]))
        body = body[5 + length :]
    assert flags == order


def test_ping_pong_answers_each_message_before_the_next(stub, testing, zeros):
    requests = outputs(testing, map(zeros, REQUESTS))
    waiting = queue.SimpleQueue()
    responses = stub.FullDuplexCall(iter(waiting.get, None), timeout=TIMEOUT)
    for request, size in zip(requests, RESPONSES, strict=False):
        waiting.put(request)
        assert sizes([next(responses)]) == [size]
    waiting.put(None)
    assert not list(responses)


def test_half_duplex_answers_after_the_last_message(stub, testing, zeros):
    requests = outputs(testing, map(zeros, REQUESTS))
    assert sizes(stub.HalfDuplexCall(iter(requests), timeout=TIMEOUT)) == list(RESPONSES)


def test_empty_stream_ends_without_messages(stub):
    assert not list(stub.FullDuplexCall(iter([]), timeout=TIMEOUT))


METADATA = (
    ("x-grpc-test-echo-initial", "test_initial_metadata_value"),
    ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab"),
)


def assert_echoed(call) -> None:
    assert METADATA[0] in [tuple(pair) for pair in call.initial_metadata()]
    assert METADATA[1] in [tuple(pair) for pair in call.trailing_metadata()]


def test_custom_metadata_is_echoed(stub, testing, large, zeros):
    response, call = stub.UnaryCall.with_call(large(), metadata=METADATA, timeout=TIMEOUT)
    assert response.payload == zeros(RESPONSE)
    assert_echoed(call)
    requests = outputs(testing, [zeros(REQUEST)])
    call = stub.FullDuplexCall(iter(requests), metadata=METADATA, timeout=TIMEOUT)
    assert sizes(call) == [RESPONSES[0]]
    assert_echoed(call)


def test_custom_metadata_comes_with_an_error_too(stub, testing):
    request = testing.SimpleRequest(response_status={"code": 2, "message": "no"})
    error = refused(stub.UnaryCall, request, metadata=METADATA)
    assert error.code() is grpc.StatusCode.UNKNOWN
    assert_echoed(error)


MESSAGES = {
    "status_code_and_message": "test status message",
    "special_status_message": "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n",
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_status_has_its_code_and_message(stub, testing, message):
    status = {"code": 2, "message": message}
    unary = refused(stub.UnaryCall, testing.SimpleRequest(response_status=status))
    request = testing.StreamingOutputCallRequest(response_status=status)
    stream = refused(lambda **options: list(stub.FullDuplexCall(iter([request]), **options)))
    for error in (unary, stream):
        assert (error.code(), error.details()) == (grpc.StatusCode.UNKNOWN, message)


def test_unknown_method_is_unimplemented(stub, testing):
    assert refused(stub.UnimplementedCall, testing.Empty()).code() is grpc.StatusCode.UNIMPLEMENTED


def test_unknown_service_is_unimplemented(channel, testing):
    stub = testing.UnimplementedServiceStub(channel)
    assert refused(stub.UnimplementedCall, testing.Empty()).code() is grpc.StatusCode.UNIMPLEMENTED


def test_cancel_after_begin(stub):
    waiting = queue.SimpleQueue()
    call = stub.StreamingInputCall.future(iter(waiting.get, None), timeout=TIMEOUT)
    call.cancel()
    assert call.cancelled() and call.code() is grpc.StatusCode.CANCELLED
    waiting.put(None)


def test_cancel_after_first_response(stub, testing, zeros):
    waiting = queue.SimpleQueue()
    waiting.put(outputs(testing, [zeros(REQUESTS[0])])[0])
    call = stub.FullDuplexCall(iter(waiting.get, None), timeout=TIMEOUT)
    assert sizes([next(call)]) == [RESPONSES[0]]
    call.cancel()
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() is grpc.StatusCode.CANCELLED
    waiting.put(None)


def test_timeout_on_sleeping_server(stub, testing, zeros):
    request = testing.StreamingOutputCallRequest(
        payload=zeros(27182), response_parameters=[{"size": 31415, "interval_us": 1_800_000_000}]
    )
    with pytest.raises(grpc.RpcError) as raised:
        list(stub.FullDuplexCall(iter([request]), timeout=0.001))
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_server_itself_ends_a_call_whose_time_is_over(interop, testing):
    """grpcio's own clock ends the calls above; here only the server's clock can end it."""
    request = testing.StreamingOutputCallRequest(response_parameters=[{"size": 1, "interval_us": 1_800_000_000}])
    message = request.SerializeToString()
    with interop.peer() as peer:
        fields = h2raw.call(peer.authority, "StreamingOutputCall", ("grpc-timeout", "50m"))
        peer.send(h2raw.HEADERS, h2raw.END_HEADERS, 1, fields)
        peer.send(h2raw.DATA, h2raw.END_STREAM, 1, b"\0" + len(message).to_bytes(4, "big") + message)
        # A response that consists of its header section, including the status as a string of one character.
        assert b"\x014" in peer.expect(h2raw.HEADERS, 1, h2raw.END_STREAM).payload


def test_header_section_continues_after_another_call_has_ended(interop, testing):
    request = testing.StreamingOutputCallRequest(response_parameters=[{"size": 1, "interval_us": 1_800_000_000}])
    message = request.SerializeToString()
    with interop.peer() as peer:
        fields = h2raw.call(peer.authority, "StreamingOutputCall", ("grpc-timeout", "50m"))
        peer.send(h2raw.HEADERS, h2raw.END_HEADERS, 1, fields)
        peer.send(h2raw.DATA, h2raw.END_STREAM, 1, b"\0" + len(message).to_bytes(4, "big") + message)
        fields = h2raw.call(peer.authority, "EmptyCall")
        peer.send(h2raw.HEADERS, 0, 3, fields[:20])
        peer.expect(h2raw.HEADERS, 1, h2raw.END_STREAM)
        peer.send(h2raw.CONTINUATION, h2raw.END_HEADERS, 3, fields[20:])
        peer.send(h2raw.DATA, h2raw.END_STREAM, 3, bytes(5))
        assert peer.expect(h2raw.DATA, 3).payload == bytes(5)


def test_1000_parallel_large_unary(interop, testing, large, zeros):
    """More calls than a connection may have streams, on a few connections: each one gets a complete response."""
    channels = [interop.channel() for _ in range(4)]
    stubs = [testing.TestServiceStub(channel) for channel in channels]
    request, payload = large(), zeros(RESPONSE)
    calls = [stubs[number % 4].UnaryCall.future(request, timeout=5 * TIMEOUT) for number in range(1000)]
    assert all(call.result().payload == payload for call in calls)
    for channel in channels:
        channel.close()


def test_header_section_of_60_kb_is_refused_and_the_connection_stays_open(interop):
    filler = [(f"x-filler-{number}", "a" * 1000) for number in range(60)]
    with interop.peer() as peer:
        fragments = h2raw.call(peer.authority, "EmptyCall", *filler)
        # In frames of at most 16 KiB, one after the other.
        pieces = [fragments[at : at + 16384] for at in range(0, len(fragments), 16384)]
        # One call before it, which is in progress when it arrives, and one after it.
        peer.send(h2raw.HEADERS, h2raw.END_HEADERS, 1, h2raw.call(peer.authority, "EmptyCall"))
        for index, piece in enumerate(pieces):
            last = h2raw.END_HEADERS if index + 1 == len(pieces) else 0
            peer.send(h2raw.CONTINUATION if index else h2raw.HEADERS, last, 3, piece)
        head = peer.expect(h2raw.HEADERS, 3, h2raw.END_STREAM)
        assert b"\x03431" in head.payload
        for stream in (1, 5):
            if stream == 5:
                peer.send(h2raw.HEADERS, h2raw.END_HEADERS, 5, h2raw.call(peer.authority, "EmptyCall"))
            peer.send(h2raw.DATA, h2raw.END_STREAM, stream, bytes(5))
            peer.expect_end(stream)


def test_grpcio_receives_431_for_60_kb_of_metadata(interop, testing):
    with interop.channel() as channel:
        stub = testing.TestServiceStub(channel)
        metadata = [(f"x-filler-{number}", "a" * 1000) for number in range(60)]
        assert "431" in refused(stub.EmptyCall, testing.Empty(), metadata=metadata).details()
        assert stub.EmptyCall(testing.Empty(), timeout=TIMEOUT) == testing.Empty()
