import Wire

/// The codes that clients branch on, as they travel in `archebase.common.v1.ErrorDetail.code`.
public enum DetailCode: String, Sendable, Hashable, CaseIterable {
    case authInvalidCredential = "AUTH_INVALID_CREDENTIAL"
    case authKeyDisabled = "AUTH_KEY_DISABLED"
    case authKeyExpired = "AUTH_KEY_EXPIRED"
    case authSiteDisabled = "AUTH_SITE_DISABLED"
    case authInternalError = "AUTH_INTERNAL_ERROR"
    case unauthenticated = "DATA_GATEWAY_UNAUTHENTICATED"
    case uploadNotFound = "DATA_GATEWAY_UPLOAD_NOT_FOUND"
    case uploadNotOwned = "DATA_GATEWAY_UPLOAD_NOT_OWNED"
    case uploadNotRefreshable = "DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE"
    case invalidArgument = "DATA_GATEWAY_INVALID_ARGUMENT"
    case failedPrecondition = "DATA_GATEWAY_FAILED_PRECONDITION"
    case stsUnavailable = "DATA_GATEWAY_STS_UNAVAILABLE"
    case internalError = "DATA_GATEWAY_INTERNAL_ERROR"
    case deviceIDInvalid = "DATA_GATEWAY_DEVICE_ID_INVALID"
    case deviceNotFound = "DATA_GATEWAY_DEVICE_NOT_FOUND"
    case deviceNotReady = "DATA_GATEWAY_DEVICE_NOT_READY"
    case deviceAlreadyInitialized = "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED"
    case deviceNotInitialized = "DATA_GATEWAY_DEVICE_NOT_INITIALIZED"
    case rateLimited = "DATA_GATEWAY_RATE_LIMITED"
    case overloaded = "DATA_GATEWAY_OVERLOADED"

    /// The status that a code always travels with.
    public var status: StatusCode {
        switch self {
        case .authInvalidCredential, .authKeyDisabled, .authKeyExpired, .authSiteDisabled, .unauthenticated:
            .unauthenticated
        case .authInternalError, .internalError: .internalError
        case .uploadNotFound, .deviceNotFound: .notFound
        case .uploadNotOwned: .permissionDenied
        case .invalidArgument, .deviceIDInvalid: .invalidArgument
        case .uploadNotRefreshable, .failedPrecondition, .deviceNotReady, .deviceAlreadyInitialized,
            .deviceNotInitialized:
            .failedPrecondition
        case .stsUnavailable, .rateLimited, .overloaded: .unavailable
        }
    }
}
