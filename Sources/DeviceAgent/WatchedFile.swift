import DeviceClient

/// A file in one of the directories of the configuration.
struct WatchedFile: Sendable {
    let source: SourceIdentity
    let relativePath: String
    /// The number of the directory in the configuration.
    let directory: Int
}
