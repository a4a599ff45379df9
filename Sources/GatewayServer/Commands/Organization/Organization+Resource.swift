import CommandLineInterface
import Proto

extension Organization: Resource {
    package static let columns = ["organization", "display_name", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("organization", organization), .text("display_name", displayName),
            .text("organization_kind", "\(organizationKind)"),
            .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}
