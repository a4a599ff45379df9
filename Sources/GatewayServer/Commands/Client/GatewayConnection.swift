import CommandLineInterface
import EventLoops
import HTTPTypes
import Sockets
import Wire

/// A connection to one listener of a gateway; calls that fail say so for people.
struct GatewayConnection: CallTransport {
    private static let callTimeout = Duration.seconds(30)

    let server: PeerAddress
    private let channel: RPCChannel

    /// - Throws: `ClientFailure` where nobody answers.
    init(to server: PeerAddress, on loop: EventLoop, in environment: CommandEnvironment) async throws {
        self.server = server
        do {
            let authorities = try environment[CommandEnvironment.authoritiesVariable].map {
                try TLSAuthorities(file: $0 == "system" ? nil : $0)
            }
            channel = try await RPCChannel.connect(to: server, loop: loop, authorities: authorities)
        } catch let error as TLSError {
            throw ClientFailure("\(CommandEnvironment.authoritiesVariable): \(error)", exitCode: .usage)
        } catch let status as GRPCStatus {
            throw ClientFailure(status.message, exitCode: .unreachable)
        }
    }

    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await reporting(method) {
            try await channel.unary(method, request, options: options.limited(to: Self.callTimeout))
        }
    }

    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await reporting(method) {
            try await channel.serverStreaming(method, request, options: options, receive: receive)
        }
    }

    private func reporting<Result>(
        _ method: MethodDescriptor, _ call: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await call()
        } catch let status as GRPCStatus {
            throw ClientFailure(status, of: method, at: server)
        }
    }
}

extension CallOptions {
    fileprivate func limited(to standard: Duration) -> CallOptions {
        CallOptions(timeout: timeout ?? standard, metadata: metadata)
    }
}
