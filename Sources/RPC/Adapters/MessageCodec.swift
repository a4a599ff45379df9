import GRPCWire
import JSON
import ProtobufJSON

/// The encoding of a call's messages.
enum MessageCodec {
    case proto
    /// Converted by the schema; `input` and `output` are the full names of the method's messages.
    case json(JSONMapping, input: String, output: String)
    /// Built from the request's path, query and body; the encoder converts the responses.
    case rest(RESTRequestReader)

    /// Returns a client's message in the protobuf encoding, which methods read; `nil` if it already has that encoding.
    func decode(_ message: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8]? {
        guard case .json(let mapping, let input, _) = self else {
            guard case .rest(let reader) = self else { return nil }
            return try reader.request(message)
        }
        if message.isEmpty { throw .invalidRequest("the request is empty: send {} for a message without fields") }
        do {
            return try mapping.encode([UInt8](message), as: input)
        } catch {
            throw .invalidRequest("the request is not a valid \(input) in JSON: \(error.explanation)")
        }
    }

    /// Returns a method's message in the client's encoding.
    func encode(_ message: ArraySlice<UInt8>) throws(RPCError) -> [UInt8] {
        guard case .json(let mapping, _, let output) = self else { return Array(message) }
        do {
            return try mapping.text(encoded: Array(message), of: output)
        } catch {
            throw RPCError(bare: .internalError, "the response has no JSON form: \(error.explanation)")
        }
    }
}

extension JSONError {
    /// The message for the author of the JSON.
    var explanation: String {
        let what =
            switch reason {
            case .syntax: "the text is not valid JSON"
            case .invalidText: "the text is not valid UTF-8"
            case .tooDeep: "the value is nested too deeply"
            case .unknownField: "the field is unknown"
            case .duplicateField: "the field is given twice"
            case .invalidValue: "the value is not valid for the field"
            case .unknownType: "the type of the Any is unknown"
            case .notRepresentable: "JSON cannot represent the value"
            }
        return (field.map { "\($0): " } ?? "") + what + (offset > 0 ? ", at byte \(offset)" : "")
    }
}
