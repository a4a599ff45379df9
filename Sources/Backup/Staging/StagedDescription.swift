/// The description of a staged archive: `DIR/restore/description`.
struct StagedDescription: Codable, Sendable, Equatable {
    let stagingID: String
    /// The time of the backup in RFC 3339.
    let createdAt: String
    /// The size of the archive in bytes.
    let size: Int64
    let storeID: String
    let hasObjects: Bool
    /// The bytes of the objects in the archive.
    let objectBytes: Int64
    let missing: Int
    let damaged: Int
}
