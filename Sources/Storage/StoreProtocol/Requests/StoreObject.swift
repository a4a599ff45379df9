/// An object in an object store, with its location.
package struct StoreObject: Sendable {
    package let endpoint: StoreEndpoint
    /// The region in the signature's scope; empty if unknown.
    package let region: String
    package let bucket: String
    package let key: String
    /// The store's protocol.
    package let dialect: ClientRequest.Dialect

    /// - Parameter region: the issued region; if that is empty, the endpoint's own.
    package init(
        endpoint: StoreEndpoint, region: String = "", bucket: String, key: String, dialect: ClientRequest.Dialect = .oss
    ) {
        self.endpoint = endpoint
        self.region = region.isEmpty ? endpoint.region : region
        self.bucket = bucket
        self.key = key
        self.dialect = dialect
    }
}
