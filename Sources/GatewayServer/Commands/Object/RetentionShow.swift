package import CommandLineInterface
package import Proto

/// `data-gateway object retention show`
struct RetentionShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the organization's retention, the age at which its objects are deleted"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await ObjectManagementServiceClient(gateway).getRetention(GetRetentionRequest()))
    }

    static func text(_ days: Int32) -> String { days == 0 ? "0 (objects are kept)" : "\(days)" }
}

extension GetRetentionResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        [.number("days", Int64(days), shownAs: RetentionShow.text(days)), rules.field]
    }
}
