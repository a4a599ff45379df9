package import Basics
import Crypto

/// The rights of temporary credentials, which their security token contains with a MAC.
///
/// They are not stored. The ``AccessPolicy`` decides at every request whether they are still valid.
package struct CredentialClaims: Sendable, Equatable {
    package struct Operations: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Permits HEAD, GET and ListParts.
        package static let read = Operations(rawValue: 1)
        /// Permits PUT, multipart uploads and their abort.
        package static let write = Operations(rawValue: 2)
    }

    /// The party that requested the credentials. `epoch` is that of the key or user at the time of issue; disabling, holding and
    /// rotating increase it, so that a difference means that the credentials are revoked.
    package enum Subject: Sendable, Equatable {
        case apiKey(id: String, epoch: Int64)
        case user(id: Int64, epoch: Int64)
        /// A user or service account of SYSTEM, for any object; issued by InternalStorageService.
        case system(userID: Int64, epoch: Int64)
        /// The same for a program with a client certificate; such credentials end by expiry only.
        case certificate
        /// A key in the configuration; such claims are made for each request, and never issued.
        case staticKey(id: String)

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

    /// The party with its organization, to which the work for it is charged.
    package struct Holder: Sendable, Equatable {
        package let subject: Subject
        /// `nil` for programs and static keys, and in credentials of earlier versions.
        package let organizationID: Int64?

        package init(_ subject: Subject, of organizationID: Int64?) {
            self.subject = subject
            self.organizationID = organizationID
        }
    }

    /// The gateway's upload id; the claims are for its object.
    package let uploadID: String
    package let bucket: String
    package let key: String
    package let operations: Operations
    /// The expiry, in whole seconds.
    package let expiresAt: UnixTime
    package let holder: Holder

    package var subject: Subject { holder.subject }

    /// The owner under which work for the credentials is queued.
    package var workOwner: WorkOwner {
        switch subject {
        case .apiKey(let id, _): .apiKey(id, of: holder.organizationID)
        case .user(let id, _), .system(let id, _): .user(id, of: holder.organizationID)
        case .certificate: .program(subject.name)
        case .staticKey(let id): .staticKey(id)
        }
    }

    /// The resource of the claims, in the log.
    package var target: String { "uploads/\(uploadID)" }

    /// `bucket/key` of the object.
    package var location: String { "\(bucket)/\(key)" }

    package init(
        uploadID: String, bucket: String, key: String, operations: Operations, expiresAt: UnixTime, holder: Holder
    ) {
        self.uploadID = uploadID
        self.bucket = bucket
        self.key = key
        self.operations = operations
        self.expiresAt = UnixTime(seconds: expiresAt.seconds)
        self.holder = holder
    }
}

extension CredentialClaims {
    /// The place of the object that the credentials are for.
    var place: StoredObject.Place { StoredObject.Place(bucket: bucket, key: key, uploadID: uploadID) }
}
