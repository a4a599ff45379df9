import Wire

/// How the messages of a call are written.
enum MessageCodec {
    case proto
    /// Mapped by the schema, between the full names of the method's messages.
    case json(JSONMapping, input: String, output: String)

    /// A client's message in the encoding that methods read; `nil` where it is in that already.
    func decode(_ message: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8]? {
        guard case .json(let mapping, let input, _) = self else { return nil }
        if message.isEmpty { throw .invalidRequest("the request is empty: without any field it is {}") }
        do {
            return try mapping.encode([UInt8](message), as: input)
        } catch {
            throw .invalidRequest("the request is no \(input) in JSON: \(error.explanation)")
        }
    }

    /// A method's message in the client's encoding.
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
    /// For the person who wrote the JSON.
    fileprivate var explanation: String {
        let what =
            switch reason {
            case .syntax: "not valid JSON"
            case .invalidText: "text that is no UTF-8"
            case .tooDeep: "nested too deep"
            case .unknownField: "there is no such field"
            case .duplicateField: "given twice"
            case .invalidValue: "not a value that it can have"
            case .unknownType: "an Any of a type that is not known here"
            case .notRepresentable: "a value that JSON has no form for"
            }
        return (field.map { "\($0): " } ?? "") + what + (offset > 0 ? ", at byte \(offset)" : "")
    }
}
