/// The limits of an archive that is read.
package struct ZipLimits: Sendable, Hashable {
    /// Entries, including directories.
    package var entries = 100_000
    /// Bytes of the central directory, which is held in memory.
    package var directoryBytes: Int64 = 32 << 20
    /// Uncompressed bytes of all entries together.
    package var totalBytes: Int64 = 64 << 30
    /// The uncompressed size of an entry divided by its compressed size, for entries above 64 KiB.
    package var ratio: Int64 = 200

    package init() {}

    /// The size up to which the ratio of an entry is not checked, in bytes.
    static let uncheckedRatioBytes: Int64 = 64 << 10
    /// The longest name of an entry, in bytes of UTF-8.
    package static let nameBytes = 255
}
