import Basics

/// The properties of an object that terms compare; its tags are passed separately.
package struct FilterSubject: Sendable {
    package var id: String
    package var deviceID: String?
    package var siteID: Int64
    package var size: Int64
    /// Microseconds since 1970.
    package var createdAt: Int64
    /// The name in lower case; `nil` = it is derived from the tags.
    package var name: String?
    package var contentType = ""
    /// The path below the folder that was uploaded; empty if none was sent.
    package var path = ""
    package var isTrashed = false
    /// The time range of a recording in microseconds since 1970; `nil` = unknown, which no range contains.
    package var recordedFrom: Int64?
    package var recordedTo: Int64?
    /// The topics of a recording; `nil` = not read yet.
    package var topics: [String]?

    package init(id: String, deviceID: String?, siteID: Int64, size: Int64, createdAt: Int64, name: String?) {
        self.id = id
        self.deviceID = deviceID
        self.siteID = siteID
        self.size = size
        self.createdAt = createdAt
        self.name = name
    }
}

extension ResolvedFilter {
    /// Whether the object matches the filter.
    ///
    /// - Parameter tags: the object's tags; `nil` = unknown.
    /// - Returns: `nil` if the result depends on the name or the tags, and these are unknown.
    package func matches(_ object: FilterSubject, tags: [String: String]?) -> Bool? {
        Self.matches(root, object, tags)
    }

    private static func matches(_ expression: Expression, _ object: FilterSubject, _ tags: [String: String]?) -> Bool? {
        switch expression {
        case .term(let term): return matches(term, object, tags)
        case .not(let child): return matches(child, object, tags).map { !$0 }
        case .all(let children): return first(false, in: children, object, tags)
        case .any(let children): return first(true, in: children, object, tags)
        }
    }

    /// Returns `value` if a child has it, its opposite if no child can have it, else `nil`.
    private static func first(
        _ value: Bool, in children: [Expression], _ object: FilterSubject, _ tags: [String: String]?
    ) -> Bool? {
        var isKnown = true
        for child in children {
            let result = matches(child, object, tags)
            if result == value { return value }
            if result == nil { isKnown = false }
        }
        return isKnown ? !value : nil
    }

    private static func matches(_ term: Term, _ object: FilterSubject, _ tags: [String: String]?) -> Bool? {
        switch term {
        case .isVerified: true
        case .tag(let key, let value): tags.map { hasTag(key, value, in: $0) }
        case .device(let pattern): pattern.matches(object.deviceID ?? "")
        case .site(let id): object.siteID == id
        case .objectID(let id): object.id == id
        case .size(let interval): interval.contains(object.size)
        case .created(let interval): interval.contains(object.createdAt)
        case .recorded(let interval): interval.contains(object.recordedFrom ?? object.createdAt)
        case .recordedFrom(let interval): object.recordedFrom.map(interval.contains) ?? false
        case .recordedTo(let interval): object.recordedTo.map(interval.contains) ?? false
        case .topic(let pattern): object.topics.map { $0.contains(where: pattern.matches) }
        case .name(let pattern): object.name.map(pattern.matches)
        case .contentType(let pattern): pattern.matches(object.contentType)
        case .path(let pattern): pattern.matches(object.path)
        case .folder(let folder): isFile(object.path, in: folder)
        case .trashed(let isTrashed): object.isTrashed == isTrashed
        case .devices(let ids): object.deviceID.map(ids.contains) ?? false
        case .sites(let ids): ids.contains(object.siteID)
        case .word(let word):
            if let name = object.name, NameParts.name(name, has: word) {
                true
            } else {
                hasBeginning(word, object, tags)
            }
        case .begins(let text): hasBeginning(text, object, tags)
        }
    }

    private static func isFile(_ path: String, in folder: String) -> Bool {
        let (path, folder) = (path.utf8, folder.utf8)
        return path.starts(with: folder) && path.dropFirst(folder.count).first == UInt8(ascii: "/")
    }

    /// By bytes, as the index compares: a dictionary also finds other keys that Unicode takes for the same.
    private static func hasTag(_ key: String, _ value: String, in tags: [String: String]) -> Bool {
        guard let index = tags.index(forKey: key) else { return false }
        return tags[index].key.isExactly(key) && tags[index].value.isExactly(value)
    }

    private static func hasBeginning(_ text: String, _ object: FilterSubject, _ tags: [String: String]?) -> Bool? {
        let pattern = ObjectFilter.Pattern.prefix(text)
        if let name = object.name, pattern.matches(name) { return true }
        if let device = object.deviceID, pattern.matches(device.lowercasedByScalar) { return true }
        guard object.name != nil else { return nil }
        return tags.map { $0.values.contains { pattern.matches($0.lowercasedByScalar) } }
    }
}

extension String {
    /// The text in lower case by Unicode's mapping of single scalars, which is the same on every platform and in every locale.
    package var lowercasedByScalar: String {
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return String(unsafeUninitializedCapacity: utf8.count) { lowered in
                for (offset, byte) in utf8.enumerated() {
                    lowered.initializeElement(at: offset, to: byte.asciiLowercased)
                }
                return utf8.count
            }
        }
        var lowered = ""
        for scalar in unicodeScalars { lowered += scalar.properties.lowercaseMapping }
        return lowered
    }
}
