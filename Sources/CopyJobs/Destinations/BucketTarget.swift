import StoreProtocol

/// Where a bucket is.
package struct BucketLocation: Sendable {
    package let endpoint: StoreEndpoint
    package let bucket: String
    /// The region in the signature's scope.
    package let region: String

    package init(endpoint: StoreEndpoint, bucket: String, region: String) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
    }

    var name: String { "\(endpoint.text)/\(bucket)" }
}

/// A bucket of an object store to copy to.
package struct BucketTarget: DestinationTarget {
    package let location: BucketLocation
    package let dialect: ClientRequest.Dialect
    package let credentials: SigningCredentials
    /// Bytes; an object of at most that size is put whole.
    package let partSize: Int64
    /// PEM file of the authorities whose certificate the store must show; `nil` = those that the system trusts.
    package let authorities: String?

    package init(
        _ location: BucketLocation, dialect: ClientRequest.Dialect, credentials: SigningCredentials, partSize: Int64,
        authorities: String?
    ) {
        self.location = location
        self.dialect = dialect
        self.credentials = credentials
        self.partSize = partSize
        self.authorities = authorities
    }

    var name: String { location.name }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        guard (try? StoreEndpoint(place.endpoint)) == location.endpoint, place.bucket == location.bucket,
            place.region.isEmpty || place.region == location.region
        else { return nil }
        return BucketWriter(self, clock: environment.clock)
    }
}

extension CopyTarget {
    /// - Parameter organizations: whose jobs may copy there, by name; `nil` = everybody's.
    package static func bucket(_ target: BucketTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}
