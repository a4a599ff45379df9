import TestSupport
import Testing
import Wire
import WireTesting

@testable import Protobuf

/// Encodings from the protobuf documentation and other implementations.
@Suite(.timeLimited) struct GoldenBytesTests {
    private static let text = "héllo, 世界 🤖 longer than fifteen"

    @Test func everyScalarHasItsGoldenBytes() throws {
        let cases: [(Scalars, [UInt8])] = [
            (Scalars(), []),
            (Scalars(doubleValue: 1), [0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
            (Scalars(doubleValue: -0.0), [0x09, 0, 0, 0, 0, 0, 0, 0, 0x80]),
            (Scalars(floatValue: 0.5), [0x15, 0, 0, 0, 0x3F]),
            (Scalars(int32Value: 150), [0x18, 0x96, 0x01]),
            (Scalars(int32Value: -1), [0x18] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
            (Scalars(int64Value: .min), [0x20] + [UInt8](repeating: 0x80, count: 9) + [0x01]),
            (Scalars(uint32Value: .max), [0x28, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
            (Scalars(uint64Value: .max), [0x30] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
            (Scalars(sint32Value: -1), [0x38, 0x01]),
            (Scalars(sint32Value: .min), [0x38, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
            (Scalars(sint64Value: 2_147_483_647), [0x40, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F]),
            (Scalars(sint64Value: .min), [0x40] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
            (Scalars(fixed32Value: 1), [0x4D, 1, 0, 0, 0]),
            (Scalars(fixed64Value: 0x0102_0304_0506_0708), [0x51, 8, 7, 6, 5, 4, 3, 2, 1]),
            (Scalars(sfixed32Value: -2), [0x5D, 0xFE, 0xFF, 0xFF, 0xFF]),
            (Scalars(sfixed64Value: -2), [0x61, 0xFE] + [UInt8](repeating: 0xFF, count: 7)),
            (Scalars(boolValue: true), [0x68, 1]),
            (Scalars(stringValue: "testing"), [0x72, 7] + "testing".utf8),
            (Scalars(stringValue: Self.text), [0x72, 39] + Self.text.utf8),
            (Scalars(bytesValue: [0, 0xFF]), [0x7A, 2, 0, 0xFF]),
            (Scalars(colour: .green), [0x80, 0x01, 0x02]),
            (Scalars(colour: .infrared), [0x80, 0x01] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
            (Scalars(colour: .unrecognized(77)), [0x80, 0x01, 77]),
        ]
        for (message, bytes) in cases {
            #expect(message.encoded() == bytes)
            #expect(try Scalars(decoding: bytes) == message)
        }
    }

    @Test func varintSizeFollowsFromItsBits() {
        for bits in 0..<64 {
            let value: UInt64 = 1 << UInt64(bits)
            #expect(Varint.size(value) == bits / 7 + 1)
            #expect(Varint.size(value - 1) == max(bits - 1, 0) / 7 + 1)
        }
        #expect(Varint.size(.max) == 10)
    }

    @Test func encodingReservesBytesInFront() {
        #expect(Scalars(boolValue: true).encoded(reserving: 5) == [0, 0, 0, 0, 0, 0x68, 1])
        #expect(Scalars().encoded(reserving: 5) == [0, 0, 0, 0, 0])
    }
}
