import CommandLineInterface
import Proto

/// `data-gateway device export`
struct DeviceExport: ClientCommand {
    static let name = "export"
    static let summary = "Print all devices as CSV for 'device import'"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let devices = try await DeviceManagementServiceClient(gateway).allDevices()
        return Reply(json: Reply("devices", devices).json, text: DeviceTable.csv(of: devices))
    }
}
