import Basics
import ObjectStore
package import Settings

/// The settings of the directory for objects.
package struct DirectoryConfiguration: Sendable {
    package var directIO = DirectIO.probe
    /// Returns the number of free bytes at a path.
    var freeBytes: @Sendable (String) throws -> Int64 = Self.available
    var calls = FileCalls()

    package init() {}

    /// Reads the keys of the section `object_store` about the directory.
    package init(_ settings: SettingsReader) {
        directIO = settings.section("object_store").flag("direct_io", default: true) ? .probe : .off
    }

    /// Returns the bytes that this process can still write to a file system.
    static func available(at path: String) throws(StorageFailure) -> Int64 {
        guard let bytes = DiskSpace.available(at: path) else { throw .last() }
        return bytes
    }
}
