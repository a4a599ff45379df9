import Basics
import CommonProto
import GRPCWire
import HTTPTypes
import Protobuf

/// One call at the server, for all protocols and transports, from its request's header section to its status. A subclass for each
/// kind of method handles the messages and runs the handler.
///
/// Sendable although it is mutable: its state is used on its loop only, where its handler runs too. What others call checks that.
package class ServerCall: @unchecked Sendable {  // state belongs to its loop
    final let context: CallContext
    final let origin: CallOrigin
    /// The usage of the listener by the caller's address: the connection's, unless a proxy passed the call on.
    final private(set) var address: AddressShare
    final let method: (rules: MethodRules, metrics: MethodMetrics)
    /// The transport; `nil` after the call has ended.
    final private(set) var stream: (any CallStream)?
    final let coding: RequestCoding
    final var request: RequestDecoder
    final var intake = RequestInput()
    final var response: CallResponse
    final var stage = CallStage()
    final var timer: LoopTimer?
    final var usage = CallUsage()

    init(_ setup: consuming CallSetup, rules: MethodRules, metrics: MethodMetrics) {
        context = setup.context
        origin = setup.origin
        address = setup.origin.address
        method = (rules, metrics)
        stream = setup.stream
        coding = RequestCoding(
            codec: setup.adapter.codec, encoding: setup.encoding, messageLimit: setup.messageLimit)
        request = setup.adapter.request
        response = CallResponse(encoder: setup.adapter.response)
    }

    final var server: RPCServer { origin.server }

    /// Whether neither the status was sent nor the stream closed.
    final var isOpen: Bool { stage.isOpen }

    /// The lane in whose turns the call proceeds; `nil` until it is first queued.
    final var lane: Lane? { stage.lane }

    /// Whether the request is a stream of messages.
    package final var receivesStream: Bool { context.method.kind == .clientStreaming }

    /// Whether the client must pause its request, because the handler is slower.
    final var holdsRequest: Bool {
        get { intake.isHeld }
        set {
            guard newValue != intake.isHeld else { return }
            intake.isHeld = newValue
            stream?.holdRequest(newValue)
        }
    }

    final func assertCurrent() { origin.loop.assertCurrent() }

    // MARK: For the kinds of methods

    /// Called when the call was admitted, in its turn.
    func admitted() {}

    /// Called with one decompressed message; it is valid during the call only.
    func received(_ message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {}

    /// The size of messages that wait or are being handled, in bytes.
    var heldMessageBytes: Int { 0 }

    /// Whether the handler is slower than the client.
    var isBehind: Bool { false }

    /// Called when the client has sent its last message.
    func receivedAll() {}

    /// Runs the handler, after `becomeReady`.
    nonisolated(nonsending) func handle() async throws {}

    /// Called when the sent messages have left for the client.
    package func drained() {}

    /// Called when the call ends before its handler.
    func cancel() {}

    /// Called when the call has ended: messages that no handler will take can be discarded.
    func dropMessages() {}

    /// Whether the call can only continue when its client sends or receives something.
    var waitsForClient: Bool { !stage.isReady || unsentBytes > 0 }

    // MARK: Beginning and end

    /// Lets the call wait for its turn, or ends it at once.
    ///
    /// - Parameter fault: the error of its header section.
    final func begin(_ fault: RPCError?) {
        assertCurrent()
        method.metrics.started()
        if let fault { return fail(fault) }
        // By index: copying each would cost more than most of them do.
        for index in server.interceptors.indices { server.interceptors[index].received(context) }
        if context.peer.host != origin.peer.host { address = server.addresses.share(of: context.peer.host) }
        guard origin.mayQueue(self) else {
            server.metrics.limitReached(CallPlace.handlersOfAddress.limit)
            return fail(RPCError.overloaded(CallPlace.handlersOfAddress.message))
        }
        if let deadline = context.deadline {
            // A timer would leave it to chance whether such a call is handled.
            guard deadline > origin.loop.now else { return fail(Self.deadlineExceeded) }
            timer = origin.loop.schedule(at: deadline) { [self] in fail(Self.deadlineExceeded) }
        }
        queue(in: origin.lane(toAdmit: self))
    }

    private static var deadlineExceeded: RPCError {
        RPCError(bare: .deadlineExceeded, "the call exceeded the client's time limit")
    }

    /// Called when the stream is closed, in order or not; nothing more arrives.
    package final func broken() {
        assertCurrent()
        end(.cancelled, nil)
    }

    final func succeed() {
        guard isOpen else { return }
        put(response.success(context))
        end(.ok, nil)
    }

    final func fail(_ error: any Error) {
        guard isOpen else { return }
        let refusal = RPCError(error, of: context.method, policy: server.errors)
        put(response.failure(refusal, context))
        end(refusal.status, refusal)
    }

    /// Ends the server's part of the call, once.
    private final func end(_ status: StatusCode, _ error: RPCError?) {
        guard isOpen else { return }
        let task = stage.end()
        timer?.cancel()
        timer = nil
        if status != .ok {
            cancel()
            task?.cancel()
        }
        if usage.countedBytes > 0 {
            _ = server.metrics.requestBytesChanged(by: -usage.countedBytes, limit: 0)
            _ = address.requestBytes.add(-usage.countedBytes)
        }
        usage.traffic.duration = origin.loop.now &- context.startedAt
        context.traffic = usage.traffic
        method.metrics.ended(status, usage.traffic)
        for index in server.interceptors.indices {
            server.interceptors[index].finished(context, status: status, error: error)
        }
        // The rest of the client's request is discarded.
        holdsRequest = false
        stream = nil
        dropRequest()
    }
}

/// The parts of a call when its request's header section is complete. Moved rather than copied, because it is made for every call.
struct CallSetup: ~Copyable {
    let context: CallContext
    let origin: CallOrigin
    let stream: any CallStream
    let adapter: CallProtocolAdapter
    /// The compression of the client's compressed messages; `nil` = it sends none.
    let encoding: MessageEncoding?
    /// The largest message, in bytes, also after decompression.
    let messageLimit: Int
}

/// The transport of one call: a stream of HTTP/2 or an exchange of HTTP/1.1. A ``ServerCall`` uses only this interface, and does
/// not depend on the transport. Confined to the call's loop.
package protocol CallStream: AnyObject {
    /// Sends the next part of the response.
    func send(_ part: ResponsePart)

    /// Sends a header section, and after it the bytes of a source, if nothing waits to be sent. At the end it calls the call's
    /// `sourceEnded`.
    ///
    /// - Returns: `false` if the transport cannot wait for a source; nothing is sent then.
    func send(_ head: ResponsePart, before source: any BodySource) -> Bool

    /// The bytes of the response that were passed to `send` and are not sent yet.
    var unsentBytes: Int { get }

    /// Pauses or resumes the client's request, as far as the transport can.
    func holdRequest(_ isHeld: Bool)
}

extension CallStream {
    package func send(_ head: ResponsePart, before source: any BodySource) -> Bool { false }
}
