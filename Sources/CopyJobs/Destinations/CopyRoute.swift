/// How an organization's items come to a place.
struct CopyRoute: Sendable {
    let writer: any DestinationWriter
    /// With what the path of each must begin, where organizations share the destination; `nil` = with anything.
    let prefix: String?

    /// Why the key cannot be one there; `nil` = it can.
    func objection(to key: String) -> String? {
        if let objection = writer.objection(to: key) { return objection }
        guard let prefix, !writer.path(of: key).hasPrefix(prefix) else { return nil }
        return "organizations share this destination, and files of this organization must go below \(prefix)"
    }
}
