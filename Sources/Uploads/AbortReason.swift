/// The client's reason for aborting an upload.
enum AbortReason {
    /// The limit in Unicode scalars.
    private static let longest = 512

    /// Returns the part of the reason that is stored. An invalid reason is shortened instead of refused, because a refused abort
    /// would leave the client stuck.
    static func clipped(_ reason: String) -> String {
        let scalars = reason.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(longest)
        let text = String(String.UnicodeScalarView(scalars))
        return text.isEmpty ? "aborted by the client" : text
    }
}
