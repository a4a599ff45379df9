import TestSupport
import Testing
import Wire
import WireTesting

@testable import ProtobufJSON

/// The field of a message that has the character U+0000.
@Suite(.timeLimited) struct NullCharacterTests {
    private func path(_ message: some Message) throws -> String {
        let schema = try Schema(TestFiles.all)
        let name = type(of: message).fullName
        return message.encoded().withUnsafeBytes { bytes in
            schema.fieldWithNullCharacter(in: bytes, of: name).map(\.name).joined(separator: ".")
        }
    }

    @Test func fieldIsFoundAtAnyDepth() throws {
        #expect(try path(Scalars(stringValue: "a\0")) == "string_value")
        #expect(try path(Optionals(stringValue: "a", scalars: Scalars(stringValue: "\0"))) == "scalars.string_value")
        #expect(try path(Maps(texts: ["\0": ""])) == "texts")
        #expect(try path(Maps(nested: [1: Maps(texts: ["a": "\0"])])) == "nested")
        #expect(try path(Repeateds(stringValue: ["a", "b\0"])) == "string_value")
    }

    @Test func messageWithoutItHasNone() throws {
        #expect(try path(Scalars(int32Value: 0, stringValue: "a", bytesValue: [0])).isEmpty)
        #expect(try path(Optionals(stringValue: "")).isEmpty)
        let cut: [UInt8] = [0x72, 0x05, 0x00]
        let found = try Schema(TestFiles.all)
        #expect(cut.withUnsafeBytes { found.fieldWithNullCharacter(in: $0, of: Scalars.fullName).isEmpty })
    }
}
