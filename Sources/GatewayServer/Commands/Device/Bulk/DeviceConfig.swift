import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import JSON
import Proto

/// `data-gateway device config`
struct DeviceConfig: ClientCommand {
    static let name = "config"
    static let summary = "Print the configuration that a device or an app needs to reach the gateway"
    static let discussion = [
        """
        Prints the file archebase-endpoints.json and the configuration string that apps accept. Neither contains a secret: \
        the device fetches its key with its first call.
        """,
        "With --qr, the command draws the string as a QR code for an app to scan. The terminal needs about 35 lines.",
    ]

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN")]
            + EndpointOptions.parameters(standard: "the addresses of the last login").map { $0.at(\.place) }
            + [.flag("--qr", \.isDrawn, "Draw the configuration string as a QR code instead of printing both")]
            + connectionParameters
    }

    var deviceID = ""
    var place = EndpointOptions()
    var isDrawn = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let device = try await DeviceManagementServiceClient(gateway).getDevice(
            GetDeviceRequest(name: DeviceNames.device(deviceID)))
        let connection = try DeviceConnection(of: device, place, gateway)
        let shown =
            isDrawn
            ? [try connection.drawing()]
            : [
                "archebase-endpoints.json:", try connection.endpoints.text(), "", "configuration string:",
                connection.configuration,
            ]
        return Reply(json: .object(connection.members), text: (shown + connection.notes).joined(separator: "\n"))
    }
}
