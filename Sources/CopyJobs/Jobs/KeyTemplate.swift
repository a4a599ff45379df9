import GatewayAPI
import RPC
import StoreProtocol

/// The template of an item's key at its destination: a text in which `{file_id}` is replaced by the item's file id.
struct KeyTemplate: Sendable, Hashable {
    static let variable = "{file_id}"
    static let field = "destination.key_template"

    let text: String

    /// - Parameter text: an empty text means `{file_id}`.
    init(_ text: String) {
        self.text = text.isEmpty ? Self.variable : text
    }

    func key(of fileID: String) -> String {
        text.replacing(Self.variable, with: fileID)
    }

    /// Returns the keys of a job's items.
    ///
    /// - Throws: INVALID_ARGUMENT if a key is invalid or two are the same.
    func keys(of fileIDs: [String]) throws(RPCError) -> [String] {
        // Rejected before a long text is multiplied by the number of files; it would not make a valid key anyway.
        guard text.utf8.count <= 1023 else {
            throw .invalidArgument("\(Self.field) must be at most 1023 bytes")
        }
        var keys: [String] = []
        var seen: Set<String> = []
        for fileID in fileIDs {
            let key = key(of: fileID)
            guard ObjectName.isPortableKey(key) else {
                throw .invalidArgument(
                    """
                    \(Self.field) makes an invalid key from \(fileID): a key must be 1 to 1023 bytes, must not begin with / and must \
                    not contain the segments . and .., backslashes or control characters
                    """)
            }
            guard seen.insert(key).inserted else {
                throw .invalidArgument(
                    "\(Self.field) makes the same key for two files: it must contain \(Self.variable)")
            }
            keys.append(key)
        }
        return keys
    }
}
