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
