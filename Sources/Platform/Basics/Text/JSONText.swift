/// Strings in JSON (RFC 8259, section 7). It is here because the log writes them, too; everything else of JSON is in the module
/// `JSON`.
package enum JSONText {
    /// The characters that are written as escapes.
    package enum Escapes {
        /// JSON requires these.
        case required
        /// JSON requires some, and the others could move a terminal's cursor or change the order of its characters.
        case unprintable
    }

    package static func quote(_ text: String, to output: inout [UInt8], escaping escapes: Escapes = .required) {
        output.append(UInt8(ascii: "\""))
        switch escapes {
        case .required: for byte in text.utf8 { append(byte, to: &output) }
        case .unprintable:
            for scalar in text.unicodeScalars {
                if scalar.isUnprintable, scalar.value >= 0x7F, scalar.value < 0x1_0000 {
                    escape(UInt16(scalar.value), to: &output)
                } else {
                    for byte in String(scalar).utf8 { append(byte, to: &output) }
                }
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
        case 0x0A: output += "\\n".utf8
        case 0x0D: output += "\\r".utf8
        case 0x09: output += "\\t".utf8
        case 0..<0x20: escape(UInt16(byte), to: &output)
        default: output.append(byte)
        }
    }

    private static func escape(_ unit: UInt16, to output: inout [UInt8]) {
        let digits = String(unit, radix: 16)
        output += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
    }
}

extension Unicode.Scalar {
    /// Whether the character is a control or would reorder or break the line around it.
    package var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
