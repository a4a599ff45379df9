import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway account second-factor disable`
struct SecondFactorDisable: ClientCommand {
    static let name = "disable"
    static let summary = "Turn your second factor off"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.argument("CODE", \.code, "The code that the app shows, or a recovery code")] + connectionParameters
    }

    var code = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await AccountServiceClient(gateway).removeSecondFactor(RemoveSecondFactorRequest(code: code))
        return Reply(json: .object([]), text: "the second factor is off")
    }
}
