/// A property of a bucket that a client reads, named by its query parameter.
package enum BucketProperty: String, Equatable, CaseIterable, Sendable {
    case accelerate
    case accessControl = "acl"
    case corsRules = "cors"
    case encryption
    case information = "bucketInfo"
    case lifecycle
    case location
    case logging
    case notification
    case objectLock = "object-lock"
    case ownershipControls
    case policy
    case policyStatus
    case publicAccessBlock
    case referer
    case replication
    case requestPayment
    case statistics = "stat"
    case tagging
    case versioning
    case website

    package var operation: OperationName {
        switch self {
        case .accelerate: .getBucketAccelerateConfiguration
        case .accessControl: .getBucketAcl
        case .corsRules: .getBucketCors
        case .encryption: .getBucketEncryption
        case .information: .getBucketInfo
        case .lifecycle: .getBucketLifecycle
        case .location: .getBucketLocation
        case .logging: .getBucketLogging
        case .notification: .getBucketNotification
        case .objectLock: .getObjectLockConfiguration
        case .ownershipControls: .getBucketOwnershipControls
        case .policy: .getBucketPolicy
        case .policyStatus: .getBucketPolicyStatus
        case .publicAccessBlock: .getPublicAccessBlock
        case .referer: .getBucketReferer
        case .replication: .getBucketReplication
        case .requestPayment: .getBucketRequestPayment
        case .statistics: .getBucketStat
        case .tagging: .getBucketTagging
        case .versioning: .getBucketVersioning
        case .website: .getBucketWebsite
        }
    }

    /// The error for a property that no bucket of this store has; `nil` = there is a document.
    package var absence: StoreError? {
        switch self {
        case .policy, .policyStatus: StoreError(.noSuchBucketPolicy, "The bucket has no policy.")
        case .lifecycle:
            StoreError(.noSuchLifecycleConfiguration, "The bucket has no lifecycle rules; retention is configured.")
        case .tagging: StoreError(.noSuchTagSet, "The bucket has no tags.")
        case .encryption: StoreError(.noSuchEncryption, "The store does not encrypt.")
        case .website: StoreError(.noSuchWebsiteConfiguration, "The bucket is not a web site.")
        case .replication:
            StoreError(.noSuchReplicationConfiguration, "The bucket has no replication; copies are configured.")
        case .objectLock: StoreError(.noSuchObjectLockConfiguration, "Objects have no locks.")
        case .publicAccessBlock: StoreError(.noSuchPublicAccessBlock, "Nothing in the bucket is public.")
        case .ownershipControls: StoreError(.noSuchOwnershipControls, "The bucket has no ownership controls.")
        case .accelerate, .accessControl, .corsRules, .information, .location, .logging, .notification, .referer,
            .requestPayment, .statistics, .versioning:
            nil
        }
    }
}
