import CommandLineInterface
import Proto

/// `data-gateway device suite rename`
struct DeviceSuiteRename: ClientCommand {
    static let name = "rename"
    static let summary = "Change the name of a suite"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help), .argument("NAME", \.newName, "The new name")]
            + connectionParameters
    }

    var suite = ""
    var newName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).updateDeviceSuite(
                UpdateDeviceSuiteRequest(name: suite, displayName: newName)))
    }
}
