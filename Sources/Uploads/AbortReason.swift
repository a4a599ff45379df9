/// Why an upload was given up, in the client's words.
enum AbortReason {
    /// In Unicode scalars.
    private static let longest = 512

    /// What is kept of it. A client whose abort is refused for its reason would be stuck, so it is cut instead.
    static func clipped(_ reason: String) -> String {
        let scalars = reason.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(longest)
        let text = String(String.UnicodeScalarView(scalars))
        return text.isEmpty ? "aborted by the client" : text
    }
}
