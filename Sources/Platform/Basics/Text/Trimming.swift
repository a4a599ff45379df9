/// Removal of characters around a text, code point by code point: a space before a combining character is removed, too.
extension StringProtocol {
    /// Returns the text without spaces and tabs at its beginning and end.
    package func trimmingSpaces() -> String { trimming(scalars: \.isSpaceOrTab) }

    /// Returns the text without spaces, tabs and line ends at its beginning and end.
    package func trimmingSpacesAndLineEnds() -> String {
        trimming(scalars: { $0.isSpaceOrTab || $0.isLineEnd })
    }

    /// Returns the text without such code points at its beginning and end.
    package func trimming(scalars isRemoved: (Unicode.Scalar) -> Bool) -> String {
        let scalars = Substring(self).unicodeScalars
        let rest = scalars.drop(while: isRemoved)
        guard let last = rest.lastIndex(where: { !isRemoved($0) }) else { return "" }
        return String(rest[...last])
    }
}

extension Unicode.Scalar {
    /// Whether it is a tab, a space of any width (general category Zs), or the zero-width space.
    fileprivate var isSpaceOrTab: Bool {
        self == "\t" || self == "\u{200B}" || properties.generalCategory == .spaceSeparator
    }

    /// Whether it ends a line (Unicode, UAX #14: the classes BK, CR, LF and NL).
    fileprivate var isLineEnd: Bool {
        switch value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
