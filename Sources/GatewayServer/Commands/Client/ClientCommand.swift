import Basics
import CommandLineInterface
import JSON

/// A command that calls a running gateway as the signed-in user.
protocol ClientCommand: Command {
    var connection: ConnectionOptions { get set }
    /// The listener of the gateway that has the calls; default: admin.
    static var listener: CommandListener { get }

    func call(_ gateway: SignedInConnection) async throws -> Reply
}

extension ClientCommand {
    static var listener: CommandListener { .admin }

    /// The common parameters of all such commands; they follow the command's own.
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

extension Reply {
    /// The reply of a command that deletes a resource: in JSON the field with its name.
    static func deleted(_ field: String, _ value: JSONValue, _ what: String) -> Reply {
        Reply(json: .object([JSONValue.Member(name: field, value: value)]), text: "deleted \(what)")
    }
}

extension Optional {
    /// Returns the value of a required field.
    ///
    /// - Parameter name: the field, for the message.
    func present(_ name: String) throws(ClientFailure) -> Wrapped {
        guard let self else { throw ClientFailure("the gateway's reply has no \(name)") }
        return self
    }
}
