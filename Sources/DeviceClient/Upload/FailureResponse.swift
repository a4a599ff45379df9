import GatewayFormats
import HTTPClient
import Proto
import RPC
import StoreClient
import Wire

/// The reaction to an error of the gateway or the store. UNAVAILABLE, DEADLINE_EXCEEDED and INTERNAL, a broken connection, and the
/// store's 408, 429 and 5xx are temporary; no other error is.
enum FailureResponse: Equatable {
    /// Try again, not before this time.
    case retry(after: Duration?)
    /// Ask the gateway for the state of the upload: the state known here is outdated.
    case askForRecovery
    case none

    init(_ error: any Error) {
        switch error {
        case TransferFailure.connection: self = .retry(after: nil)
        case let refusal as StoreRefusal:
            switch refusal.retryability {
            case .retry, .sendAgain: self = .retry(after: nil)
            case .startOver: self = .askForRecovery
            case .adoptTime, .refreshCredentials, .none: self = .none
            }
        case let failure as CallFailure: self.init(failure)
        default: self = .none
        }
    }

    private init(_ failure: CallFailure) {
        switch failure.status.code {
        case .unavailable, .deadlineExceeded, .internalError:
            self = .retry(after: failure.status.retryAfterMilliseconds.map { .milliseconds($0) })
        case .notFound where failure.detail == .uploadNotFound: self = .askForRecovery
        // The upload is not in the state that this client assumes.
        case .failedPrecondition where failure.method.service == DataGatewayServiceMethods.completeUpload.service:
            self = .askForRecovery
        default: self = .none
        }
    }

    var failureKind: FailureKind {
        if case .retry(let after) = self { .transient(after: after) } else { .permanent }
    }
}
