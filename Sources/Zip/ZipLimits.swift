/// The limits for reading an archive.
package struct ZipLimits: Sendable, Hashable {
    /// The number of entries, including directories.
    package var entries = 100_000
    /// The size of the central directory, which is held in memory, in bytes.
    package var directoryBytes: Int64 = 32 << 20
    /// The uncompressed size of all entries together, in bytes.
    package var totalBytes: Int64 = 64 << 30
    /// The uncompressed size of an entry divided by its compressed size, for entries above 64 KiB.
    package var ratio: Int64 = 200

    package init() {}

    /// The size up to which the ratio of an entry is not checked, in bytes.
    static let uncheckedRatioBytes: Int64 = 64 << 10
    /// The longest name of an entry, in bytes of UTF-8.
    package static let nameBytes = 255
}
