/// The text of an address, without `http://` or `https://` in front of it and a slash behind it.
package struct AddressText: Sendable, Hashable {
    /// Whether the scheme was `https`; `nil` = the text has no scheme.
    package let isSecure: Bool?
    package let rest: String

    package init(_ text: String) {
        let scheme = ["http", "https"].first { text.hasPrefix("\($0)://") }
        let rest = scheme.map { text.dropFirst($0.count + 3) } ?? text[...]
        isSecure = scheme.map { $0 == "https" }
        self.rest = String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    }
}
