import Accounts
import Basics
package import Database
import GatewayFormats
package import ObjectStore
import RPC
package import StoreProtocol

/// The rules of RequestDownload.
struct Downloads: Sendable {
    let database: Database
    let store: ObjectStore
    let endpoint: StoreEndpoint
    let clock: any WallClock
    let configuration: CatalogConfiguration

    struct Download: Sendable {
        /// The files, in the order of the request.
        let files: [File]
        let expiresAt: UnixTime
    }

    struct File: Sendable {
        let object: CatalogObject
        let name: FileName
        let request: PresignedRequest
    }

    /// - Parameters:
    ///   - seconds: the lifetime of the URLs; 0 = the configured one.
    ///   - isView: whether a person looks at the files; statistics do not count it.
    func request(
        _ fileIDs: [String], lifetime seconds: Int64 = 0, isView: Bool = false, by caller: Caller
    ) async throws -> Download {
        try FileIDs.check(fileIDs, limit: configuration.downloadFiles)
        let longest = configuration.longestDownloadLifetime.wholeSeconds
        guard seconds == 0 || (1...longest).contains(seconds) else {
            throw RPCError.invalidArgument("lifetime_seconds must be 0, or 1 to \(longest)")
        }
        let user = caller.user
        let (objects, names) =
            fileIDs.count <= PageLimit.rowsOnLoop
            ? try await database.read { try Self.find(fileIDs, for: user, in: $0) }
            : try await database.readInBackground { try Self.find(fileIDs, for: user, in: $0) }
        let lifetime = seconds == 0 ? configuration.downloadLifetime : .seconds(seconds)
        let now = clock.now()
        let expiresAt = UnixTime(seconds: now.seconds).adding(lifetime)
        let files = try objects.map { object in
            let claims = CredentialClaims(
                uploadID: object.uploadID, bucket: object.content.bucket, key: object.content.key, operations: .read,
                expiresAt: expiresAt, holder: .init(.user(id: user.userID, epoch: user.epoch), of: user.home.id))
            let name = names[object.fileID] ?? object.name(tags: [:])
            let request = try store.issuer.presignedGet(
                claims, at: endpoint, .init(from: clock.now(), for: lifetime),
                as: DownloadName(fileName: name.text, contentType: object.description.contentType))
            return File(object: object, name: name, request: request)
        }
        // Committed before the response: no download may be missing from the log.
        try await database.write(mayUseReserve: true) { connection in
            // The ids of the files, whichever ids the request has: who looks for the downloads of a file searches for its id.
            var entry = caller.did(to: objects.map(\.fileID), of: "files")
            if isView { entry.action = "ViewObjects" }
            try Audit.record(entry, at: now, in: connection)
            guard !isView else { return }
            for (organizationID, objects) in Dictionary(grouping: objects, by: \.owner.organizationID) {
                let amount = Amount(objects: Int64(objects.count), bytes: objects.reduce(0) { $0 + $1.content.size })
                try StatisticsRecords(connection).addRequested(amount, organizationID: organizationID, at: now)
            }
        }
        return Download(files: files, expiresAt: expiresAt)
    }

    /// Returns the objects, and the names of those that have none of their own.
    private static func find(
        _ fileIDs: [String], for user: UserPrincipal, in connection: ReadConnection
    ) throws -> (objects: [CatalogObject], names: [String: FileName]) {
        let records = ObjectRecords(connection)
        let objects = try records.objects(ids: fileIDs, scope: user.objectScope)
        var names: [String: FileName] = [:]
        for object in objects where object.description.name == nil {
            names[object.fileID] = try records.name(of: object)
        }
        return (objects, names)
    }
}

/// The current rights of users' presigned URLs: to read an existing object, as long as the user may sign in.
package struct UserAccessPolicy: AccessPolicy {
    package init() {}

    package func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
        guard case .user(let id, let epoch) = claims.subject,
            try Accounts.isLive(userID: id, epoch: epoch, in: connection)
        else { return .denied }
        return try ObjectRecords(connection).holdsObject(uploadID: claims.uploadID)
            ? .readOnly(needsActivity: false) : .noSuchUpload
    }

    /// Returns `nil`, because these URLs cannot write.
    package func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) -> String? { nil }

    /// Does nothing, because a download does not affect an upload's session.
    package func recordActivity(uploadID: String, in transaction: Connection) {}
}
