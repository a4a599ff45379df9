import Basics

/// An operation that S3 or OSS documents and this store does not have. Its request is answered with 501 and this name;
/// docs/object-store.md lists all of them.
package struct UnsupportedOperation: Sendable, Hashable {
    /// The name in the protocols' documentation.
    package let name: String
    package let method: String
    package let resource: StoreScope
    /// The parameter that distinguishes it.
    package let subresource: String

    /// All of them, without those that a header field distinguishes, which ``RequestRules`` refuses.
    package static let all: [UnsupportedOperation] =
        properties(
            [
                ("accelerate", "BucketAccelerateConfiguration", "P"), ("acl", "BucketAcl", "P"),
                ("analytics", "BucketAnalyticsConfiguration", "GPD"), ("cors", "BucketCors", "PD"),
                ("encryption", "BucketEncryption", "PD"),
                ("intelligent-tiering", "BucketIntelligentTieringConfiguration", "GPD"),
                ("inventory", "BucketInventoryConfiguration", "GPD"), ("lifecycle", "BucketLifecycle", "PD"),
                ("logging", "BucketLogging", "PD"), ("metrics", "BucketMetricsConfiguration", "GPD"),
                ("notification", "BucketNotificationConfiguration", "P"),
                ("object-lock", "ObjectLockConfiguration", "P"),
                ("ownershipControls", "BucketOwnershipControls", "PD"), ("policy", "BucketPolicy", "PD"),
                ("publicAccessBlock", "PublicAccessBlock", "PD"), ("qosInfo", "BucketQosInfo", "GPD"),
                ("referer", "BucketReferer", "P"), ("replication", "BucketReplication", "PD"),
                ("requestPayment", "BucketRequestPayment", "P"), ("resourceGroup", "BucketResourceGroup", "GP"),
                ("style", "Style", "GPD"), ("tagging", "BucketTagging", "PD"), ("versioning", "BucketVersioning", "P"),
                ("website", "BucketWebsite", "PD"), ("worm", "BucketWorm", "GD"),
            ], of: .bucket)
        + properties(
            [
                ("acl", "ObjectAcl", "P"), ("legal-hold", "ObjectLegalHold", "GP"),
                ("retention", "ObjectRetention", "GP"), ("symlink", "Symlink", "GP"),
            ], of: .object)
        + [
            UnsupportedOperation(name: "InitiateBucketWorm", "POST", .bucket, "worm"),
            UnsupportedOperation(name: "ExtendBucketWorm", "POST", .bucket, "wormExtend"),
            UnsupportedOperation(name: "GetObjectTorrent", "GET", .object, "torrent"),
            UnsupportedOperation(name: "RenameObject", "PUT", .object, "renameObject"),
            UnsupportedOperation(name: "RestoreObject", "POST", .object, "restore"),
            UnsupportedOperation(name: "SelectObjectContent", "POST", .object, "select"),
        ]

    private static let byRequest = Dictionary(
        all.map { (key($0.method, $0.resource, $0.subresource), $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the operation of a request; `nil` if neither protocol documents it.
    static func of(_ method: String, _ resource: StoreScope, subresources: Set<String>) -> UnsupportedOperation? {
        for subresource in subresources.sorted() {
            if let found = byRequest[key(method, resource, subresource)] { return found }
        }
        return nil
    }

    private init(name: String, _ method: String, _ resource: StoreScope, _ subresource: String) {
        self.name = name
        self.method = method
        self.resource = resource
        self.subresource = subresource
    }

    /// Returns the operations of properties.
    ///
    /// - Parameter list: the sub-resource, the noun in the names, and the first letters of the methods Get, Put and Delete.
    private static func properties(
        _ list: [(subresource: String, noun: String, methods: String)], of resource: StoreScope
    ) -> [UnsupportedOperation] {
        list.flatMap { property in
            [("Get", "GET"), ("Put", "PUT"), ("Delete", "DELETE")].filter { property.methods.contains($0.0.prefix(1)) }
                .map { UnsupportedOperation(name: $0.0 + property.noun, $0.1, resource, property.subresource) }
        }
    }

    private static func key(_ method: String, _ resource: StoreScope, _ subresource: String) -> String {
        "\(method) \(resource.rawValue) \(subresource)"
    }
}
