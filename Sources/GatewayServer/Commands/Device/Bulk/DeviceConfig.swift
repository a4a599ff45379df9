import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import Proto
import RPC

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
            + EndpointOptions.parameters(standard: "the host of the last login").map { $0.at(\.place) }
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
        let endpoints = place.endpoints(over: Self.standard(gateway))
        let configuration = try ConfigurationString(endpoints, deviceID: device.deviceID).text()
        let shown =
            isDrawn
            ? [try QRCode(configuration).terminalText]
            : ["archebase-endpoints.json:", try endpoints.text(), "", "configuration string:", configuration]
        return Reply(
            json: .object([
                .init(name: "device_id", value: .string(device.deviceID)),
                .init(name: "status", value: .string(device.status.protoName)),
                .init(name: "endpoints", value: endpoints.json),
                .init(name: "configuration", value: .string(configuration)),
            ]),
            text: (shown + Self.notes(device, endpoints)).joined(separator: "\n"))
    }

    /// The listeners' usual ports beside the auth listener that the session is from.
    private static func standard(_ gateway: SignedInConnection) -> Endpoints {
        let scheme: Endpoints.Endpoint.Scheme = gateway.isSecure ? .https : .http
        guard let auth = gateway.authServer else { return Endpoints(scheme: scheme) }
        var endpoints = Endpoints(scheme: scheme, host: auth.host)
        endpoints.auth.port = auth.port
        return endpoints
    }

    /// Why the device will not come through with it as things stand.
    private static func notes(_ device: Device, _ endpoints: Endpoints) -> [String] {
        var notes: [String] = []
        if device.suite.isEmpty {
            notes.append("the device is not in a suite: add it to one, or it cannot fetch a key")
        }
        if device.status == .disabled { notes.append("the device is disabled: enable it, or it cannot fetch a key") }
        if [endpoints.auth, endpoints.gateway, endpoints.deviceInit].contains(where: { $0.address.isLoopback }) {
            notes.append("only this machine can reach the address \(endpoints.auth.host): set --host http[s]://NAME")
        }
        return notes.isEmpty ? [] : [""] + notes.map { "note: \($0)" }
    }
}

extension Endpoints {
    fileprivate var json: JSONValue {
        .object([
            .init(name: "auth", value: auth.json), .init(name: "gateway", value: gateway.json),
            .init(name: "deviceInit", value: deviceInit.json),
        ])
    }
}

extension Endpoints.Endpoint {
    fileprivate var json: JSONValue {
        .object([
            .init(name: "scheme", value: .string(scheme.rawValue)), .init(name: "host", value: .string(host)),
            .init(name: "port", value: .number(Int64(port))),
        ])
    }
}
