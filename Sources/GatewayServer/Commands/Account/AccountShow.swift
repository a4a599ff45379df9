import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway account show`
struct AccountShow: ClientCommand {
    static let name = "show"
    static let summary = "Show your user, and whether a second factor protects it"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await AccountServiceClient(gateway).getAccount(GetAccountRequest()))
    }
}

extension GetAccountResponse: Resource {
    package static let columns = ["user_name", "role", "has_second_factor"]

    package var fields: [ResourceField] {
        [
            .text("organization", user?.organization ?? ""), .text("user_name", user?.userName ?? ""),
            .text("role", user?.role ?? ""), .flag("has_password", hasPassword),
            .flag("has_second_factor", hasSecondFactor), .number("recovery_codes_left", Int64(recoveryCodesLeft)),
            .flag("second_factor_required", secondFactorRequired),
            .flag("second_factor_missing", secondFactorMissing),
        ]
    }
}

extension ResourceField {
    /// A property that holds or not.
    static func flag(_ name: String, _ value: Bool) -> ResourceField {
        ResourceField(name: name, json: .bool(value), text: value ? "yes" : "no")
    }
}
