import Basics
import Crypto
import HTTPTypes
import Wire

/// What a handler knows about its call beside the message.
///
/// Sendable although some properties can be set: interceptors do so before the handler is started, the call and its
/// handler while that runs, all on the call's loop.
package final class CallContext: @unchecked Sendable {  // state belongs to the call's loop
    package let method: MethodDescriptor
    /// The client's header fields, without those that gRPC itself uses and `user-agent`.
    package let metadata: Metadata
    /// Where the call came from: the socket's address, or what ``TrustedProxies`` made of it.
    package internal(set) var peer: PeerAddress
    /// The subject of the certificate by which the client proved itself to the listener; `nil` = it showed none.
    package let clientCertificate: String?
    /// When its header section had come, in nanoseconds of the monotonic clock.
    package let startedAt: UInt64
    /// When the client gives up, in nanoseconds of the monotonic clock; `nil` = never.
    package let deadline: UInt64?
    /// Which step of the client's trace the call is; `nil` where it told none.
    package let trace: TraceContext?
    /// Names the call in the log and to its client: the client's own `x-request-id`, where that is well-formed.
    package let requestID: RequestID
    /// Whether the response tells its client the request's id, in `x-request-id`.
    package var announcesRequestID = false
    /// Whether the handler may wait for what happens later; where it may not, it answers with what is there.
    package internal(set) var mayWait = true
    /// What it has moved; whole when the call has ended.
    package internal(set) var traffic = CallTraffic()
    /// The caller's identity, found out by an interceptor and read through an extension of the module that knows the
    /// type.
    package var identity: (any CallerIdentity)?
    /// On whose behalf the handler works; `nil` = nobody's that is known.
    package var workOwner: WorkOwner?
    /// Header fields of the response besides the protocol's own. They leave with its first message: what is added after
    /// that is not sent.
    package var responseMetadata = Metadata()
    /// Fields that follow the last message, beside the status, also where the call fails.
    package var trailingMetadata = Metadata()
    /// Whether messages that are sent from now on are compressed, where the client takes that.
    package var compressesResponses = false
    /// Whether `compressesResponses` may become true after the first message has left: the response's header section,
    /// which leaves with it, has to say so (gRPC over HTTP/2, "Message-Encoding").
    package var mayCompressLater = false
    /// Whether the message that the handler took last came compressed.
    package internal(set) var requestWasCompressed = false
    /// The server's, whose lines say nothing of the call.
    private let serverLog: Logger

    package init(
        method: MethodDescriptor, metadata: Metadata = Metadata(), peer: PeerAddress = .unknown,
        clientCertificate: String? = nil, startedAt: UInt64 = 0, deadline: UInt64? = nil, requestID: RequestID? = nil,
        trace: TraceContext? = nil, identity: (any CallerIdentity)? = nil, log: Logger = .discarding
    ) {
        self.method = method
        self.metadata = metadata
        self.peer = peer
        self.clientCertificate = clientCertificate
        self.startedAt = startedAt
        self.deadline = deadline
        self.requestID = requestID ?? .make()
        self.trace = trace
        self.identity = identity
        serverLog = log
    }
}

extension CallContext {
    /// The log for what happens in the call: each line names the request, the method and the caller.
    package var log: Logger {
        serverLog.scoped { [self] line in
            describeRequest(in: &line)
            identity?.describe(in: &line)
        }
    }

    /// Adds the fields that name the call.
    package func describeRequest(in line: inout LogLine) {
        line.add("request_id") { requestID.write(to: &$0) }
        line.add("method", method.path)
    }
}

extension CallContext {
    /// The request's id, where the response tells it.
    var announcedID: RequestID? { announcesRequestID ? requestID : nil }

    /// All fields of the response's header section besides the protocol's own.
    var leadingMetadata: Metadata {
        guard let announcedID else { return responseMetadata }
        return Metadata([(RequestID.field.description, announcedID.description)] + responseMetadata.pairs)
    }
}

/// The caller that an interceptor found out.
package protocol CallerIdentity: Sendable {
    /// Adds the fields that name the caller.
    func describe(in line: inout LogLine)
}

extension PeerAddress {
    /// Writes the address into a line of the log: as ``description``, or the host alone if the port is unknown (0), as it is
    /// behind a proxy and for calls over HTTP/1.1.
    package func write(to line: inout LogLine) {
        guard port != 0 else { return line.append(host) }
        if isBracketed { line.append("[") }
        line.append(host)
        line.append(isBracketed ? "]:" : ":")
        line.append(Int64(port))
    }
}

/// What a call moved, and how long it took.
package struct CallTraffic: Sendable, Hashable {
    /// Messages that came and went.
    package var messagesReceived = 0
    package var messagesSent = 0
    /// Bytes of the bodies, as they are on the wire.
    package var bytesReceived = 0
    package var bytesSent = 0
    /// From the header section's end to the status, in nanoseconds.
    package var duration: UInt64 = 0
}
