import CommandLineInterface
import Proto

/// `data-gateway device list`
struct DeviceList: ClientCommand {
    /// The states that a device can be asked for by.
    enum Status: String, ArgumentChoice {
        case registered
        case initialized
        case disabled

        var device: DeviceStatus {
            switch self {
            case .registered: .registered
            case .initialized: .initialized
            case .disabled: .disabled
            }
        }
    }

    static let name = "list"
    static let summary = "List devices, all of them or some"

    static var parameters: [Parameter<Self>] {
        [
            .option("--suite", "SUITE", \.suite, "Of this suite only"),
            .option("--site", "SITE_ID", \.siteID, "Of this site only"),
            .option("--status", "STATUS", \.status, "In this state only: registered, initialized or disabled"),
        ] + connectionParameters
    }

    var suite = ""
    var siteID: Int64?
    var status: Status?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let devices = try await DeviceManagementServiceClient(gateway).allDevices(
            ListDevicesRequest(
                suite: DeviceNames.suite(suite), siteID: siteID ?? 0, status: status?.device ?? .unspecified))
        return Reply("devices", devices)
    }
}
