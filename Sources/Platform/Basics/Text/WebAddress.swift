package import FoundationEssentials

extension URLComponents {
    /// Parses a URL whose host may be the name of one: FoundationEssentials takes any characters for a host, because only ICU knows
    /// those of international names.
    package init?(webAddress text: String) {
        guard Self.hasHostCharacters(text) else { return nil }
        self.init(string: text)
    }

    /// Whether the part between `//` and the path has no characters that a host cannot have. Those of user and port may be the same.
    private static func hasHostCharacters(_ text: String) -> Bool {
        let scalars = Substring(text).unicodeScalars
        guard let slash = scalars.firstIndex(of: "/"), scalars[slash...].starts(with: "//".unicodeScalars) else {
            return true
        }
        let authority = scalars[slash...].dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        let name = host.first == "[" ? host.drop { $0 != "]" }.dropFirst() : host
        return name.allSatisfy(isOfHost) && PercentEscapes.decode(Array(String(name).utf8)) != nil
    }

    private static func isOfHost(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .privateUse, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        default: !#""<>[\]^`{|}"#.unicodeScalars.contains(scalar) && scalar != "\u{FFFD}"
        }
    }
}
