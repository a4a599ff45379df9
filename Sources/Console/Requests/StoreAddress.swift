/// The address of a signed request to the object store.
struct StoreAddress: Sendable {
    /// The target of the request; of a presigned one, with its signature.
    let target: String
    /// The value of the field `Host`.
    let host: String

    /// - Parameter url: the request's URL.
    init?(url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        host = String(rest[..<slash])
        target = String(rest[slash...])
    }
}
