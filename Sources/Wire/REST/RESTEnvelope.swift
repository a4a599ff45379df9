package import Basics
import JSON

/// The JSON of a successful response in the form ``RESTStyle/Errors/envelope``.
package enum RESTEnvelope {
    /// - Parameter json: the response without an envelope.
    package static func success(_ json: [UInt8], at time: UnixTime) -> [UInt8] {
        var output = JSONObjectWriter()
        output.bool("success", true)
        output.value("data", json: json)
        output.text("timestamp", RFC3339.milliseconds(time))
        return output.finished
    }
}
