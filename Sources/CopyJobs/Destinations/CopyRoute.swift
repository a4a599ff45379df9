/// The writer for an organization's items at a destination.
struct CopyRoute: Sendable {
    let writer: any DestinationWriter
    /// The required prefix of paths if organizations share the destination; `nil` = none.
    let prefix: String?

    /// Returns the reason why the key is invalid at the destination; `nil` = it is valid.
    func objection(to key: String) -> String? {
        if let objection = writer.objection(to: key) { return objection }
        guard let prefix, !writer.path(of: key).hasPrefix(prefix) else { return nil }
        return "organizations share this destination, and files of this organization must go below \(prefix)"
    }
}
