import HTTPClient
import ObjectStore
import StoreClient

/// The reason why an item was not copied, with its retryability.
struct CopyFailure: Error, Sendable, Hashable {
    /// The code for programs: `error_code` of the item.
    enum Code: String, Sendable {
        /// The object was deleted after the job was created.
        case sourceNotFound = "SOURCE_NOT_FOUND"
        /// The object is corrupted: its bytes no longer match its checksum.
        case sourceDamaged = "SOURCE_DAMAGED"
        /// The configuration no longer lists the destination.
        case destinationNotConfigured = "DESTINATION_NOT_CONFIGURED"
        /// The destination could not be reached within the time for retries.
        case destinationUnavailable = "DESTINATION_UNAVAILABLE"
        /// The destination refused the request: the credentials, the bucket, the certificate.
        case destinationRefused = "DESTINATION_REFUSED"
        /// The destination could not store the bytes.
        case destinationFailed = "DESTINATION_FAILED"
        /// The destination has other content under the key that no copy of the organization wrote.
        case destinationOccupied = "DESTINATION_OCCUPIED"
        case internalError = "INTERNAL_ERROR"
    }

    let code: Code
    /// The message for people; contains no secrets.
    let message: String
    let failureKind: FailureKind

    init(_ code: Code, _ message: String, _ failureKind: FailureKind) {
        self.code = code
        self.message = message
        self.failureKind = failureKind
    }

    init(_ error: any Error) {
        switch error {
        case let failure as CopyFailure: self = failure
        case TransferFailure.connection(let reason): self.init(.destinationUnavailable, reason, .transient())
        case TransferFailure.unusable(let reason): self.init(.destinationRefused, reason, .permanent)
        case let refusal as StoreRefusal: self.init(refusal)
        case let failure as FileDownload.LocalFailure:
            self.init(.destinationFailed, failure.messageWithoutPath, .transient())
        case StorageFailure.missing:
            self.init(.sourceNotFound, "the object cannot be read: its file is missing", .permanent)
        case let failure as StorageFailure:
            self.init(.sourceDamaged, "the object cannot be read: \(failure)", .permanent)
        default: self.init(.internalError, "the gateway failed", .transient())
        }
    }

    static let occupied = CopyFailure(
        .destinationOccupied,
        "the destination already has an object that this organization did not copy: use another key", .permanent)

    private init(_ refusal: StoreRefusal) {
        if ["PreconditionFailed", "FileAlreadyExists"].contains(refusal.code) {
            self = .occupied
            return
        }
        switch refusal.retryability {
        case .retry: self.init(.destinationUnavailable, "\(refusal)", .transient())
        case .sendAgain: self.init(.destinationFailed, "\(refusal)", .transient())
        // A multipart upload that was aborted elsewhere: another one is begun.
        case .startOver where refusal.code == "NoSuchUpload": self.init(.destinationFailed, "\(refusal)", .transient())
        case .startOver, .refreshCredentials, .adoptTime, .none:
            self.init(.destinationRefused, "\(refusal)", .permanent)
        }
    }
}
