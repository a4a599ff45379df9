package import CommandLineInterface
package import Proto

extension User: Resource {
    package static let columns = ["user_name", "role", "last_login_at", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("organization", organization), .text("user_name", userName), .text("role", role),
            .time("last_login_at", lastLoginAt), .time("created_at", createdAt), .time("updated_at", updatedAt),
            .number("organization_id", organizationID), .number("user_id", userID),
        ]
    }
}

/// The roles of a user, as arguments.
enum UserRole: String, ArgumentChoice {
    case admin, `operator`, viewer, member, service
}
