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
    static let summary = "List devices"

    static var parameters: [Parameter<Self>] {
        [
            .option("--suite", "SUITE", \.suite, "List only devices of this suite"),
            .option("--site", "SITE_ID", \.siteID, "List only devices of this site"),
            .option(
                "--status", "STATUS", \.status, "List only devices with this state: registered, initialized or disabled"
            ),
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
