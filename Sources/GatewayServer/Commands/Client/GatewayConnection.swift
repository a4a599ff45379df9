import CommandLineInterface
import EventLoops
import HTTPTypes
import Proto
import Sockets
import Wire

/// A connection to one listener of a gateway; failures of calls have messages for people.
struct GatewayConnection: CallTransport {
    private static let callTimeout = Duration.seconds(30)
    private static let probeTimeout = Duration.seconds(10)

    /// The listener, with what is known of its use of TLS.
    let endpoint: ListenerEndpoint
    private let channel: RPCChannel

    /// Connects to the listener. Of one whose use of TLS is not known, a call without a secret finds out.
    ///
    /// - Parameter option: the option that names the listener, for messages.
    /// - Throws: `ClientFailure` if the gateway cannot be reached.
    init(
        to endpoint: ListenerEndpoint, trust: ListenerTrust, option: String = "--server", on loop: EventLoop
    ) async throws {
        let choices: [Bool] =
            if let isSecure = endpoint.isSecure {
                [isSecure]
            } else if trust.expectsTLS {
                endpoint.isLoopback ? [true, false] : [true]
            } else {
                trust.expectsCleartext ? [false] : [false, true]
            }
        var refusal: (any Error)?
        for isSecure in choices {
            let choice = ListenerEndpoint(endpoint.address, isSecure: isSecure)
            let channel = try await Self.connect(to: choice, trust, option, loop)
            do {
                if choices.count > 1 { try await Self.probe(channel) }
            } catch let status as GRPCStatus where !status.isOfCertificate {
                channel.close()
                refusal = refusal ?? ClientFailure(status, of: HealthMethods.check, at: endpoint.address)
                continue
            } catch let status as GRPCStatus {
                throw ClientFailure(connecting: status, to: endpoint.address)
            }
            self.endpoint = choice
            self.channel = channel
            return
        }
        throw refusal ?? ClientFailure.notSignedIn
    }

    private static func connect(
        to endpoint: ListenerEndpoint, _ trust: ListenerTrust, _ option: String, _ loop: EventLoop
    ) async throws(ClientFailure) -> RPCChannel {
        let authorities = endpoint.isSecure == true ? try trust.authorities() : nil
        do {
            return try await RPCChannel.connect(
                to: endpoint.address, loop: loop, authorities: authorities, name: trust.name)
        } catch {
            let message = (error as? GRPCStatus)?.message ?? "\(error)"
            let isElsewhere = !endpoint.isLoopback && !message.hasSuffix(RPCChannel.isUnresolved)
            throw ClientFailure(
                isElsewhere ? "\(message); \(forwarding(endpoint.address.port, option))" : message,
                exitCode: .unreachable)
        }
    }

    /// The help for a listener that may accept connections only on its own machine.
    private static func forwarding(_ port: Int, _ option: String) -> String {
        """
        if it listens on loopback, forward its port (ssh -L \(port):127.0.0.1:\(port) HOST) and use \(option) \
        127.0.0.1:\(port)
        """
    }

    /// Makes a call to which every listener answers.
    ///
    /// - Throws: `GRPCStatus` if the connection does not work.
    private static func probe(_ channel: RPCChannel) async throws {
        do {
            let _: HealthCheckResponse = try await channel.unary(
                HealthMethods.check, HealthCheckRequest(), options: CallOptions(timeout: probeTimeout))
        } catch let status as GRPCStatus {
            guard status.code == .unavailable || status.code == .deadlineExceeded || status.code == .unknown else {
                return
            }
            throw status
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
            throw status.isOfCertificate
                ? ClientFailure(connecting: status, to: endpoint.address)
                : ClientFailure(status, of: method, at: endpoint.address)
        }
    }
}

extension GRPCStatus {
    /// Whether the connection failed because of the server's certificate.
    fileprivate var isOfCertificate: Bool {
        code == .unavailable && ClientFailure.help(against: message) != nil
    }
}

extension ClientFailure {
    /// The failure of a TLS connection, with what helps.
    fileprivate init(connecting status: GRPCStatus, to address: PeerAddress) {
        let help = Self.help(against: status.message, option: "--tls-name").map { "; \($0)" } ?? ""
        self.init("\(address): \(status.message)\(help)", exitCode: .unreachable, status: status.code)
    }
}

extension CallOptions {
    fileprivate func limited(to standard: Duration) -> CallOptions {
        CallOptions(timeout: timeout ?? standard, metadata: metadata)
    }
}
