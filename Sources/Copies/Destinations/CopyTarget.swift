import ObjectStore
import Platform

/// A place that the configuration lets jobs copy to.
public enum CopyTarget: Sendable {
    case folder(FolderTarget)
    case bucket(BucketTarget)
}

/// A folder of this machine, and all below it. Requests name it `file:///path`.
public struct FolderTarget: Sendable {
    /// Absolute, without a slash at its end; must be there.
    public let root: String

    public init(root: String) {
        self.root = root
    }
}

/// A bucket of an object store.
public struct BucketTarget: Sendable {
    public let endpoint: StoreEndpoint
    public let bucket: String
    /// Of the signature's scope.
    public let region: String
    public let dialect: ClientRequest.Dialect
    public let credentials: SigningCredentials
    /// Bytes; an object of at most that size is put whole.
    public let partSize: Int64
    /// PEM file of the authorities whose certificate the store must show; `nil` = those that the system trusts.
    public let authorities: String?

    public init(
        endpoint: StoreEndpoint, bucket: String, region: String, dialect: ClientRequest.Dialect,
        credentials: SigningCredentials, partSize: Int64, authorities: String?
    ) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
        self.dialect = dialect
        self.credentials = credentials
        self.partSize = partSize
        self.authorities = authorities
    }
}
