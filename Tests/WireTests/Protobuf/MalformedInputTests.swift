import TestSupport
import Testing
import Wire
import WireTesting

@testable import Protobuf

/// Bytes that are not a message give the right `DecodingError`, and never trap.
@Suite(.timeLimited) struct MalformedInputTests {
    private func error<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> DecodingError? {
        do throws(DecodingError) {
            _ = try M(decoding: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func malformedVarintsAreRefused() {
        let nine = [UInt8](repeating: 0x80, count: 9)
        #expect(error(Scalars.self, [0x20] + nine + [0x01]) == nil)
        #expect(error(Scalars.self, [0x20] + nine + [0x02]) == .malformedVarint)
        #expect(error(Scalars.self, [0x20] + nine + [0x80, 0x01]) == .malformedVarint)
        #expect(error(Scalars.self, [0x20] + nine + [0x80] + [UInt8](repeating: 0, count: 20)) == .malformedVarint)
        #expect(error(Scalars.self, [0x20] + nine) == .truncated)
        #expect(error(Scalars.self, [0x20]) == .truncated)
    }

    /// Varints may have more bytes than needed, and a 32-bit field takes their low 32 bits.
    @Test func overlongVarintsAreAccepted() throws {
        #expect(try Scalars(decoding: [0x18, 0x85, 0x80, 0x80, 0x00]).int32Value == 5)
        #expect(try Scalars(decoding: [0x68, 0x80, 0x80, 0x80, 0x01]).boolValue)
        #expect(try Scalars(decoding: [0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]).int32Value == -1)
        #expect(try Scalars(decoding: [0x28, 0x81, 0x80, 0x80, 0x80, 0x10]).uint32Value == 1)
        #expect(try Scalars(decoding: [0x98, 0x80, 0x00, 0x05]).int32Value == 5)
    }

    @Test func invalidTagsAreRefused() {
        #expect(error(Scalars.self, [0x00, 0x00]) == .invalidTag)
        #expect(error(Scalars.self, [0x05, 0, 0, 0, 0]) == .invalidTag)
        #expect(error(Scalars.self, [0x80, 0x00, 0x00]) == .invalidTag)
        #expect(error(Scalars.self, [0x0E]) == .invalidTag)
        #expect(error(Scalars.self, [0x0F]) == .invalidTag)
        #expect(error(Scalars.self, [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x01]) == nil)
        #expect(error(Scalars.self, [0xF8, 0xFF, 0xFF, 0xFF, 0x1F, 0x01]) == .invalidTag)
    }

    @Test func lengthsBeyondTheEndAreRefused() {
        let minusOne = [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(error(Scalars.self, [0x72] + minusOne) == .truncated)
        #expect(error(Scalars.self, [0x7A] + minusOne + [1, 2, 3]) == .truncated)
        #expect(error(Repeateds.self, [0x1A] + minusOne) == .truncated)
        #expect(error(Repeateds.self, [0x0A] + minusOne) == .truncated)
        #expect(error(Optionals.self, [0x8A, 0x01] + minusOne) == .truncated)
        #expect(error(Maps.self, [0x0A] + minusOne) == .truncated)
        #expect(error(Scalars.self, [0xFA, 0x01] + minusOne) == .truncated)
        #expect(error(Scalars.self, [0x72, 0xFF, 0xFF, 0xFF, 0xFF, 0x07]) == .truncated)
        // A field must not extend beyond the end of its message.
        #expect(
            error(Optionals.self, [0x8A, 0x01, 0x02, 0x72, 0x05] + [UInt8](repeating: 0x61, count: 8)) == .truncated)
        #expect(error(Optionals.self, [0x8A, 0x01, 0x03, 0x09, 1, 2] + [UInt8](repeating: 0, count: 8)) == .truncated)
        #expect(error(Repeateds.self, [0x4A, 0x06, 1, 2, 3, 4, 5, 6]) == .invalidPackedLength)
        #expect(error(Repeateds.self, [0x0A, 0x09] + [UInt8](repeating: 0, count: 9)) == .invalidPackedLength)
        #expect(error(Repeateds.self, [0x1A, 0x02, 0x01, 0x80, 0x01]) == .truncated)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xFF],
            [0xE2, 0x82], [0x61, 0xF0, 0x9F, 0xA4],
            // The same in a text that is long enough to be read in words.
            [UInt8](repeating: 0x61, count: 40) + [0xC3],
            [UInt8](repeating: 0x61, count: 17) + [0xFF] + "0123456789".utf8,
        ] as [[UInt8]])
    func textThatIsNotUTF8IsRefused(_ text: [UInt8]) {
        let field = [UInt8(text.count)] + text
        #expect(error(Scalars.self, [0x72] + field) == .invalidUTF8)
        #expect(error(Repeateds.self, [0x72] + field) == .invalidUTF8)
        #expect(error(Choices.self, [0x12] + field) == .invalidUTF8)
        #expect(error(Maps.self, [0x0A, UInt8(text.count + 2), 0x0A] + field) == .invalidUTF8)
        #expect(error(Maps.self, [0x0A, UInt8(text.count + 2), 0x12] + field) == .invalidUTF8)
        #expect(error(Scalars.self, [0x7A] + field) == nil)
    }

    @Test(arguments: [[0], [0x61, 0, 0x62], [UInt8](repeating: 0x61, count: 40) + [0]] as [[UInt8]])
    func nullCharacterIsRefusedWhereTheReaderDoesNotPermitIt(_ text: [UInt8]) {
        let field = [UInt8(text.count)] + text
        func strictError<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> DecodingError? {
            bytes.withUnsafeBytes { bytes in
                do throws(DecodingError) {
                    var message = M()
                    try message.merge(decoding: bytes, permitsNullCharacter: false)
                    return nil
                } catch {
                    return error
                }
            }
        }
        let key: [UInt8] = [0x0A, UInt8(text.count + 2), 0x0A] + field
        #expect(strictError(Scalars.self, [0x72] + field) == .nullCharacter)
        #expect(strictError(Repeateds.self, [0x72, 0x01, 0x61, 0x72] + field) == .nullCharacter)
        #expect(strictError(Choices.self, [0x12] + field) == .nullCharacter)
        #expect(strictError(Optionals.self, [0x8A, 0x01, UInt8(text.count + 2), 0x72] + field) == .nullCharacter)
        #expect(strictError(Maps.self, key) == .nullCharacter)
        #expect(strictError(Maps.self, [0x0A, UInt8(text.count + 2), 0x12] + field) == .nullCharacter)
        #expect(strictError(Maps.self, [0x2A, UInt8(key.count + 2), 0x12, UInt8(key.count)] + key) == .nullCharacter)
        // Bytes, and what is not known to be text.
        #expect(strictError(Scalars.self, [0x7A] + field) == nil)
        #expect(strictError(Scalars.self, [0xFA, 0x06] + field) == nil)
        #expect(error(Scalars.self, [0x72] + field) == nil)
        #expect(error(Maps.self, key) == nil)
    }

    @Test func groupsAreKeptAndUnbalancedOnesRefused() throws {
        // Field 40 as a group with a varint, a string, and a nested group.
        let group: [UInt8] = [0xC3, 0x02, 0x08, 0x01, 0x12, 0x01, 0x61, 0xCB, 0x02, 0xCC, 0x02, 0xC4, 0x02]
        let message = try Scalars(decoding: [0x68, 0x01] + group + [0x18, 0x05])
        #expect(message.boolValue && message.int32Value == 5)
        #expect(message.unknownFields.withUnsafeBytes { [UInt8]($0) } == group)
        #expect(error(Scalars.self, [0xC3, 0x02, 0x08, 0x01]) == .truncated)
        #expect(error(Scalars.self, [0xC3, 0x02, 0xCC, 0x02]) == .unbalancedGroup)
        #expect(error(Scalars.self, [0xC4, 0x02]) == .unbalancedGroup)
        #expect(error(Scalars.self, [0xC3, 0x02, 0x0E, 0xC4, 0x02]) == .invalidTag)
    }

    @Test func messagesNestedTooDeepAreRefused() {
        func trees(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce([]) { inner, _ in
                var size = inner.count
                var bytes: [UInt8] = [0x12]
                while size >= 0x80 {
                    bytes.append(UInt8(size & 0x7F) | 0x80)
                    size >>= 7
                }
                return bytes + [UInt8(size)] + inner
            }
        }
        #expect(error(Tree.self, trees(100)) == nil)
        #expect(error(Tree.self, trees(101)) == .tooDeep)
        #expect(error(Tree.self, trees(20_000)) == .tooDeep)
        let groups = { (depth: Int) in
            [UInt8](repeating: 0x4B, count: depth) + [UInt8](repeating: 0x4C, count: depth)
        }
        #expect(error(Tree.self, groups(100)) == nil)
        #expect(error(Tree.self, groups(101)) == .tooDeep)
        #expect(error(Tree.self, groups(100_000)) == .tooDeep)
    }

    /// Refused by its length alone: none of the two GiB is read, and no memory is behind them.
    @Test func messageOverTheSizeLimitIsRefused() {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ProtobufReader.sizeLimit + 1, alignment: 1)
        defer { bytes.deallocate() }
        #expect(throws: DecodingError.tooLarge) { try Tree(decoding: UnsafeRawBufferPointer(bytes)) }
    }

    /// A truncated message is either shorter by whole fields or an error.
    @Test func truncatedMessageIsRefused() throws {
        let bytes = Sample.repeateds.encoded() + Sample.maps.encoded(canonical: true)
        #expect(bytes.count > 400)
        for count in 0..<bytes.count {
            for type in [Repeateds.self, Maps.self, Choices.self, Tree.self] as [any Message.Type] {
                // These bytes may be a valid message of another type; then it has to be unchanged after encoding and decoding.
                guard let message = try? type.init(decoding: [UInt8](bytes[..<count])) else { continue }
                let once = message.encoded(canonical: true)
                #expect(try type.init(decoding: once).encoded(canonical: true) == once, "\(type), cut at \(count)")
            }
        }
        let whole = Sample.repeateds.encoded()
        var failures = 0
        for count in 0..<whole.count {
            guard let error = error(Repeateds.self, [UInt8](whole[..<count])) else { continue }
            #expect(error == .truncated, "cut at \(count)")
            failures += 1
        }
        let fields = 17 + Sample.repeateds.stringValue.count
        #expect(failures > whole.count - 2 * fields)
    }

    /// A known field number with another wire type is an unknown field.
    @Test func fieldsOfOtherWireTypesAreUnknown() throws {
        let values: [UInt32: [UInt8]] = [0: [0x07], 1: [1, 2, 3, 4, 5, 6, 7, 8], 2: [0x01, 0x61], 5: [1, 2, 3, 4]]
        let own: [UInt32: UInt32] = [1: 1, 2: 5, 9: 5, 10: 1, 11: 5, 12: 1, 14: 2, 15: 2]
        for number in UInt32(1)...15 {
            for (wireType, value) in values where wireType != own[number] ?? 0 {
                let bytes = [UInt8(number << 3 | wireType)] + value
                let message = try Scalars(decoding: bytes)
                #expect(message.unknownFields.withUnsafeBytes { [UInt8]($0) } == bytes)
                #expect(message.encoded() == bytes)
            }
        }
    }
}
