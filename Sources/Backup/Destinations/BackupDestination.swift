/// The place for the archives of a schedule. Archives have names without slashes.
package protocol BackupDestination: Sendable {
    /// The name for people, without secrets.
    var name: String { get }

    /// Begins an archive, which gets its name when it is complete.
    func begin(_ archive: String, _ plan: ArchivePlan) async throws -> any ArchiveUpload

    /// Returns the size of a complete archive in bytes; `nil` if it does not exist.
    func size(of archive: String) async throws -> Int64?

    /// Reads the bytes of a complete archive from the first on. It blocks.
    func source(of archive: String) throws -> any ArchiveSource

    /// Removes a complete archive; one that does not exist counts as removed.
    func remove(_ archive: String) async throws

    /// Removes the remains of an archive that was not completed.
    ///
    /// - Parameter multipartID: the id that ``ArchivePlan/began`` received.
    func abandon(_ archive: String, multipartID: String?) async throws
}

/// The circumstances of an archive.
package struct ArchivePlan: Sendable {
    /// The approximate size of the archive in bytes.
    let expectedBytes: Int64
    /// Free bytes that an archive must leave on the disk of the gateway's data.
    let reservedBytes: Int64
    /// A folder for temporary files, on the disk of the gateway's data.
    let scratch: String
    /// Records the id of a multipart upload, so that it can be aborted after a crash.
    let began: @Sendable (_ multipartID: String) async throws -> Void
}

/// An archive that is being written to its destination.
package protocol ArchiveUpload: Sendable {
    /// Takes the next bytes.
    func receive(_ bytes: [UInt8]) async throws

    /// Makes the archive durable, and gives it its name.
    func finish() async throws

    /// Removes everything that was written.
    func abandon() async
}
