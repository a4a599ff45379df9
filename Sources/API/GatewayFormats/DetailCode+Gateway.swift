import GRPCWire
import Protobuf
package import RPC

/// The detail codes of the gateway's errors, each with its fixed status code.
extension DetailCode {
    package static let authInvalidCredential = DetailCode("AUTH_INVALID_CREDENTIAL", .unauthenticated)
    package static let authKeyDisabled = DetailCode("AUTH_KEY_DISABLED", .unauthenticated)
    package static let authKeyExpired = DetailCode("AUTH_KEY_EXPIRED", .unauthenticated)
    package static let authSiteDisabled = DetailCode("AUTH_SITE_DISABLED", .unauthenticated)
    package static let authInternalError = DetailCode("AUTH_INTERNAL_ERROR", .internalError)
    package static let authSecondFactorRequired = DetailCode("AUTH_SECOND_FACTOR_REQUIRED", .unauthenticated)
    package static let unauthenticated = DetailCode("DATA_GATEWAY_UNAUTHENTICATED", .unauthenticated)
    package static let uploadNotFound = DetailCode("DATA_GATEWAY_UPLOAD_NOT_FOUND", .notFound)
    package static let uploadNotOwned = DetailCode("DATA_GATEWAY_UPLOAD_NOT_OWNED", .permissionDenied)
    package static let uploadNotRefreshable = DetailCode("DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE", .failedPrecondition)
    package static let invalidArgument = DetailCode("DATA_GATEWAY_INVALID_ARGUMENT", .invalidArgument)
    package static let failedPrecondition = DetailCode("DATA_GATEWAY_FAILED_PRECONDITION", .failedPrecondition)
    package static let stsUnavailable = DetailCode("DATA_GATEWAY_STS_UNAVAILABLE", .unavailable)
    package static let internalError = DetailCode("DATA_GATEWAY_INTERNAL_ERROR", .internalError)
    package static let deviceIDInvalid = DetailCode("DATA_GATEWAY_DEVICE_ID_INVALID", .invalidArgument)
    package static let deviceNotFound = DetailCode("DATA_GATEWAY_DEVICE_NOT_FOUND", .notFound)
    package static let deviceNotReady = DetailCode("DATA_GATEWAY_DEVICE_NOT_READY", .failedPrecondition)
    package static let deviceAlreadyInitialized = DetailCode(
        "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED", .failedPrecondition)
    package static let deviceNotInitialized = DetailCode("DATA_GATEWAY_DEVICE_NOT_INITIALIZED", .failedPrecondition)
    package static let rateLimited = DetailCode("DATA_GATEWAY_RATE_LIMITED", .unavailable)
    package static let overloaded = DetailCode("DATA_GATEWAY_OVERLOADED", .unavailable)

    /// All detail codes of the gateway.
    package static let all: [DetailCode] = [
        .authInvalidCredential, .authKeyDisabled, .authKeyExpired, .authSiteDisabled, .authInternalError,
        .authSecondFactorRequired, .unauthenticated, .uploadNotFound, .uploadNotOwned, .uploadNotRefreshable,
        .invalidArgument,
        .failedPrecondition, .stsUnavailable, .internalError, .deviceIDInvalid, .deviceNotFound, .deviceNotReady,
        .deviceAlreadyInitialized, .deviceNotInitialized, .rateLimited, .overloaded,
    ]

    /// Returns the code with that text; `nil` if the gateway has no such code.
    package init?(rawValue: String) {
        guard let code = Self.all.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = code
    }
}

extension RPCError {
    package static func invalidArgument(_ message: String) -> RPCError { RPCError(.invalidArgument, message) }

    package static func failedPrecondition(_ message: String) -> RPCError { RPCError(.failedPrecondition, message) }
}

extension ErrorPolicy {
    /// The detail codes of the gateway's services.
    ///
    /// AuthService has codes of its own, and no code for an overload, because its clients do not retry an error that has one.
    package static let gateway = ErrorPolicy(domain: "data-gateway") { condition, method in
        let isAuthService = method.service.hasPrefix("archebase.auth.")
        return switch condition {
        case .invalidRequest: .invalidArgument
        case .overloaded: isAuthService ? nil : .overloaded
        case .internalError where isAuthService: .authInternalError
        case .internalError: method.service.hasPrefix("archebase.") ? .internalError : nil
        }
    }
}
