extension BinaryInteger {
    /// Decimal digits, with zeros before them up to `digits` in all: `7` padded to 2 is `07`. For numbers from 0 on.
    package func padded(to digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
