import Accounts
import Basics
package import Database
package import ObjectStore

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
