import Basics
import Database

/// The decision of the modules that own uploads and principals about credentials whose signature was right.
///
/// Asked once for every request, when its header arrives: one indexed read, no write.
package protocol AccessPolicy: Sendable {
    func decide(_ claims: CredentialClaims, in connection: Connection) throws -> AccessDecision

    /// What the upload's owner would have too much of with `bytes` more stored, in words for people; nil where there is
    /// room. Asked when a body's header arrives, and again in the commit.
    func excess(_ claims: CredentialClaims, bytes: Int64, in connection: Connection) throws -> String?

    /// The tags that a catalog has of an upload's object; `nil` = it lists none. Tags of what static keys store are kept by
    /// the store.
    func tags(uploadID: String, in connection: Connection) throws -> [String: String]?

    /// A static key changed objects. Called in the transaction that does.
    func record(_ change: StaticKeyChange, in transaction: Connection) throws

    /// Objects of a static key's went since they had been kept as long as is configured.
    func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) throws

    /// The upload was touched by a data-plane request. Called when a decision said so.
    func recordActivity(uploadID: String, in transaction: Connection) throws
}

package enum AccessDecision: Sendable, Equatable {
    /// The request is allowed as far as the claims reach. `partSize` is the one issued with the upload, in bytes; 0 =
    /// none was, a part may have any. `needsActivity`: the upload was never touched before, or a minute ago at least.
    case allowed(partSize: Int64, needsActivity: Bool)
    /// The upload was completed: HEAD, GET, ListParts, and the Complete that already succeeded.
    case readOnly(needsActivity: Bool)
    /// Disabled, rotated, held: answered as AccessDenied, which clients do not retry.
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
}

extension AccessPolicy {
    package func tags(uploadID: String, in connection: Connection) throws -> [String: String]? { nil }

    package func record(_ change: StaticKeyChange, in transaction: Connection) throws {}

    package func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) throws {}
}
