import Database
import Platform
import Synchronization

/// The gateway's objects: bytes in a local directory, what they are in the database.
///
/// What a request was told to be stored survives `kill -9` and power loss: bytes are synced before their row commits,
/// and the row commits before the answer leaves. The order is written down in ``PartUpload``.
public final class ObjectStore: Sendable {
    public static let migrations = StoreRecords.migrations

    let database: Database
    let clock: any WallClock
    public let issuer: CredentialIssuer

    public init(
        directory: String, database: Database, keyring: Keyring, clock: any WallClock = SystemClock()
    ) throws {
        self.database = database
        self.clock = clock
        issuer = CredentialIssuer(keyring: keyring)
    }

    /// A URL to read one object with, `lifetime` seconds long at most; Range is allowed with it.
    ///
    /// - Parameter claims: their operations are narrowed to reading; the URL dies with them.
    public func presignedGet(
        _ claims: CredentialClaims, at endpoint: StoreEndpoint, lifetime: Int64
    ) throws -> PresignedRequest {
        let now = clock.now()
        let lifetime = min(lifetime, claims.expiresAt.seconds - now.seconds)
        let narrowed = CredentialClaims(
            uploadID: claims.uploadID, bucket: claims.bucket, key: claims.key, operations: .read,
            expiresAt: now.adding(seconds: lifetime), subject: claims.subject)
        return try PresignedRequest(
            method: "GET", bucket: claims.bucket, key: claims.key, credentials: issuer.issue(narrowed),
            endpoint: endpoint, at: now, lifetime: lifetime)
    }
}
