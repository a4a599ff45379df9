package import Basics
import FoundationEssentials
import GRPCWire
import Glibc
import JSON

/// The environment in which a command runs, apart from its command line.
package struct CommandEnvironment: Sendable {
    package var variables: [String: String]
    package var clock: any WallClock
    /// Writes a line to standard output.
    package var output: @Sendable (String) throws(ClientFailure) -> Void
    /// Writes a line to standard error; errors are ignored.
    package var errorOutput: @Sendable (String) -> Void
    /// The words of the command that runs, for the help that a usage error names; `nil` = not known.
    package var commandPath: [String]? = nil
    /// Writes to standard error without a line feed if it is a terminal; `nil` if it is not.
    package var terminal: (@Sendable (String) -> Void)? = nil
    /// The current number of columns of the terminal, which changes with its window.
    package var terminalWidth: @Sendable () -> Int = { standardWidth }

    /// The current number of columns of standard output; `nil` if it is not a terminal.
    package var outputWidth: @Sendable () -> Int? = { nil }
    /// Whether standard output is a terminal that shows colors.
    package var colorsOutput = false

    /// The environment of this process.
    package static var process: CommandEnvironment {
        CommandEnvironment(
            variables: ProcessInfo.processInfo.environment,
            clock: SystemClock(),
            output: { (line) throws(ClientFailure) in
                do throws(PrivateFile.Failure) {
                    try OpenFile.write("\(line)\n", to: STDOUT_FILENO)
                } catch {
                    throw ClientFailure(standardOutput: error)
                }
            },
            errorOutput: { try? OpenFile.write("\($0)\n", to: STDERR_FILENO) },
            terminal: isatty(STDERR_FILENO) == 1 ? terminalOutput : nil,
            terminalWidth: { windowWidth(of: STDERR_FILENO) ?? standardWidth },
            outputWidth: { isatty(STDOUT_FILENO) == 1 ? windowWidth(of: STDOUT_FILENO) ?? standardWidth : nil },
            colorsOutput: hasColors(STDOUT_FILENO, ProcessInfo.processInfo.environment))
    }

    /// Whether a descriptor is a terminal with colors, and the user does not refuse them (no-color.org).
    private static func hasColors(_ descriptor: Int32, _ variables: [String: String]) -> Bool {
        isatty(descriptor) == 1 && variables["NO_COLOR", default: ""].isEmpty && variables["TERM"] != "dumb"
    }

    /// The number of columns if it is unknown.
    private static let standardWidth = 80

    /// Returns the number of columns of a descriptor's terminal; `nil` if it is not a terminal, or has no size.
    private static func windowWidth(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static let terminalOutput: @Sendable (String) -> Void = { try? OpenFile.write($0, to: STDERR_FILENO) }

    /// The environment variable with the PEM file of the authorities of the gateway's certificates, or `system`, the default.
    package static let authoritiesVariable = "DATA_GATEWAY_CA"

    /// The file of the authorities for servers' certificates; `nil` = the machine's trusted authorities.
    package var authorities: String? { self[Self.authoritiesVariable].flatMap { $0 == "system" ? nil : $0 } }

    /// The variable of the authorities for another working directory: an absolute path, or `system`; `nil` if it is not set.
    package var absoluteAuthorities: String? {
        self[Self.authoritiesVariable].map { $0 == "system" ? $0 : URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    /// The value of a variable that is set and not empty.
    package subscript(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}

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
