import Crypto

/// The digests by which rows are counted for the address that made them. The address itself is not stored.
struct RowOrigins: Sendable {
    private static let length = 16

    private let key: [UInt8]

    /// - Parameter key: 32 bytes, for this purpose only.
    init(key: [UInt8]) {
        self.key = key
    }

    /// - Parameter address: the address as limits count it.
    func digest(of address: String) -> [UInt8] {
        Array(HMAC.sha256(key: key, Array(address.utf8)).prefix(Self.length))
    }
}
