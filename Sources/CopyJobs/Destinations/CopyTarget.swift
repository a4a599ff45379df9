import Accounts
import Basics
import ObjectStore

/// A place that the configuration lets jobs copy to.
package struct CopyTarget: Sendable {
    package enum Kind: Sendable {
        case folder(FolderTarget)
        case bucket(BucketTarget)
    }

    package let kind: Kind
    /// Whose jobs may copy there; `nil` = everybody's, and where the gateway has several organizations each below a folder of
    /// its name.
    package let organizations: [ConfiguredOrganization]?

    /// - Parameter organizations: by name.
    package init(_ kind: Kind, organizations: [String]? = nil) {
        self.kind = kind
        self.organizations = organizations.map { names in
            names.map { ConfiguredOrganization(setting: "copy.destinations \(kind.name)", name: $0) }
        }
    }

    /// The target's name for people.
    package var name: String { kind.name }
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
package struct FolderTarget: Sendable {
    /// Absolute, without a slash at its end; must be there.
    package let root: String

    package init(root: String) {
        self.root = root
    }
}

/// A bucket of an object store.
package struct BucketTarget: Sendable {
    package let endpoint: StoreEndpoint
    package let bucket: String
    /// Of the signature's scope.
    package let region: String
    package let dialect: ClientRequest.Dialect
    package let credentials: SigningCredentials
    /// Bytes; an object of at most that size is put whole.
    package let partSize: Int64
    /// PEM file of the authorities whose certificate the store must show; `nil` = those that the system trusts.
    package let authorities: String?

    package init(
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
