import Basics
package import CommandLineInterface
import JSON
package import Proto

extension Site: Resource {
    package static let columns = ["site_id", "name", "status", "created_at"]

    package var fields: [ResourceField] {
        [
            .number("site_id", siteID), .text("name", name),
            EnabledStatus.field(status, of: "SITE"),
            .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}

/// The state of sites and keys, whose messages have it as a number.
enum EnabledStatus {
    /// Returns the field `state`, whose values have names like those of an enum, e.g. `SITE_STATUS_ENABLED`. JSON also has the number
    /// as `status`, which earlier releases had alone.
    static func field(_ status: Int32, of thing: String) -> ResourceField {
        let word: String? =
            switch status {
            case 1: "enabled"
            case 2: "disabled"
            default: nil
            }
        return ResourceField(
            name: "state", json: .string(word.map { "\(thing)_STATUS_\($0.uppercased())" } ?? "\(status)"),
            text: word ?? "\(status)", heading: "status"
        )
        .formerly("status", .number(Int64(status)))
    }
}
