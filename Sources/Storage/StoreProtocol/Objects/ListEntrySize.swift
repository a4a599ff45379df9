import Basics

/// The size of an entry of a list in XML, which is limited like the pages of other lists: 1,000 keys of 1 KiB can take 6 MiB.
package enum ListEntrySize {
    /// The largest size of an entry without its key: tags, times, ETag and owner.
    private static let rest = 512

    /// Returns the size in bytes that a key, escaped as the response requires, and the rest of its entry take at most.
    ///
    /// - Parameter encodesKey: whether the key is percent-encoded.
    package static func bytes(ofKey key: String, encodesKey: Bool) -> Int {
        if encodesKey { return rest + URLEncoding.encode(key, keepingSlashes: true).utf8.count }
        return key.utf8.reduce(rest) { $0 + bytes(of: $1) }
    }

    /// Returns the length of a byte of a text in XML: `&quot;` is the longest reference.
    private static func bytes(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "\r"): 6
        default: 1
        }
    }
}
