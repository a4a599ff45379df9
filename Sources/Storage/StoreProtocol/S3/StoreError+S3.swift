extension StoreError.Code {
    /// What S3's clients know it as.
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
