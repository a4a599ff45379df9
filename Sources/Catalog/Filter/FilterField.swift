/// The names that a term may begin with. `KEY=VALUE` with any other name is about the tag of that key.
enum FilterField: String, CaseIterable {
    case status, device, site, size, created, age, name, topic, trashed
    case objectID = "object_id"
    case contentType = "content_type"

    /// Each name in quotes, with commas.
    static let list = (["raw_tags.KEY"] + allCases.filter { $0 != .topic }.map(\.rawValue)).joined(separator: ", ")
}
