import Foundation
import Platform

/// What a command finds around it beside its command line.
struct CommandEnvironment: Sendable {
    var variables: [String: String]
    var clock: any WallClock
    var output: @Sendable (String) -> Void
    var errorOutput: @Sendable (String) -> Void

    /// Those of this process. What cannot be written is lost: whoever would read it has hung up.
    static var process: CommandEnvironment {
        CommandEnvironment(
            variables: ProcessInfo.processInfo.environment,
            clock: SystemClock(),
            output: { try? FileHandle.standardOutput.write(contentsOf: Data("\($0)\n".utf8)) },
            errorOutput: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) })
    }

    /// A variable that is set and not empty.
    subscript(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
