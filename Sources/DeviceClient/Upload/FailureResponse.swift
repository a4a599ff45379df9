import GatewayErrors
import HTTPClient
import Proto
import RPC
import StoreClient
import Wire

/// What is done about a failure, whoever it is from: UNAVAILABLE, DEADLINE_EXCEEDED and INTERNAL pass, as do a
/// connection that breaks and the store's 408, 429 and 5xx; nothing else does.
enum FailureResponse: Equatable {
    /// The same again, not before so long.
    case retry(after: Duration?)
    /// The gateway is asked how the upload stands: what is known here is out of date.
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
        // Of an upload: it is not in the state that this side thinks it is in.
        case .failedPrecondition where failure.method.service == DataGatewayServiceMethods.completeUpload.service:
            self = .askForRecovery
        default: self = .none
        }
    }

    var failureKind: FailureKind {
        if case .retry(let after) = self { .transient(after: after) } else { .permanent }
    }
}
