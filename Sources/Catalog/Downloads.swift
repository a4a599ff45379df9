import Accounts
import Database
import ObjectStore
import Platform
import RPC

/// The rules of RequestDownload.
struct Downloads: Sendable {
    /// Longer than any that was ever issued.
    static let longestID = 128

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

    func request(_ fileIDs: [String], by caller: Caller) async throws -> Download {
        try check(fileIDs)
        let user = caller.user
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
        let now = clock.now()
        let expiresAt = UnixTime(seconds: now.seconds + lifetime)
        let files = try objects.map { object in
            let claims = CredentialClaims(
                uploadID: object.uploadID, bucket: object.bucket, key: object.key, operations: .read,
                expiresAt: expiresAt, subject: .user(id: user.userID, epoch: user.epoch))
            let request = try store.presignedGet(claims, at: endpoint, lifetime: lifetime)
            return (id: object.fileID, request: request)
        }
        // Before anybody can read: a download that the log does not have must not happen.
        try await database.write { connection in
            for id in fileIDs { try Audit.record(caller.did(to: "files/\(id)"), at: now, in: connection) }
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
