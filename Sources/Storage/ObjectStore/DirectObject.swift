import Basics
import Crypto

/// An object that was put with a static key: not uploaded by a device, not in the catalog, with a key of the client's choice.
package enum DirectObject {
    private static let prefix = "direct-"

    /// Returns the value in place of other objects' upload id: one for each key.
    package static func uploadID(bucket: String, key: String) -> String {
        prefix + Hex.lower(Digest.sha256(Array("\(bucket)/\(key)".utf8)).prefix(16))
    }

    package static func isDirect(uploadID: String) -> Bool { uploadID.hasPrefix(prefix) }
}
