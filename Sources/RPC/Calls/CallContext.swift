package import Basics
package import Crypto
package import GRPCWire
package import HTTPTypes
package import Protobuf

/// The properties of a call that its handler can read and set, apart from the messages.
///
/// Sendable although some properties can be set: interceptors do so before the handler is started, the call and its handler while
/// it runs, all on the call's loop.
package final class CallContext: @unchecked Sendable {  // state belongs to the call's loop
    package let method: MethodDescriptor
    /// The client's header fields, without those of gRPC itself. ``MethodRules/keepsUserAgent`` decides about `user-agent`.
    package let metadata: Metadata
    /// The origin of the call: the socket's address, or the one that ``TrustedProxies`` found.
    package internal(set) var peer: PeerAddress
    /// The subject of the client's certificate in the TLS handshake; `nil` = it had none.
    package let clientCertificate: String?
    /// The time at which the header section was complete, in nanoseconds of the monotonic clock.
    package let startedAt: UInt64
    /// The client's deadline, in nanoseconds of the monotonic clock; `nil` = none.
    package let deadline: UInt64?
    /// The call's position in the client's trace; `nil` if the client sent none.
    package let trace: TraceContext?
    /// The id of the call in the log and for its client: the client's `x-request-id` if that is well-formed.
    package let requestID: RequestID
    /// The name that a trusted proxy gave the call, the same for each attempt (`x-call-id`); `nil` = none.
    package internal(set) var balancedCallID: String?
    /// The idempotency key of a call whose request has none, which makes each attempt of a balancer the same call; `nil` = none.
    package var balancedKey: String? { balancedCallID.map { "call \($0)" } }
    /// Whether the response contains the request's id, in `x-request-id`.
    package var announcesRequestID = false
    /// Whether the handler may wait for later events; if not, it responds with what is available.
    package internal(set) var mayWait = true
    /// The amount of data received and sent; complete when the call has ended.
    package internal(set) var traffic = CallTraffic()
    /// The caller's identity, determined by an interceptor and read through an extension in the module that knows its type.
    package var identity: (any CallerIdentity)?
    /// The account for which the handler works; `nil` = unknown.
    package var workOwner: WorkOwner?
    /// Additional header fields of the response. They are sent with its first message: fields added later are not sent.
    package var responseMetadata = Metadata()
    /// Additional fields after the last message, with the status, also if the call fails.
    package var trailingMetadata = Metadata()
    /// The number of bytes of a response over REST that is a stream of `google.api.HttpBody`, announced in its header section; `nil` =
    /// unknown. A client can show the progress, and notices a response that ends before it.
    package var responseLength: Int64?
    /// Sends a source's bytes, see ``send(_:as:)``; `nil` for methods whose response is one message.
    var bodySender: (@Sendable (any BodySource, _ contentType: String) async throws -> Bool)?
    /// The HTTP status of a response over REST that is not an error; 200 = the one that the method declares.
    package var httpStatus = 200
    /// Whether messages sent from now on are compressed, if the client accepts that.
    package var compressesResponses = false
    /// Whether `compressesResponses` may become true after the first message was sent: the response's header section, which is sent
    /// with it, must announce that (gRPC over HTTP/2, "Message-Encoding").
    package var mayCompressLater = false
    /// Whether the message that the handler received last was compressed.
    package internal(set) var requestWasCompressed = false
    /// The server's log, whose lines do not name the call.
    private let serverLog: Logger

    /// The context of a call that arrived on a connection.
    init(_ method: MethodDescriptor, _ head: RequestHead, from origin: CallOrigin, log: Logger) {
        origin.loop.assertCurrent()
        self.method = method
        metadata = head.metadata
        peer = origin.peer
        clientCertificate = origin.clientCertificate
        let now = origin.loop.now
        startedAt = now
        deadline = head.timeout.map { now &+ UInt64($0) }
        requestID = head.requestID ?? .make()
        trace = head.trace
        mayWait = origin.mayWait
        serverLog = log
    }

    /// The context of a call without a connection, a deadline or a log.
    package init(
        method: MethodDescriptor, metadata: Metadata = Metadata(), peer: PeerAddress = .unknown,
        clientCertificate: String? = nil, requestID: RequestID? = nil, identity: (any CallerIdentity)? = nil
    ) {
        self.method = method
        self.metadata = metadata
        self.peer = peer
        self.clientCertificate = clientCertificate
        startedAt = 0
        deadline = nil
        self.requestID = requestID ?? .make()
        trace = nil
        self.identity = identity
        serverLog = .discarding
    }
}

extension CallContext {
    /// The log of the call: each line names the request, the method and the caller.
    package var log: Logger {
        serverLog.scoped { [self] line in
            describeRequest(in: &line)
            identity?.describe(in: &line)
        }
    }

    /// Adds the fields that identify the call.
    package func describeRequest(in line: inout LogLine) {
        line.add("request_id") { requestID.write(to: &$0) }
        line.add("method", method.path)
    }
}

extension CallContext {
    /// The request's id if the response contains it.
    var announcedID: RequestID? { announcesRequestID ? requestID : nil }

    /// All additional fields of the response's header section.
    var leadingMetadata: Metadata {
        guard let announcedID else { return responseMetadata }
        return Metadata([(RequestID.field.description, announcedID.description)] + responseMetadata.pairs)
    }
}

/// The caller that an interceptor identified.
package protocol CallerIdentity: Sendable {
    /// Adds the fields that name the caller.
    func describe(in line: inout LogLine)
}

extension PeerAddress {
    /// Writes the address into a log line: as ``description``, or only the host if the port is unknown (0), for example behind a
    /// proxy and for calls over HTTP/1.1.
    package func write(to line: inout LogLine) {
        guard port != 0 else { return line.append(host) }
        if isBracketed { line.append("[") }
        line.append(host)
        line.append(isBracketed ? "]:" : ":")
        line.append(Int64(port))
    }
}

/// The amount of data of a call, and its duration.
package struct CallTraffic: Sendable, Hashable {
    /// The numbers of messages in both directions.
    package var messagesReceived = 0
    package var messagesSent = 0
    /// The sizes of the bodies as transmitted, in bytes.
    package var bytesReceived = 0
    package var bytesSent = 0
    /// The time from the end of the header section to the status, in nanoseconds.
    package var duration: UInt64 = 0
}

/// The bytes of a response that are made while they are sent, in the buffers from which the transport sends them, or in files.
package protocol BodySource: AnyObject, Sendable {
    /// Whether bytes of the response are in files, from which the kernel can send them. Asked before the first byte is read.
    var hasFiles: Bool { get }
    /// Provides the next bytes, on one thread at a time, which may wait for the disk.
    ///
    /// - Parameter passesFiles: whether bytes that are in a file are returned as its range.
    /// - Returns: the bytes, at most as many as `buffer` holds; their number is 0 at the end.
    /// - Throws: the error of the call, whose response is then incomplete.
    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) throws -> HTTPBodyPiece
    /// The error of the call if the bytes of the latest piece, a range of a file, cannot be read.
    var fileFailure: any Error { get }
}

extension CallContext {
    /// Sends all bytes of a source as a response that is a stream of `google.api.HttpBody`, and returns after the last.
    ///
    /// - Returns: `false` if the protocol needs messages, or the transport has no thread for this; nothing is sent then.
    /// - Throws: if the call was cancelled, its deadline passed, or its connection was lost.
    package func send(_ source: any BodySource, as contentType: String) async throws -> Bool {
        guard let bodySender else { return false }
        return try await bodySender(source, contentType)
    }
}

/// Fields whose name ends in `-bin` contain bytes in base64 (gRPC over HTTP/2, "Custom-Metadata").
extension Metadata {
    /// Returns the bytes of every value of `name`, in order, also of values that a proxy joined with commas.
    ///
    /// - Returns: `nil` if one of them is not base64.
    package func binaryValues(_ name: String) -> [[UInt8]]? {
        var decoded: [[UInt8]] = []
        for text in values(name).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let bytes = Base64.decode(text.trimmingPrefix(" ")) else { return nil }
            decoded.append(bytes)
        }
        return decoded
    }

    /// - Parameter name: in lower case, including `-bin`.
    package mutating func append(name: String, binary bytes: [UInt8]) {
        // Sent without padding, as the specification requires.
        append(name: name, value: String(decoding: Base64.encodeUnpadded(bytes), as: UTF8.self))
    }
}
