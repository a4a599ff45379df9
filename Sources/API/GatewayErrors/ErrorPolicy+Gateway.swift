import RPC

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
