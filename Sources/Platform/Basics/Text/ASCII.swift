/// The classes of ASCII characters, by byte.
extension UInt8 {
    package var isASCIIDigit: Bool { self >= 0x30 && self <= 0x39 }

    package var isASCIILetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }

    package var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    package var isASCIILowercaseAlphanumeric: Bool { isASCIIDigit || self >= 0x61 && self <= 0x7A }

    /// Whether the byte is a printable character other than the space: `VCHAR` (RFC 5234, appendix B.1).
    package var isASCIIVisible: Bool { self >= 0x21 && self <= 0x7E }

    /// Whether the byte is a printable character or the space.
    package var isASCIIPrintable: Bool { self >= 0x20 && self <= 0x7E }

    package var isASCIILowercaseHexDigit: Bool { isASCIIDigit || self >= 0x61 && self <= 0x66 }

    /// Returns the lowercase letter of an uppercase one, and every other byte unchanged.
    package var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    /// The value of a hexadecimal digit in either case; `nil` for any other character.
    package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// Whether the byte may be part of a token (RFC 9110, section 5.6.2: `tchar`).
    package var isHTTPTokenCharacter: Bool { isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension StringProtocol {
    /// Whether the text has a Unicode control character.
    ///
    /// - Parameter permitsLines: whether line ends and tabs do not count, as in a text of several lines.
    package func hasControlCharacter(permitsLines: Bool = false) -> Bool {
        unicodeScalars.contains {
            $0.properties.generalCategory == .control && !(permitsLines && ["\n", "\t", "\r"].contains($0))
        }
    }
}

extension FixedWidthInteger {
    /// Reads a number that consists of ASCII digits only, as protocols write it: the standard library's initializer also accepts
    /// a sign. Leading zeros are valid.
    ///
    /// - Returns: `nil` for any other text, and for a number that is too large for the type.
    package init?(decimal text: some StringProtocol) {
        guard !text.isEmpty else { return nil }
        var number: Self = 0
        for digit in text.utf8 {
            guard digit.isASCIIDigit else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeWithDigit) = product.addingReportingOverflow(Self(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooLargeWithDigit else { return nil }
            number = sum
        }
        self = number
    }
}

extension BinaryInteger {
    /// Returns the number in decimal with leading zeros up to `digits`: 7 padded to 2 is `07`. For numbers that are not negative.
    package func padded(to digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
