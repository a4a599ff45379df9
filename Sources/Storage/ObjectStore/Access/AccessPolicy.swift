package import Basics
package import Database
package import StoreProtocol

/// The decisions about credentials with a valid signature, made by the modules that own uploads and principals.
///
/// Evaluated once for every request, when its header arrives: one indexed read, no write.
package protocol AccessPolicy: Sendable {
    func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision

    /// Runs the statements of ``decide(_:in:)`` about an upload that do not depend on a result; see ``ReadConnection/together(_:)``.
    func readAhead(_ claims: CredentialClaims, in connection: ReadConnection) throws

    /// Returns the quota that the upload's owner would exceed with `bytes` more, as text for people; `nil` if it exceeds no quota.
    /// Evaluated when a body's header arrives, and again in the commit.
    func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String?

    /// Returns the catalog's tags of an upload's object; `nil` if it is not listed. The store itself keeps the tags of objects that
    /// static keys store.
    func tags(uploadID: String, in connection: ReadConnection) throws -> [String: String]?

    /// Records that a static key changed objects. Called in the transaction of the change.
    func record(_ change: StaticKeyChange, in transaction: Connection) throws

    /// Records that objects of a static key were removed because their retention ended.
    func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) throws

    /// Notes the time at which a client signed a request by its own clock. Called for each request whose signature is right.
    func noteClock(of claims: CredentialClaims, signedAt: UnixTime)

    /// Records a data-plane request for the upload. Called if a decision requires it.
    func recordActivity(uploadID: String, in transaction: Connection) throws
}

extension AccessPolicy {
    package func readAhead(_ claims: CredentialClaims, in connection: ReadConnection) throws {}

    package func noteClock(of claims: CredentialClaims, signedAt: UnixTime) {}
}

package enum AccessDecision: Sendable, Equatable {
    /// The request is allowed within the claims. `partSize` is the part size that was issued with the upload, in bytes; 0 = parts
    /// may have any size. `needsActivity`: the upload had no request so far, or none for at least a minute.
    case allowed(partSize: Int64, needsActivity: Bool)
    /// The upload was completed: only HEAD, GET, ListParts, and the Complete that already succeeded.
    case readOnly(needsActivity: Bool)
    /// Disabled, rotated or held: the response is AccessDenied, which clients do not retry.
    case denied
    /// Superseded, aborted, swept or deleted: clients start over.
    case noSuchUpload
}

/// A change of objects that a static key made, for the audit log.
package struct StaticKeyChange: Sendable {
    package let keyID: String
    /// E.g. `DeleteObject`.
    package let operation: String
    /// The client's address.
    package let peer: String
    package let bucket: String
    /// Keys of the objects; not empty.
    package let names: [String]
    /// The source of a copy, `bucket/key`.
    package var source: String?

    /// The keys of several objects, or the source of a copy, percent-encoded except for slashes: lines of the audit log separate them
    /// by spaces.
    package var ids: [String] {
        let texts = names.count > 1 ? names : source.map { [$0] } ?? []
        return texts.map { URLEncoding.encode($0, keepingSlashes: true) }
    }
}

extension AccessPolicy {
    package func tags(uploadID: String, in connection: ReadConnection) throws -> [String: String]? { nil }

    package func record(_ change: StaticKeyChange, in transaction: Connection) throws {}

    package func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) throws {}
}
