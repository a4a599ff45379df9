package import HTTPTypes
package import XML

/// An error in the terms of the store's clients, with OSS's names (those of S3 are in `StoreError+S3.swift`). Clients react to
/// status and code: `SecurityTokenExpired`, `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed` make them refresh
/// their credentials once, after a 404 they start over, after 408, 429 and 5xx they retry; after everything else they give up.
package struct StoreError: Error, Equatable {
    package enum Code: String {
        case accessControlListNotSupported = "AccessControlListNotSupported"
        case accessDenied = "AccessDenied"
        case authorizationMalformed = "AuthorizationHeaderMalformed"
        case badDigest = "BadDigest"
        case badRequest = "BadRequest"
        case bucketAlreadyOwnedByYou = "BucketAlreadyOwnedByYou"
        case bucketNotEmpty = "BucketNotEmpty"
        case entityTooLarge = "EntityTooLarge"
        case entityTooSmall = "EntityTooSmall"
        case fileAlreadyExists = "FileAlreadyExists"
        case incompleteBody = "IncompleteBody"
        case internalError = "InternalError"
        case invalidAccessKeyID = "InvalidAccessKeyId"
        case invalidArgument = "InvalidArgument"
        case invalidBucketName = "InvalidBucketName"
        case invalidDigest = "InvalidDigest"
        case invalidObjectName = "InvalidObjectName"
        case invalidObjectState = "InvalidObjectState"
        case invalidPart = "InvalidPart"
        case invalidPartNumber = "InvalidPartNumber"
        case invalidPartOrder = "InvalidPartOrder"
        case invalidPolicyDocument = "InvalidPolicyDocument"
        case invalidRange = "InvalidRange"
        case invalidRequest = "InvalidRequest"
        case invalidSecurityToken = "InvalidSecurityToken"
        case invalidStorageClass = "InvalidStorageClass"
        case invalidTag = "InvalidTag"
        case invalidURI = "InvalidURI"
        case keyTooLong = "KeyTooLongError"
        case malformedTrailer = "MalformedTrailerError"
        case malformedXML = "MalformedXML"
        case metadataTooLarge = "MetadataTooLarge"
        case missingContentLength = "MissingContentLength"
        case noSuchBucket = "NoSuchBucket"
        case noSuchBucketPolicy = "NoSuchBucketPolicy"
        case noSuchCORSConfiguration = "NoSuchCORSConfiguration"
        case noSuchKey = "NoSuchKey"
        case noSuchLifecycleConfiguration = "NoSuchLifecycleConfiguration"
        case noSuchPublicAccessBlock = "NoSuchPublicAccessBlockConfiguration"
        case noSuchTagSet = "NoSuchTagSet"
        case noSuchUpload = "NoSuchUpload"
        case noSuchVersion = "NoSuchVersion"
        case noSuchWebsiteConfiguration = "NoSuchWebsiteConfiguration"
        case notImplemented = "NotImplemented"
        case noSuchObjectLockConfiguration = "ObjectLockConfigurationNotFoundError"
        case objectNotAppendable = "ObjectNotAppendable"
        case noSuchOwnershipControls = "OwnershipControlsNotFoundError"
        case positionNotEqualToLength = "PositionNotEqualToLength"
        case preconditionFailed = "PreconditionFailed"
        case quotaExceeded = "QuotaExceeded"
        case noSuchReplicationConfiguration = "ReplicationConfigurationNotFoundError"
        case requestTimeTooSkewed = "RequestTimeTooSkewed"
        case securityTokenExpired = "SecurityTokenExpired"
        case noSuchEncryption = "ServerSideEncryptionConfigurationNotFoundError"
        case serviceUnavailable = "ServiceUnavailable"
        case signatureDoesNotMatch = "SignatureDoesNotMatch"
        case slowDown = "SlowDown"
        case contentSHA256Mismatch = "XAmzContentSHA256Mismatch"

        package var status: Int {
            switch self {
            case .accessDenied, .invalidAccessKeyID, .invalidObjectState, .invalidSecurityToken, .quotaExceeded,
                .requestTimeTooSkewed, .securityTokenExpired, .signatureDoesNotMatch:
                403
            case .noSuchBucket, .noSuchKey, .noSuchUpload, .noSuchBucketPolicy, .noSuchCORSConfiguration,
                .noSuchEncryption, .noSuchLifecycleConfiguration, .noSuchObjectLockConfiguration,
                .noSuchOwnershipControls, .noSuchPublicAccessBlock, .noSuchReplicationConfiguration, .noSuchTagSet,
                .noSuchVersion, .noSuchWebsiteConfiguration:
                404
            case .bucketAlreadyOwnedByYou, .bucketNotEmpty, .fileAlreadyExists, .objectNotAppendable,
                .positionNotEqualToLength:
                409
            case .missingContentLength: 411
            case .preconditionFailed: 412
            case .invalidRange, .invalidPartNumber: 416
            case .internalError: 500
            case .notImplemented: 501
            case .serviceUnavailable, .slowDown: 503
            case .accessControlListNotSupported, .badRequest, .invalidStorageClass, .invalidTag, .invalidPolicyDocument,
                .metadataTooLarge, .authorizationMalformed, .badDigest, .contentSHA256Mismatch, .entityTooLarge,
                .entityTooSmall,
                .incompleteBody,
                .invalidArgument, .invalidBucketName, .invalidDigest, .invalidObjectName, .invalidPart,
                .invalidPartOrder, .invalidRequest, .invalidURI, .keyTooLong, .malformedTrailer, .malformedXML:
                400
            }
        }
    }

    package let code: Code
    /// The message for people; contains no secrets and no internal paths.
    package let message: String
    /// Further elements of the response, e.g. `ServerTime`.
    package var details: [FlatXML.Element] = []
    /// Further header fields of the response.
    package var fields: HTTPFields = [:]

    package init(_ code: Code, _ message: String, details: [FlatXML.Element] = []) {
        self.code = code
        self.message = message
        self.details = details
    }
}

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
