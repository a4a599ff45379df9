import Proto
import Wire

/// What holds for any bytes at all. The fuzzers look for bytes where it does not, and trap; the unit tests run them again
/// on what the fuzzers found.
public enum CodecProperties {
    private static let messages = TestFiles.messages + ProtoFiles.messages

    private static let mapping: JSONMapping = {
        do throws(DecodingError) {
            return JSONMapping(schema: try Schema(TestFiles.all + ProtoFiles.all))
        } catch {
            fatalError("an embedded descriptor is none: \(error)")
        }
    }()

    /// The first byte chooses the message, the rest is its encoding or its JSON.
    private static func split(_ input: [UInt8]) -> (type: any Message.Type, body: [UInt8])? {
        guard let first = input.first else { return nil }
        return (messages[Int(first) % messages.count], [UInt8](input.dropFirst()))
    }

    /// The inputs that the fuzzers begin with: for every message one with random fields.
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

    /// Bytes are refused, or what they decode to encodes to bytes that decode to the same.
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

    /// JSON is refused, or the message that it stands for has a JSON form that stands for the same.
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

    /// The one thing that may keep our own text from being read: lists and maps count as levels of JSON too.
    private static func checkText<M: Message>(_ type: M.Type, _ text: [UInt8]) {
        do throws(JSONError) {
            let again = try mapping.text(try mapping.message(type, from: text))
            precondition(again == text, "\(type) has two JSON forms")
        } catch {
            precondition(error.reason == .tooDeep, "\(type) refuses the JSON that it wrote: \(error)")
        }
    }
}
