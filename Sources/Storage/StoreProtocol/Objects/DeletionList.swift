import XML

/// The document of DeleteObjects: at most 1,000 keys.
package struct DeletionList: Equatable {
    package struct Item: Equatable {
        package let key: String
        /// The required ETag of the object; `nil` = any.
        package let etag: String?
        /// The version that the item names; empty = none. Only `null` is one of an object.
        package let version: String

        /// Whether the item names a version that no object has.
        package var namesOtherVersion: Bool { !["", ObjectListQuery.version].contains(version) }
        /// The element of a condition that the store does not check; `nil` = none.
        package let otherCondition: String?
    }

    package static let maximumCount = 1000
    /// The size of 1,000 escaped keys of 1,024 bytes.
    package static let maximumBytes = 2 << 20

    package let items: [Item]
    /// Whether only errors are reported.
    package let isQuiet: Bool

    /// - Throws: `malformedXML`, also if there are no keys or too many.
    package init(xml body: [UInt8]) throws(StoreError) {
        guard let list = try? Self.read(body), !list.items.isEmpty else { throw CompletionList.malformed }
        items = list.items
        isQuiet = list.isQuiet
    }

    private static func read(_ body: [UInt8]) throws(XMLError) -> (items: [Item], isQuiet: Bool)? {
        var reader = try XMLReader(body, maximumBytes: maximumBytes)
        var items: [Item] = []
        var isQuiet = false
        var path: [String] = []
        var text = ""
        var key: String?
        var etag: String?
        var version = ""
        var otherCondition: String?
        while let event = try reader.next() {
            switch event {
            case .start(let name):
                path.append(name)
                text = ""
                guard path.count <= 3, path.first == "Delete" else { return nil }
            case .text(let piece): text += piece
            case .end:
                switch path.dropFirst() {
                case ["Quiet"]: isQuiet = text.trimming(\.isWhitespace).lowercased() == "true"
                // Of two keys one would be passed over.
                case ["Object", "Key"] where key != nil: return nil
                case ["Object", "Key"]: key = text
                case ["Object", "ETag"]: etag = text.trimming(\.isWhitespace)
                case ["Object", "VersionId"]: version = text.trimming(\.isWhitespace)
                // LastModifiedTime, Size, and what later versions of the protocols may add: an unknown condition is not fulfilled.
                case _ where path.count == 3 && path[1] == "Object": otherCondition = path.last
                case ["Object"]:
                    guard let name = key, items.count < maximumCount else { return nil }
                    items.append(
                        Item(
                            key: name, etag: etag, version: version, otherCondition: otherCondition))
                    (key, etag, version, otherCondition) = (nil, nil, "", nil)
                default: break
                }
                path.removeLast()
                text = ""
            }
        }
        return (items, isQuiet)
    }
}
