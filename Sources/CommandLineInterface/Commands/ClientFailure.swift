package import Basics
import Glibc
package import HTTPTypes
import Proto
package import Wire

/// The reason why a command failed, as a sentence that tells the user what to do.
package struct ClientFailure: Error, Hashable, CustomStringConvertible {
    package let exitCode: ExitCode
    /// The sentence, without a full stop.
    package let message: String

    package var description: String { message }
    /// The status of the failed call, if a call was the reason.
    package let status: StatusCode?
    /// Whether the message is followed by the name of the command's help page: for errors of the command line.
    package var namesHelp: Bool
    /// The gateway's detail code of the failed call; empty without a code.
    package var detail = ""
    /// The values that belong to the code.
    package var metadata: [String: String] = [:]
    /// The single faults of which the message is the sum, a sentence each.
    package var faults: [String] = []

    package init(_ message: String, exitCode: ExitCode = .refused, status: StatusCode? = nil) {
        self.message = message
        self.exitCode = exitCode
        self.status = status
        namesHelp = exitCode == .usage
    }

    /// Returns the failure with the name of what it concerns before its message.
    package func naming(_ name: String) -> ClientFailure {
        var failure = ClientFailure("\(name): \(message)", exitCode: exitCode, status: status)
        (failure.namesHelp, failure.detail, failure.metadata) = (namesHelp, detail, metadata)
        failure.faults = faults
        return failure
    }

    /// The failure for a file with a wrong configuration, which the command's help does not describe.
    package static func configuration(_ message: String) -> ClientFailure {
        var failure = ClientFailure(message, exitCode: .usage)
        failure.namesHelp = false
        return failure
    }

    /// Returns what helps if a connection failed because of the server's certificate; `nil` = that is not the reason.
    ///
    /// - Parameters:
    ///   - reason: the reason, as `TLSProblem` describes it.
    ///   - option: the option for the name in the certificate; `nil` = the command has none.
    package static func help(against reason: String, option: String? = nil) -> String? {
        if reason.hasPrefix(TLSProblem.isNotAccepted) {
            return "set \(CommandEnvironment.authoritiesVariable) to the PEM file of the authority that signed it"
        }
        guard reason.hasPrefix(TLSProblem.isForOthers) else { return nil }
        return "use one of these names as the host" + (option.map { ", or give one with \($0)" } ?? "")
    }

    /// The failure to write to standard output.
    package init(standardOutput failure: PrivateFile.Failure) {
        self = failure.code == EPIPE ? .readerLeft : ClientFailure("cannot write to standard output: \(failure.reason)")
    }

    /// The reader of the output has closed it, as `head` does when it has read enough.
    package static let readerLeft = ClientFailure("the program that reads the output has ended", exitCode: .success)
}

extension ClientFailure {
    /// The failure of a call to `server`.
    package init(_ status: GRPCStatus, of method: MethodDescriptor, at server: PeerAddress) {
        let details = status.details.flatMap { try? ErrorDetail(decoding: $0) }
        let detail = details?.code ?? ""
        let code = detail.isEmpty ? status.code.name : detail
        let text = status.message.isEmpty ? "\(method.name) failed" : status.message
        let message =
            switch status.code {
            // The channel's own message names the address.
            case .unavailable where text.hasPrefix("cannot reach \(server)"): text
            case .unavailable, .deadlineExceeded: "\(server) is not available: \(text) (\(code))"
            case .unauthenticated
            where method != AuthServiceMethods.login && method != SessionServiceMethods.completeLogin:
                "you are not signed in, or the session ended: run data-gateway login (\(text), \(code))"
            case .unimplemented:
                "\(server) does not have \(method.name): check that the address is the right listener of the gateway (\(code))"
            // Only servers other than a gateway respond with this status.
            case .unknown: "\(server): \(text) (\(code))"
            default: "\(text) (\(code))"
            }
        let isPassing = status.code == .unavailable || status.code == .deadlineExceeded
        self.init(message, exitCode: isPassing ? .unreachable : .refused, status: status.code)
        self.detail = detail
        metadata = details?.metadata ?? [:]
    }
}

/// The exit code of a command.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The gateway refused the request, or an operation on this machine failed.
    case refused = 1
    /// The command line is wrong.
    case usage = 2
    /// The gateway could not be reached, did not respond in time, or is overloaded: a later attempt can succeed.
    case unreachable = 3
    /// The gateway ended to be started again, with other data (EX_TEMPFAIL of sysexits.h).
    case restart = 75

    /// Ends the process with this code, without the functions of atexit(3) and the destructors of libraries: threads still run or end,
    /// and OpenSSL's cleanup would free what they use.
    package func endProcess() -> Never { _exit(rawValue) }
}

/// An error of the command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    package let message: String
    /// The words of the intended command, as far as they are known.
    package let path: [String]

    package init(_ message: String, path: [String]) {
        self.message = message
        self.path = path
    }

    package var description: String {
        "\(message)\n\(Self.hint(path))"
    }

    /// Returns the line that names the help page of a command.
    static func hint(_ path: [String]) -> String {
        "Try: \((["data-gateway"] + path + ["--help"]).joined(separator: " "))"
    }
}
