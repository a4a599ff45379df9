import Basics
import CommandLineInterface
import DeviceClient
import Proto
import RPC

/// `data-gateway device config`
struct DeviceConfig: ClientCommand {
    static let name = "config"
    static let summary = "Print what a device or an app needs to find the gateway"
    static let discussion = [
        """
        Prints the file archebase-endpoints.json, and the one string with the device's id that apps accept. Neither is a \
        secret: the key comes with the device's first call.
        """,
        "With --qr the string is drawn as a QR code for an app to scan; a terminal has to be 30 lines high for it.",
    ]

    static var parameters: [Parameter<Self>] {
        [.argument("DEVICE_ID", \.deviceID, "The device")]
            + EndpointOptions.parameters(standard: "where login went").map { $0.at(\.place) }
            + [.flag("--qr", \.isDrawn, "Draw the configuration string as a QR code, in place of printing both")]
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
        if device.suite.isEmpty { notes.append("the device is in no suite, and gets no key before it has one") }
        if device.status == .disabled { notes.append("the device is disabled, and gets no key before it is enabled") }
        if [endpoints.auth, endpoints.gateway, endpoints.deviceInit].contains(where: { $0.address.isLoopback }) {
            notes.append("only this machine reaches itself as \(endpoints.auth.host): say --host http[s]://NAME")
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
