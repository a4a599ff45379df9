import Basics
import StoreProtocol

/// How objects are stored, and how much room they have.
package struct ObjectStoreConfiguration: Sendable {
    /// The largest object that one PUT makes; bytes.
    package var maximumPutBytes: Int64 = 5 << 30
    /// At a start, a file of an upload under way that no row speaks of any more is removed once it is older than this;
    /// to be longer than the longest upload session.
    package var orphanAge = Duration.days(30)
    package var directIO = DirectIO.probe
    /// While less is free where the store is, no upload begins; those under way go on down to
    /// ``minimumFreeBytesForBodies``. Bytes; 0 = no floor.
    package var minimumFreeBytes: Int64 = 1 << 30
    /// While less is free, bodies are refused, also of uploads under way; bytes.
    package var minimumFreeBytesForBodies: Int64 { FreeSpace.bodyFloor(of: minimumFreeBytes) }
    /// How many bytes are free at a path.
    var freeBytes: @Sendable (String) throws -> Int64 = FreeSpace.available
    /// Memory for the bodies that are being received, of all requests together; bytes.
    package var bufferBytes: Int64 = 256 << 20
    /// Keys of operators' own tools; their ids differ.
    package var staticKeys: [StaticKey] = []
    /// Buckets that are prefixes of the store's own; their names differ.
    package var buckets: [StoreBucket] = []
    var calls = FileCalls()
    /// What holds the bytes, for tests that put another engine in the place of the directory.
    var engine: @Sendable (DirectoryEngine) -> any ObjectEngine = { $0 }

    package init() {}
}
