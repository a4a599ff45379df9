import CommandLineInterface
import Proto

extension Site: Resource {
    package static let columns = ["site_id", "name", "status", "created_at"]

    package var fields: [ResourceField] {
        [
            .number("site_id", siteID), .text("name", name),
            .number("status", Int64(status), shownAs: EnabledStatus.text(status)),
            .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}

/// The text for the `status` of sites and keys.
enum EnabledStatus {
    static func text(_ status: Int32) -> String {
        switch status {
        case 1: "enabled"
        case 2: "disabled"
        default: "\(status)"
        }
    }
}
