import Wire
import WireTesting

@testable import Protobuf

/// Messages with a value in every field.
enum Sample {
    static let scalars = Scalars(
        doubleValue: 1.5, floatValue: -2.25, int32Value: -3, int64Value: 4_000_000_000, uint32Value: 5,
        uint64Value: .max,
        sint32Value: -7, sint64Value: .min, fixed32Value: 9, fixed64Value: 10, sfixed32Value: -11, sfixed64Value: -12,
        boolValue: true, stringValue: "naïve", bytesValue: [0, 1, 255], colour: .red)

    static let repeateds = Repeateds(
        doubleValue: [0, -1.5, .infinity], floatValue: [1, .greatestFiniteMagnitude], int32Value: [0, -1, .max],
        int64Value: [.min, .max, 1 << 35], uint32Value: [0, .max], uint64Value: [127, 128, 16383, 16384],
        sint32Value: [-1, 1], sint64Value: [.min, 0], fixed32Value: [1, 2, 3], fixed64Value: [4], sfixed32Value: [-5],
        sfixed64Value: [-6, .max], boolValue: [true, false, true], stringValue: ["", "one", "a longer one: 20 bytes"],
        bytesValue: [[], [1, 2, 3]], colour: [.red, .unrecognized(9), .infrared],
        scalars: [Scalars(), scalars, scalars],
        unpacked: [1, 300])

    static let maps = Maps(
        texts: ["": "", "key": "value", "z": "zz"], colours: [-1: .green, 0: .unspecified],
        blobs: [true: [1], false: []], doubles: [.min: 0.5], nested: [7: Maps(texts: ["inner": "map"]), 8: Maps()],
        numbers: [-1: .max])
}
