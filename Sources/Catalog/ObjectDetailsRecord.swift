/// An object with its tags and further information.
struct ObjectDetailsRecord: Sendable {
    let object: CatalogObject
    let tags: [String: String]
    /// The organization's name.
    let organization: String
    /// The object's entry in the trash; `nil` = it is not there.
    let trashing: Trashing?
}
