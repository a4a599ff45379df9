import Basics
import Crypto

/// What a set of temporary credentials may do: the statement that its security token carries under a MAC.
///
/// Nothing of it is stored. Whether it still holds is asked of the ``AccessPolicy`` at every request.
package struct CredentialClaims: Sendable, Equatable {
    package struct Operations: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// HEAD, GET and ListParts.
        package static let read = Operations(rawValue: 1)
        /// PUT, multipart uploads and their abort.
        package static let write = Operations(rawValue: 2)
    }

    /// The party that asked for the credentials. `epoch` is that of the key or user when they were issued; whatever
    /// disables, holds or rotates it raises the epoch, so that a difference means that the credentials are dead.
    package enum Subject: Sendable, Equatable {
        case apiKey(id: String, epoch: Int64)
        case user(id: Int64, epoch: Int64)
        /// A user or service account of SYSTEM, for any object: what InternalStorageService issues.
        case system(userID: Int64, epoch: Int64)
        /// The same for a program that a certificate vouched for; nothing but time ends it.
        case certificate
        /// A key of the configuration; such claims are made for each request, and never issued.
        case staticKey(id: String)

        /// The owner under which it waits.
        var workOwner: WorkOwner {
            switch self {
            case .apiKey(let id, _): .apiKey(id)
            case .user(let id, _), .system(let id, _): .other("user:\(id)")
            case .certificate: .other(name)
            case .staticKey(let id): .staticKey(id)
            }
        }

        /// The subject's name in the log.
        package var name: String {
            switch self {
            case .apiKey(let id, _): "api_key:\(id)"
            case .user(let id, _), .system(let id, _): "user:\(id)"
            case .certificate: "certificate"
            case .staticKey(let id): "static_key:\(id)"
            }
        }
    }

    /// The gateway's upload id, whose one object this is.
    package let uploadID: String
    package let bucket: String
    package let key: String
    package let operations: Operations
    /// Kept in whole seconds.
    package let expiresAt: UnixTime
    package let subject: Subject

    /// The resource that the claims reach, in the log.
    package var target: String { "uploads/\(uploadID)" }

    package init(
        uploadID: String, bucket: String, key: String, operations: Operations, expiresAt: UnixTime, subject: Subject
    ) {
        self.uploadID = uploadID
        self.bucket = bucket
        self.key = key
        self.operations = operations
        self.expiresAt = UnixTime(seconds: expiresAt.seconds)
        self.subject = subject
    }
}
