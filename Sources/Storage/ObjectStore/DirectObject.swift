import Basics
import Crypto

/// An object that no device uploaded and no catalog lists: at a key that whoever put it chose.
package enum DirectObject {
    private static let prefix = "direct-"

    /// What stands where other objects have their upload's id: one for each key.
    package static func uploadID(bucket: String, key: String) -> String {
        prefix + Hex.lower(Digest.sha256(Array("\(bucket)/\(key)".utf8)).prefix(16))
    }

    package static func isOne(uploadID: String) -> Bool { uploadID.hasPrefix(prefix) }
}
