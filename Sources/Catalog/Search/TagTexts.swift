import ObjectFilters

/// The tags of an object in one text, so that counting them reads no further rows: keys and values in turn, each followed by a
/// separator that tags seldom contain.
struct TagTexts {
    /// The unit separator of ASCII.
    private static let separator: UInt8 = 0x1F
    /// The size in bytes of the longest text, so that rows of objects stay short.
    private static let longest = 512

    /// Returns the text; `nil` if a tag contains the separator, or the text is longer than 512 bytes.
    static func text(of tags: [String: String]) -> String? {
        var bytes: [UInt8] = []
        for (key, value) in tags.sorted(by: { $0.key < $1.key }) {
            for part in [key, value] {
                guard !part.utf8.contains(separator) else { return nil }
                bytes += part.utf8
                bytes.append(separator)
            }
        }
        return bytes.count > longest ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `body` with each tag of a text: the key, the separator and the value.
    static func forEachTag(in text: String, _ body: (Substring) -> Void) {
        let bytes = text.utf8
        var start = bytes.startIndex
        while let middle = bytes[start...].firstIndex(of: separator),
            let end = bytes[bytes.index(after: middle)...].firstIndex(of: separator)
        {
            body(text[start..<end])
            start = bytes.index(after: end)
        }
    }

    /// Returns the key and the value of a tag that ``forEachTag(in:_:)`` found.
    static func tag(_ text: Substring) -> (key: String, value: String) {
        let key = text.utf8.prefix { $0 != separator }
        return (String(Substring(key)), String(Substring(text.utf8[key.endIndex...].dropFirst())))
    }
}

/// The texts of an object that a filter's terms compare; other texts need not be read.
struct FilterTexts: Sendable, Hashable {
    let hasID: Bool
    /// Needed for names too, because a name may be derived from the device.
    let hasDevice: Bool
    let hasName: Bool
    let hasContentType: Bool
    let hasPath: Bool
    let hasRecordedTimes: Bool
    let hasTopics: Bool

    init(_ filter: ResolvedFilter) {
        hasID = filter.contains { if case .objectID = $0 { true } else { false } }
        hasDevice = filter.contains { term in
            switch term {
            case .device, .devices, .word, .begins, .name: true
            default: false
            }
        }
        hasName = filter.contains { term in
            switch term {
            case .name, .word, .begins: true
            default: false
            }
        }
        hasContentType = filter.contains { if case .contentType = $0 { true } else { false } }
        hasPath = filter.contains { term in
            switch term {
            case .path, .folder: true
            default: false
            }
        }
        hasRecordedTimes = filter.contains { term in
            switch term {
            case .recorded, .recordedFrom, .recordedTo: true
            default: false
            }
        }
        hasTopics = filter.contains { if case .topic = $0 { true } else { false } }
    }
}
