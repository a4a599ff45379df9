import HTTPTypes
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

    /// The reader of the output has closed it, as `head` does when it has read enough.
    package static let readerLeft = ClientFailure("the program that reads the output has ended", exitCode: .success)
}
