import Proto
import Wire

/// The properties of the codecs for any bytes. The fuzzers search for violations, which trap; the unit tests check the fuzzers'
/// findings again.
public enum CodecProperties {
    private static let messages = TestFiles.messages + ProtoFiles.messages

    private static let mapping: JSONMapping = {
        do throws(DecodingError) {
            return JSONMapping(schema: try Schema(TestFiles.all + ProtoFiles.all))
        } catch {
            fatalError("an embedded descriptor is invalid: \(error)")
        }
    }()

    /// Splits an input: the first byte selects the message, the rest is its encoding or its JSON.
    private static func split(_ input: [UInt8]) -> (type: any Message.Type, body: [UInt8])? {
        guard let first = input.first else { return nil }
        return (messages[Int(first) % messages.count], [UInt8](input.dropFirst()))
    }

    /// Returns the seed inputs of the fuzzers: for every message one with random fields.
    public static func seeds() -> (protobuf: [[UInt8]], json: [[UInt8]]) {
        var protobuf: [[UInt8]] = []
        var json: [[UInt8]] = []
        for (index, type) in messages.enumerated() where index < 256 {
            var random = RandomFields(seed: UInt64(index), schema: mapping.schema)
            let bytes = random.message(type.fullName)
            protobuf.append([UInt8(index)] + bytes)
            guard let text = try? mapping.text(encoded: bytes, of: type.fullName) else { continue }
            json.append([UInt8(index)] + text)
        }
        return (protobuf, json)
    }

    // MARK: Protobuf

    /// Checks that bytes are refused, or that the decoded message is unchanged after encoding and decoding.
    public static func checkProtobuf(_ input: [UInt8]) {
        guard let (type, body) = split(input) else { return }
        checkProtobuf(type, body)
    }

    private static func checkProtobuf<M: Message>(_ type: M.Type, _ body: [UInt8]) {
        guard let message = try? M(decoding: body) else { return }
        let bytes = message.encoded(canonical: true)
        guard let again = try? M(decoding: bytes) else { fatalError("\(type) refuses what it encoded") }
        precondition(again.encoded(canonical: true) == bytes, "\(type) encodes differently the second time")
        precondition(message.encoded().count == bytes.count, "\(type) has two sizes")
        guard let text = try? mapping.text(message) else { return }
        checkText(type, text)
    }

    // MARK: JSON

    /// Checks that JSON is refused, or that the message's own JSON form denotes the same message.
    public static func checkJSON(_ input: [UInt8]) {
        guard let (type, body) = split(input) else { return }
        checkJSON(type, body)
    }

    private static func checkJSON<M: Message>(_ type: M.Type, _ body: [UInt8]) {
        _ = try? mapping.message(type, from: body, ignoresUnknownFields: true)
        guard let message = try? mapping.message(type, from: body) else { return }
        guard let text = try? mapping.text(message) else { return }
        checkText(type, text)
    }

    /// Reading the text of a message may only fail because lists and maps count as levels of JSON, too.
    private static func checkText<M: Message>(_ type: M.Type, _ text: [UInt8]) {
        do throws(JSONError) {
            let again = try mapping.text(try mapping.message(type, from: text))
            precondition(again == text, "\(type) has two JSON forms")
        } catch {
            precondition(error.reason == .tooDeep, "\(type) refuses the JSON that it wrote: \(error)")
        }
    }
}
