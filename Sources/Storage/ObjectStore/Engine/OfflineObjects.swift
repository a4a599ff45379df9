package import Basics
package import Database

/// A store while no gateway serves it, for repairs. The caller has locked the data directory.
package protocol OfflineObjects: Sendable {
    /// Whether the database was last used with the store.
    func belongs(to connection: ReadConnection) throws -> Bool
    /// Whether completed uploads of the store can be listed in the database; otherwise ``reconcile(_:isListed:)`` comes first.
    func permitsReadoption(to connection: ReadConnection) throws -> Bool
    /// Compares all rows and files; changes nothing.
    ///
    /// - Parameter checksums: whether every object is read.
    func compare(with connection: ReadConnection, checksums: Bool, _ report: (StoreFinding) throws -> Void) throws
    /// Returns the files in quarantine, in the order of their ids.
    func quarantined(_ connection: ReadConnection) throws -> [QuarantinedFile]
    /// Returns the files of completed uploads outside the quarantine that the database does not have.
    func lacking(_ connection: ReadConnection) throws -> [String]
    /// Returns the facts of a file, wherever the file is.
    func facts(of fileID: String) -> [UInt8]?
    func holdsFile(_ fileID: String) throws -> Bool

    /// Makes the store match a database whose rows may be older: completed uploads that the database does not have go into quarantine,
    /// nothing is removed, and from then on both belong together.
    ///
    /// - Parameter isListed: returns whether the catalog has an object with that file.
    /// - Returns: the number of files put into quarantine; `nil` if the store belongs to another database.
    func reconcile(_ database: Database, isListed: (ReadConnection, String) throws -> Bool) throws -> Int?
    /// Compares the bytes of a file with the stored ones, and runs `body` to write its rows.
    ///
    /// - Parameter isQuarantined: whether the file is in quarantine; if `body` throws, it stays there.
    func readopt(
        _ file: StoredFile, isQuarantined: Bool, _ database: Database,
        _ body: @escaping @Sendable (Connection) throws -> Void
    ) throws
    /// Called after the last ``readopt(_:isQuarantined:_:_:)``: if the database has all completed uploads, it and the store belong
    /// together from then on.
    func finishReadoption(_ database: Database) throws
    /// Permanently removes a file from quarantine.
    ///
    /// - Returns: whether there was one.
    func deleteQuarantined(_ fileID: String, _ database: () throws -> Database) throws -> Bool
}

/// A difference between a store and a database.
package enum StoreFinding: Sendable, Equatable {
    /// An object's file is missing or has another size.
    case missing(StoredFile)
    /// An object's file contains other bytes than were stored.
    case damaged(StoredFile)
    /// The file of an upload in progress is missing: the upload has to be restarted.
    case uploadWithoutFile(fileID: String)
    /// A finished object's file without a row, or with the row of an upload in progress.
    case unknown(fileID: String, size: Int64)
    /// A file whose rows were deleted, and which the gateway still has to remove.
    case scheduled(fileID: String, size: Int64)
    /// The file of an upload in progress without a row, or that of a copy whose commit did not happen. The next start removes
    /// it, the former when it is old.
    case stray(fileID: String, size: Int64)
}

/// A finished object's file without a row.
package struct QuarantinedFile: Sendable, Equatable {
    package let fileID: String
    /// The size in bytes.
    package let size: Int64
    /// The time of the last write to it.
    package let modifiedAt: UnixTime

    package init(fileID: String, size: Int64, modifiedAt: UnixTime) {
        self.fileID = fileID
        self.size = size
        self.modifiedAt = modifiedAt
    }
}

/// The reason why a file stays in quarantine.
package enum ReadoptionError: Error, Sendable, CustomStringConvertible {
    case alreadyExists
    case isDamaged

    package var description: String {
        switch self {
        case .alreadyExists: "the store already has another copy"
        case .isDamaged: "its bytes do not match its checksum"
        }
    }
}
