import CommandLineInterface
import Proto

/// `data-gateway site list`
struct SiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the organization's sites"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("sites", try await AdminAuthServiceClient(gateway).allSites())
    }
}
