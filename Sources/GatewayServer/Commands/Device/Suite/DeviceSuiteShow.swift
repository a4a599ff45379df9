import CommandLineInterface
import Proto

/// `data-gateway device suite show`
struct DeviceSuiteShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a suite"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help)] + connectionParameters
    }

    var suite = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).getDeviceSuite(GetDeviceSuiteRequest(name: suite)))
    }
}
