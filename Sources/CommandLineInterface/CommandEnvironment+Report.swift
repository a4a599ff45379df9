import Basics
import GRPCWire
import JSON

extension CommandEnvironment {
    /// Prints the reply of `command`, or its error.
    package func report(
        asJSON: Bool, as options: OutputOptions = OutputOptions(), _ command: () async throws -> Reply
    ) async -> ExitCode {
        let asJSON = asJSON || options.format == .json
        return await attempt(asJSON: asJSON) {
            let reply = try await command()
            try output(
                asJSON ? reply.json.text : try reply.text(as: options, width: outputWidth(), isColored: colorsOutput))
        }
    }

    /// Runs `command`, and prints its error if it fails.
    package func attempt(asJSON: Bool = false, _ command: () async throws -> Void) async -> ExitCode {
        do {
            try await command()
            return .success
        } catch let failure as ClientFailure where failure == .readerLeft {
            return .success
        } catch {
            let failure = error as? ClientFailure ?? ClientFailure("\(error)")
            report(failure, asJSON: asJSON)
            return failure.exitCode
        }
    }

    /// Writes an error to standard error: a line for people, or `{"error":{…}}` for programs.
    func report(_ failure: ClientFailure, asJSON: Bool) {
        guard asJSON else {
            for fault in failure.faults { errorOutput(TextLayout.printable(fault)) }
            errorOutput("data-gateway: \(TextLayout.printable(failure.message))")
            if failure.namesHelp, let commandPath { errorOutput(UsageError.hint(commandPath)) }
            return
        }
        var members = [
            JSONValue.Member(name: "message", value: .string(failure.message)),
            JSONValue.Member(name: "status", value: failure.status.map { .string($0.name) } ?? .null),
            JSONValue.Member(name: "exit_code", value: .number(Int64(failure.exitCode.rawValue))),
        ]
        if !failure.faults.isEmpty {
            members.append(JSONValue.Member(name: "faults", value: .array(failure.faults.map { .string($0) })))
        }
        errorOutput(JSONValue.object([JSONValue.Member(name: "error", value: .object(members))]).text)
    }
}
