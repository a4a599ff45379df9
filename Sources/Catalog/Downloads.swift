import Accounts
import Database
import ObjectStore
import Platform
import RPC

/// The rules of RequestDownload.
struct Downloads: Sendable {
    /// Longer than any that was ever issued.
    private static let longestID = 128

    let database: Database
    let store: ObjectStore
    let endpoint: StoreEndpoint
    let clock: any WallClock
    let configuration: CatalogConfiguration

    struct Download: Sendable {
        /// In the order of the request.
        let files: [(id: String, request: PresignedRequest)]
        let expiresAt: UnixTime
    }

    func request(_ fileIDs: [String], for user: UserPrincipal) throws -> Download {
        try check(fileIDs)
        let objects = try database.read { connection in
            let records = ObjectRecords(connection)
            return try fileIDs.map { id in
                guard let object = try records.object(fileID: id, scope: user.objectScope) else {
                    throw RPCError.notFound("there is no file \(id)")
                }
                return object
            }
        }
        let lifetime = configuration.downloadLifetime
        let expiresAt = UnixTime(seconds: clock.now().seconds + lifetime)
        let files = try objects.map { object in
            let claims = CredentialClaims(
                uploadID: object.uploadID, bucket: object.bucket, key: object.key, operations: .read,
                expiresAt: expiresAt, subject: .user(id: user.userID, epoch: user.epoch))
            let request = try store.presignedGet(claims, at: endpoint, lifetime: lifetime)
            return (id: object.fileID, request: request)
        }
        return Download(files: files, expiresAt: expiresAt)
    }

    private func check(_ fileIDs: [String]) throws(RPCError) {
        guard (1...configuration.downloadFiles).contains(fileIDs.count) else {
            throw .invalidArgument("file_ids must be 1 to \(configuration.downloadFiles) ids, not \(fileIDs.count)")
        }
        var seen: Set<String> = []
        for (index, id) in fileIDs.enumerated() {
            guard (1...Self.longestID).contains(id.utf8.count) else {
                throw .invalidArgument("file_ids[\(index)] must be 1 to \(Self.longestID) bytes")
            }
            guard seen.insert(id).inserted else { throw .invalidArgument("file_ids[\(index)] repeats \(id)") }
        }
    }
}
