import DeviceClient
import HTTPClient

/// Why an agent cannot work: a sentence without a full stop.
package struct AgentFailure: Error, Sendable, Hashable {
    package let message: String

    init(_ message: String) { self.message = message }

    /// The failure of an upload, as text for people.
    static func text(_ error: any Error) -> String {
        switch error {
        case let failure as DeviceFolder.Failure: failure.message
        case let failure as SourceFailure: failure.message
        case let failure as FileReader.Failure: "cannot read \(failure.path): \(failure.reason)"
        case let failure as CallFailure:
            "\(failure.method.name) at \(failure.server) failed: \(failure.status.message) (\(failure.detail?.rawValue ?? failure.status.code.name))"
        case TransferFailure.connection(let reason): "the object store is not available: \(reason)"
        case let failure as any CustomStringConvertible: failure.description
        // Without a text of its own, only the kind of the error tells something.
        default: "the upload failed: \(type(of: error))"
        }
    }
}
