extension StringProtocol {
    /// Returns the longest beginning that has at most this number of bytes of UTF-8, without a part of a character.
    package func prefix(bytes: Int) -> String {
        var count = 0
        let kept = prefix {
            count += $0.utf8.count
            return count <= bytes
        }
        return String(kept)
    }
}
