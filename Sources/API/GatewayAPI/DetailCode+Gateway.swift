import RPC

/// The codes of the gateway's errors, each with the status that it always travels with.
extension DetailCode {
    public static let authInvalidCredential = DetailCode("AUTH_INVALID_CREDENTIAL", .unauthenticated)
    public static let authKeyDisabled = DetailCode("AUTH_KEY_DISABLED", .unauthenticated)
    public static let authKeyExpired = DetailCode("AUTH_KEY_EXPIRED", .unauthenticated)
    public static let authSiteDisabled = DetailCode("AUTH_SITE_DISABLED", .unauthenticated)
    public static let authInternalError = DetailCode("AUTH_INTERNAL_ERROR", .internalError)
    public static let unauthenticated = DetailCode("DATA_GATEWAY_UNAUTHENTICATED", .unauthenticated)
    public static let uploadNotFound = DetailCode("DATA_GATEWAY_UPLOAD_NOT_FOUND", .notFound)
    public static let uploadNotOwned = DetailCode("DATA_GATEWAY_UPLOAD_NOT_OWNED", .permissionDenied)
    public static let uploadNotRefreshable = DetailCode("DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE", .failedPrecondition)
    public static let invalidArgument = DetailCode("DATA_GATEWAY_INVALID_ARGUMENT", .invalidArgument)
    public static let failedPrecondition = DetailCode("DATA_GATEWAY_FAILED_PRECONDITION", .failedPrecondition)
    public static let stsUnavailable = DetailCode("DATA_GATEWAY_STS_UNAVAILABLE", .unavailable)
    public static let internalError = DetailCode("DATA_GATEWAY_INTERNAL_ERROR", .internalError)
    public static let deviceIDInvalid = DetailCode("DATA_GATEWAY_DEVICE_ID_INVALID", .invalidArgument)
    public static let deviceNotFound = DetailCode("DATA_GATEWAY_DEVICE_NOT_FOUND", .notFound)
    public static let deviceNotReady = DetailCode("DATA_GATEWAY_DEVICE_NOT_READY", .failedPrecondition)
    public static let deviceAlreadyInitialized = DetailCode(
        "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED", .failedPrecondition)
    public static let deviceNotInitialized = DetailCode("DATA_GATEWAY_DEVICE_NOT_INITIALIZED", .failedPrecondition)
    public static let rateLimited = DetailCode("DATA_GATEWAY_RATE_LIMITED", .unavailable)
    public static let overloaded = DetailCode("DATA_GATEWAY_OVERLOADED", .unavailable)

    /// Every code of the gateway.
    public static let all: [DetailCode] = [
        .authInvalidCredential, .authKeyDisabled, .authKeyExpired, .authSiteDisabled, .authInternalError,
        .unauthenticated, .uploadNotFound, .uploadNotOwned, .uploadNotRefreshable, .invalidArgument,
        .failedPrecondition, .stsUnavailable, .internalError, .deviceIDInvalid, .deviceNotFound, .deviceNotReady,
        .deviceAlreadyInitialized, .deviceNotInitialized, .rateLimited, .overloaded,
    ]

    /// The code that a reply named; `nil` for one that the gateway does not have.
    public init?(rawValue: String) {
        guard let code = Self.all.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = code
    }
}
