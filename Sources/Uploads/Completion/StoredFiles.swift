import Basics
import Catalog
import Database
import GatewayAPI
import Proto
import RPC

/// The answers to devices and sites that ask which of their files they uploaded before.
struct StoredFiles: Sendable {
    /// The largest number of files in one request.
    static let most = 1000

    let database: Database
    let clock: any WallClock
    /// The time for which the records of deletions are kept.
    let retention: Duration

    /// - Throws: INVALID_ARGUMENT for a malformed request.
    func find(_ files: [LocalFile], of owner: ObjectOwner) async throws -> FindStoredFilesResponse {
        guard (1...Self.most).contains(files.count) else {
            throw RPCError.invalidArgument("files must have 1 to \(Self.most) entries, not \(files.count)")
        }
        let described = try files.enumerated().map { try Self.description(of: $1, number: $0) }
        let since = clock.now().subtracting(retention)
        let found = try await database.readInBackground { connection in
            let records = ObjectRecords(connection)
            return try described.map { try records.find($0, of: owner) }
        }
        return FindStoredFilesResponse(
            files: found.map { $0.map(StoredFileInfo.init) ?? StoredFileInfo(status: .unknown) },
            deletionsKnownSinceUnix: since.seconds)
    }

    private static func description(of file: LocalFile, number: Int) throws(RPCError) -> LocalFileDescription {
        let field = "files[\(number)]"
        guard file.sizeBytes >= 0 else {
            throw .invalidArgument("\(field).size_bytes must be at least 0, not \(file.sizeBytes)")
        }
        let crc64 = UInt64(file.crc64Ecma)
        guard file.crc64Ecma.isEmpty || crc64 != nil else {
            throw .invalidArgument("\(field).crc64_ecma must be a decimal number below 2^64, or empty")
        }
        guard file.fileID.utf8.count <= FileIDs.longest else {
            throw .invalidArgument("\(field).file_id must have at most \(FileIDs.longest) bytes")
        }
        let relativePath = RelativePath(file.relativePath)
        guard file.relativePath.isEmpty || relativePath != nil else {
            throw .invalidArgument("\(field).relative_path \(RelativePath.rule)")
        }
        return LocalFileDescription(
            path: relativePath?.text ?? FileName(file.fileName)?.text, size: file.sizeBytes, crc64: crc64,
            fileID: file.fileID)
    }
}

extension StoredFileInfo {
    fileprivate init(_ record: StoredFileRecord) {
        self.init(
            status: StoredFileStatus(record.state), fileID: record.fileID,
            crc64Ecma: record.crc64.map { String($0) } ?? "", verifiedAtUnix: record.verifiedAt.seconds)
    }
}

extension StoredFileStatus {
    fileprivate init(_ state: StoredFileRecord.State) {
        switch state {
        case .stored: self = .stored
        case .corrupted: self = .corrupted
        case .deleted: self = .deleted
        }
    }
}
