import Basics
import DeviceClient
import GRPCWire
import HTTPClient
import Protobuf
import RPC

/// Why an agent cannot work: a sentence without a full stop.
package struct AgentFailure: Error, Sendable, Hashable {
    package let message: String

    init(_ message: String) { self.message = message }

    /// Returns the text about a step that failed and is tried again.
    static func retry(_ step: String, _ reason: any Error, _ delay: Duration) -> String {
        let seconds = delay.wholeSeconds
        let wait = seconds < 1 ? "less than a second" : "\(seconds) s"
        return "\(failure(of: step, reason)); trying again in \(wait)"
    }

    /// Returns the text about a step that failed.
    static func failure(of step: String, _ reason: any Error) -> String {
        // A call names itself: a token may have been requested for the step.
        reason is CallFailure ? text(reason) : "\(step) failed: \(text(reason))"
    }

    /// Returns the text about the failure of an upload.
    static func text(_ error: any Error) -> String {
        switch error {
        case let failure as FileReader.Failure: "cannot read \(failure.path): \(failure.reason)"
        case let failure as CallFailure: failure.text
        case TransferFailure.connection(let reason): "the object store is not available: \(reason)"
        case let failure as any CustomStringConvertible: failure.description
        // Without a text of its own, only the kind of the error says something.
        default: "the upload failed: \(type(of: error))"
        }
    }
}

extension AgentFailure: CustomStringConvertible {
    package var description: String { message }
}

extension CallFailure {
    /// The sentence of the agent's log.
    fileprivate var text: String {
        let code = detail?.rawValue ?? status.code.name
        let reason = status.message.isEmpty ? code : "\(status.message) (\(code))"
        return "\(method.name) at \(server) failed: \(reason)"
    }
}
