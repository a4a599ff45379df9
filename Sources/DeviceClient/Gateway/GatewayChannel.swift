package import EventLoops
package import GatewayFormats
package import HTTPTypes
import Proto
package import RPC
package import Sockets
package import Wire

/// A connection to one listener of the gateway, opened when a call needs it, and reopened after a failure.
package actor GatewayChannel: CallTransport {
    private static let callTimeout = Duration.seconds(20)

    private let server: PeerAddress
    private let authorities: TLSAuthorities?
    private let loop: EventLoop
    private var channel: RPCChannel?

    /// - Parameter authorities: the authorities of the server's certificate, for scheme `https`.
    package init(to endpoint: Endpoints.Endpoint, authorities: TLSAuthorities?, loop: EventLoop) {
        server = endpoint.address
        self.authorities = endpoint.scheme == .https ? authorities : nil
        self.loop = loop
    }

    /// - Throws: `CallFailure`, or `CancellationError`.
    package func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await calling(method) { channel in
            let limited = CallOptions(timeout: options.timeout ?? Self.callTimeout, metadata: options.metadata)
            return try await channel.unary(method, request, options: limited)
        }
    }

    package func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await calling(method) { channel in
            try await channel.serverStreaming(method, request, options: options, receive: receive)
        }
    }

    private func calling<Result: Sendable>(
        _ method: MethodDescriptor, _ call: (RPCChannel) async throws -> Result
    ) async throws -> Result {
        var used: RPCChannel?
        do {
            try Task.checkCancellation()
            let open = try await opened()
            used = open
            return try await call(open)
        } catch let status as GRPCStatus {
            try Task.checkCancellation()
            // The state of the connection is unknown; the next call uses a new one.
            if [.unavailable, .deadlineExceeded, .internalError].contains(status.code), let used, used === channel {
                used.close()
                channel = nil
            }
            throw CallFailure(status: status, method: method, server: server)
        }
    }

    private func opened() async throws -> RPCChannel {
        if let channel { return channel }
        let fresh = try await RPCChannel.connect(to: server, loop: loop, authorities: authorities)
        channel = fresh
        return fresh
    }
}

/// A call's error: its response was not OK, or did not arrive.
package struct CallFailure: Error, Sendable, Hashable {
    package let status: GRPCStatus
    package let method: MethodDescriptor
    package let server: PeerAddress

    /// The error code in the response.
    package var detail: DetailCode? {
        status.details.flatMap { try? ErrorDetail(decoding: $0) }.flatMap { DetailCode(rawValue: $0.code) }
    }

    /// Whether no answer arrived: the address or the network is to blame, or the gateway is overloaded.
    var isOfConnection: Bool { status.code == .unavailable || status.code == .deadlineExceeded }

    /// Whether the device has no such upload: the gateway does not know it, or it belongs to the one that the folder was initialized for
    /// before.
    var isOfUnknownUpload: Bool { detail == .uploadNotFound || detail == .uploadNotOwned }
}

extension CallFailure: CustomStringConvertible {
    package var description: String {
        let code = detail?.rawValue ?? status.code.name
        let message = status.message.isEmpty ? "the call failed" : status.message
        return "\(method.name) at \(server): \(message) (\(code))"
    }
}
