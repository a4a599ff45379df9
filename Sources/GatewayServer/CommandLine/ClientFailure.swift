import Wire

/// Why a command did not do what it was asked for, as a sentence that a person can act on.
package struct ClientFailure: Error, Hashable {
    package let exitCode: ExitCode
    /// Without a full stop.
    package let message: String
    /// How the call ended, where a call was the reason.
    package let status: StatusCode?

    package init(_ message: String, exitCode: ExitCode = .refused, status: StatusCode? = nil) {
        self.message = message
        self.exitCode = exitCode
        self.status = status
    }

    /// The reader of the output has closed it, as `head` does when it has what it wants.
    package static let readerLeft = ClientFailure("the program that reads the output has ended", exitCode: .success)
}
