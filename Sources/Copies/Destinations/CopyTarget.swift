import Accounts
import ObjectStore
import Platform

/// A place that the configuration lets jobs copy to.
public struct CopyTarget: Sendable {
    public enum Kind: Sendable {
        case folder(FolderTarget)
        case bucket(BucketTarget)
    }

    public let kind: Kind
    /// Whose jobs may copy there; `nil` = everybody's, and where the gateway has several organizations each below a folder of
    /// its name.
    public let organizations: [ConfiguredOrganization]?

    /// - Parameter organizations: by name.
    public init(_ kind: Kind, organizations: [String]? = nil) {
        self.kind = kind
        self.organizations = organizations.map { names in
            names.map { ConfiguredOrganization(setting: "copy.destinations \(kind.name)", name: $0) }
        }
    }

    /// The target's name for people.
    public var name: String { kind.name }
}

extension CopyTarget.Kind {
    fileprivate var name: String {
        switch self {
        case .folder(let target): "file://\(target.root)"
        case .bucket(let target): "\(target.endpoint.text)/\(target.bucket)"
        }
    }
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
