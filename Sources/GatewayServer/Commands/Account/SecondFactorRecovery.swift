import CommandLineInterface
import Proto

/// `data-gateway account second-factor recovery-codes`
struct SecondFactorRecovery: ClientCommand {
    static let name = "recovery-codes"
    static let summary = "Replace your recovery codes, and show the new ones once"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.argument("CODE", \.code, "The code that the app shows, or a recovery code")] + connectionParameters
    }

    var code = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AccountServiceClient(gateway).replaceRecoveryCodes(
            ReplaceRecoveryCodesRequest(code: code))
        return Reply(recoveryCodes: reply.recoveryCodes, "The earlier recovery codes are no longer valid.")
    }
}
