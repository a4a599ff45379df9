/// The field names of terms. `KEY=VALUE` with any other name compares the tag of that key.
enum FilterField: String, CaseIterable {
    case status, device, site, size, created, age, name, path, topic, trashed
    case objectID = "object_id"
    case contentType = "content_type"
    case recordedFrom = "recorded_from"
    case recordedTo = "recorded_to"

    /// All names in quotes, separated by commas.
    static let list = (["raw_tags.KEY"] + allCases.map(\.rawValue)).joined(separator: ", ")
}
