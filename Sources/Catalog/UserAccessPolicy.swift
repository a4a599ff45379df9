import Accounts
import Basics
import Database
import ObjectStore

/// What presigned URLs may still do: read an object that is there, for a user who may still sign in.
package struct UserAccessPolicy: AccessPolicy {
    package init() {}

    package func decide(_ claims: CredentialClaims, in connection: Connection) throws -> AccessDecision {
        guard case .user(let id, let epoch) = claims.subject,
            try Accounts.isLive(userID: id, epoch: epoch, in: connection)
        else { return .denied }
        return try ObjectRecords(connection).holdsObject(uploadID: claims.uploadID)
            ? .readOnly(needsActivity: false) : .noSuchUpload
    }

    /// Nothing is written with them.
    package func excess(_ claims: CredentialClaims, bytes: Int64, in connection: Connection) -> String? { nil }

    /// A download is nothing that an upload's session is about.
    package func recordActivity(uploadID: String, in transaction: Connection) {}
}
