import Database
import StoreProtocol

extension StoreError {
    /// What anything that went wrong is to a client. Trouble that may pass is a 503: clients try again.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as RequestTarget.Malformed:
            self =
                switch error {
                case .target: StoreError(.invalidURI, "The URI could not be parsed.")
                case .bucket: StoreError(.invalidBucketName, "The bucket name is not valid.")
                case .key: StoreError(.invalidObjectName, "The object name is not valid.")
                }
        case StorageFailure.full, DatabaseError.full:
            self = StoreError(.serviceUnavailable, "There is no room to store this now.")
        case StorageFailure.unreadable, StorageFailure.other, DatabaseError.overloaded, DatabaseError.locked,
            DatabaseError.closed, DatabaseError.writerEnded:
            self = StoreError(.serviceUnavailable, "The service is unavailable now.")
        case is WritesInFlight.Revoked:
            self = StoreError(.serviceUnavailable, "The upload was changed by another request while this one was sent.")
        default:
            self = StoreError(.internalError, "We encountered an internal error.")
        }
    }
}
