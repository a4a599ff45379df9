/// A property of a bucket that a client reads, by the parameter that asks for it.
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

    /// The operation's name in the protocols' documentation.
    package var operation: String {
        switch self {
        case .accelerate: "GetBucketAccelerateConfiguration"
        case .accessControl: "GetBucketAcl"
        case .corsRules: "GetBucketCors"
        case .encryption: "GetBucketEncryption"
        case .information: "GetBucketInfo"
        case .lifecycle: "GetBucketLifecycle"
        case .location: "GetBucketLocation"
        case .logging: "GetBucketLogging"
        case .notification: "GetBucketNotification"
        case .objectLock: "GetObjectLockConfiguration"
        case .ownershipControls: "GetBucketOwnershipControls"
        case .policy: "GetBucketPolicy"
        case .policyStatus: "GetBucketPolicyStatus"
        case .publicAccessBlock: "GetPublicAccessBlock"
        case .referer: "GetBucketReferer"
        case .replication: "GetBucketReplication"
        case .requestPayment: "GetBucketRequestPayment"
        case .statistics: "GetBucketStat"
        case .tagging: "GetBucketTagging"
        case .versioning: "GetBucketVersioning"
        case .website: "GetBucketWebsite"
        }
    }

    /// What a client hears that asks for a property which no bucket here has; `nil` = there is a document.
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
