/// The request for the next start to replace the data: `DIR/restore/request`.
struct RestoreRequest: Codable, Sendable, Equatable {
    enum Source: Codable, Sendable, Equatable {
        case archive
        /// The previous data in a folder of the data directory.
        case previous(String)
    }

    let source: Source
    /// The person who confirmed it, e.g. `user:system/admin`.
    let requestedBy: String
}
