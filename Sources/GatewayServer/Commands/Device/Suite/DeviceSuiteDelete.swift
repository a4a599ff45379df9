import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway device suite delete`
struct DeviceSuiteDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete a suite that has no devices"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help)] + connectionParameters
    }

    var suite = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        _ = try await DeviceManagementServiceClient(gateway).deleteDeviceSuite(DeleteDeviceSuiteRequest(name: suite))
        return .deleted("name", .string(suite), suite)
    }
}
