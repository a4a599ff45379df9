extension BinaryInteger {
    /// Returns the number in decimal with leading zeros up to `digits`: 7 padded to 2 is `07`. For numbers that are not negative.
    package func padded(to digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
