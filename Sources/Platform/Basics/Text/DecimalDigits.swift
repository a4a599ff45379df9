extension FixedWidthInteger {
    /// Reads a number that consists of ASCII digits only, as protocols write it: the standard library's initializer also accepts
    /// a sign. Leading zeros are valid.
    ///
    /// - Returns: `nil` for any other text, and for a number that is too large for the type.
    package init?(decimal text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit), let number = Self(text) else { return nil }
        self = number
    }
}
