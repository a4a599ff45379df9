import Basics
package import Settings
import StoreProtocol

/// The settings of the object store: sizes, lifetimes, and limits of space and memory.
package struct ObjectStoreConfiguration: Sendable {
    /// The largest object from a single PUT, in bytes.
    package var maximumPutBytes: Int64 = 5 << 30
    /// The age at which a start removes a file of an upload in progress without a row; has to be longer than the longest upload
    /// session.
    package var orphanAge = Duration.days(30)
    /// The free bytes in the store below which no upload can begin; those in progress continue down to
    /// ``minimumFreeBytesForBodies``. 0 = no floor.
    package var minimumFreeBytes: Int64 = 1 << 30
    /// The free bytes below which bodies are refused, also of uploads in progress.
    package var minimumFreeBytesForBodies: Int64 { FreeSpace.bodyFloor(of: minimumFreeBytes) }
    /// The memory for bodies that are being received, of all requests together, in bytes.
    package var bufferBytes: Int64 = 256 << 20
    /// Whether other gateways write the same database, so that writers of an object are told apart by its row, see ``WriteOrder``.
    package var hasReplicas = false
    /// With replicas: the time for which files without rows are kept for downloads that began at another gateway.
    package var removalDelay = Duration.hours(1)
    /// The keys of operators' own tools; their ids differ.
    package var staticKeys: [StaticKey] = []
    /// The buckets that are prefixes of the store's own, with distinct names.
    package var buckets: [StoreBucket] = []

    package init() {}
}

extension ObjectStoreConfiguration {
    /// Reads the keys of the section `object_store` about the disk and the memory.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("object_store")
        minimumFreeBytes = section.integer(
            "min_free_bytes", default: minimumFreeBytes, in: 0...(1 << 50), unit: "bytes")
        bufferBytes = section.integer(
            "max_buffer_bytes", default: bufferBytes, in: (4 << 20)...(1 << 40), unit: "bytes")
    }
}
