import CommandLineInterface
import Proto

extension DeviceSuite: Resource {
    package static let columns = ["name", "display_name", "site_id", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("name", name), .number("site_id", siteID), .text("display_name", displayName),
            .text("description", description), .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}
