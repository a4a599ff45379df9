import CommandLineInterface

/// A command that is calls to a running gateway, in the name of who is signed in.
protocol ClientCommand: Command {
    var connection: ConnectionOptions { get set }
    /// Which listener of the gateway has the calls; default: admin.
    static var listener: CommandListener { get }

    func call(_ gateway: SignedInConnection) async throws -> Reply
}

extension ClientCommand {
    static var listener: CommandListener { .admin }

    /// The parameters that all of them have; they stand behind the command's own.
    static var connectionParameters: [Parameter<Self>] {
        ConnectionOptions.parameters(of: listener).map { $0.at(\.connection) }
            + OutputOptions.parameters.map { $0.at(\.connection.output) }
    }

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: connection.json, as: connection.output) {
            try await call(try await SignedInConnection(connection, listener: Self.listener, in: environment))
        }
    }
}
