import Basics
import Foundation

/// What a command finds around it beside its command line.
package struct CommandEnvironment: Sendable {
    package var variables: [String: String]
    package var clock: any WallClock
    /// Writes a line to standard output.
    package var output: @Sendable (String) throws(ClientFailure) -> Void
    /// Writes a line to standard error, as far as that takes it.
    package var errorOutput: @Sendable (String) -> Void
    /// Writes to the terminal that standard error is, without a line break; `nil` where it is none.
    package var terminal: (@Sendable (String) -> Void)? = nil
    /// Columns of that terminal now; people change the size of a window.
    package var terminalWidth: @Sendable () -> Int = { standardWidth }

    /// The environment of this process.
    package static var process: CommandEnvironment {
        CommandEnvironment(
            variables: ProcessInfo.processInfo.environment,
            clock: SystemClock(),
            output: { (line) throws(ClientFailure) in
                let problem = write("\(line)\n", to: STDOUT_FILENO)
                if problem == EPIPE { throw ClientFailure.readerLeft }
                guard problem == 0 else {
                    throw ClientFailure("cannot write to standard output: \(String(cString: strerror(problem)))")
                }
            },
            errorOutput: { _ = write("\($0)\n", to: STDERR_FILENO) },
            terminal: isatty(STDERR_FILENO) == 1 ? terminalOutput : nil,
            terminalWidth: { windowWidth(of: STDERR_FILENO) ?? standardWidth })
    }

    /// Columns where nobody says.
    private static let standardWidth = 80

    /// Columns of the window that a descriptor leads to; `nil` where it is none, or has not said its size.
    private static func windowWidth(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static let terminalOutput: @Sendable (String) -> Void = { _ = write($0, to: STDERR_FILENO) }

    /// - Returns: 0, or the `errno` of what went wrong.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Set to the file of the authorities whose certificate the gateway must show (PEM), or to `system`: then, and only
    /// then, commands speak TLS.
    package static let authoritiesVariable = "DATA_GATEWAY_CA"

    /// The file of the authorities whose certificates are taken; `nil` = those that the machine trusts.
    package var authorities: String? { self[Self.authoritiesVariable].flatMap { $0 == "system" ? nil : $0 } }

    /// A variable that is set and not empty.
    package subscript(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
