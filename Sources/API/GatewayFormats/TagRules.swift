import Basics
package import RPC

/// The limits of tags from all sources: clients refuse a response that exceeds them.
package enum TagRules {
    /// The number of all tags of an object together: the device's, the user's and the file name's.
    package static let maximumOfObject = 256
    /// The number of a device's tags, which leaves space for a user's tags.
    package static let maximumOfDevice = 192
    /// The length of a key in bytes of UTF-8.
    package static let keyLength = 1...64
    /// The length of a value in bytes of UTF-8.
    package static let valueLength = 0...2048

    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    package static func check(_ tags: [String: String], field: String, maximum: Int) throws(RPCError) {
        guard tags.count <= maximum else {
            throw .invalidArgument("\(field) must have at most \(maximum) entries, not \(tags.count)")
        }
        for (key, value) in tags {
            guard keyLength.contains(key.utf8.count) else {
                throw .invalidArgument("a key of \(field) must be 1 to 64 bytes")
            }
            guard !key.hasControlCharacter() else {
                throw .invalidArgument("a key of \(field) must not contain control characters")
            }
            guard valueLength.contains(value.utf8.count) else {
                throw .invalidArgument("\(field)[\(key)] must be at most 2048 bytes")
            }
            guard !value.hasControlCharacter() else {
                throw .invalidArgument("\(field)[\(key)] must not contain control characters")
            }
        }
    }
}
