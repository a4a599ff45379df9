package import StoreProtocol

/// The location of a bucket.
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

/// A bucket of an object store as a destination.
package struct BucketTarget: DestinationTarget {
    package let location: BucketLocation
    package let dialect: ClientRequest.Dialect
    package let credentials: SigningCredentials
    /// The size of a part in bytes; objects up to that size are sent in one request.
    package let partSize: Int64
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
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
    var place: CopyPlace {
        CopyPlace(endpoint: location.endpoint.text, bucket: location.bucket, region: location.region)
    }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        guard (try? StoreEndpoint(place.endpoint)) == location.endpoint, place.bucket == location.bucket,
            place.region.isEmpty || place.region == location.region
        else { return nil }
        return BucketWriter(self, clock: environment.clock)
    }
}

extension CopyTarget {
    /// - Parameter organizations: the names of the organizations that may copy there; `nil` = all.
    package static func bucket(_ target: BucketTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}
