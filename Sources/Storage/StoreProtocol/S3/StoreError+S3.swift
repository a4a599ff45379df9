extension StoreError.Code {
    /// The name and the status of the error in S3.
    var s3: (name: String, status: Int) {
        switch self {
        case .invalidSecurityToken: ("InvalidToken", 400)
        case .securityTokenExpired: ("ExpiredToken", 400)
        case .fileAlreadyExists: ("PreconditionFailed", 412)
        case .invalidObjectName: ("InvalidURI", 400)
        default: (rawValue, status)
        }
    }
}
