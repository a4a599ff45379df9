/// The MAC with which the gateway shows a device that a message comes from somebody who has the device's key.
package enum DeviceMAC {
    private static let info = "data-gateway address announcement 1"

    /// Returns the 32 bytes of HMAC-SHA256 of the message. Its key is HKDF-SHA256 (RFC 5869) of the credential.
    package static func addressAnnouncement(_ message: [UInt8], credential: String) -> [UInt8] {
        // Extract without a salt, and one block of Expand (RFC 5869, sections 2.2 and 2.3).
        let extracted = HMAC.sha256(key: [UInt8](repeating: 0, count: 32), Array(credential.utf8))
        return HMAC.sha256(key: HMAC.sha256(key: extracted, Array(info.utf8) + [1]), message)
    }
}
