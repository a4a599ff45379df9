import CommandLineInterface
import Proto

/// `data-gateway user reset-second-factor`
struct UserResetSecondFactor: ClientCommand {
    static let name = "reset-second-factor"
    static let summary = "Remove the second factor of a user who lost it"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.userName, "The user's name")] + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await IdentityManagementServiceClient(gateway).resetSecondFactor(
            ResetSecondFactorRequest(userName: userName))
        return Reply(
            json: .object([.init(name: "user_name", value: .string(userName))]),
            text: "removed the second factor of \(userName)")
    }
}
