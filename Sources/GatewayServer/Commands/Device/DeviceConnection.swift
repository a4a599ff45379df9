import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import GatewayFormats
import HTTPTypes
import JSON
import Proto
import RPC

/// The way of a device or an app to the gateway, as `device config` and `quickstart` print it.
struct DeviceConnection: Sendable {
    let device: Device
    let endpoints: Endpoints
    /// The configuration string that apps accept. It has no secret.
    let configuration: String

    /// Whether the device-init listener is neither given nor known, though the gateway has other ports than the default ones.
    private let isAssumed: Bool

    /// - Parameter place: the endpoints; what it does not name is where the last login found it.
    init(of device: Device, _ place: EndpointOptions, _ gateway: SignedInConnection) throws {
        let known = try gateway.listenersForDevices()
        self.device = device
        endpoints = place.endpoints(over: known.endpoints)
        isAssumed = known.isAssumed && !place.namesDeviceInit
        configuration = try ConfigurationString(endpoints, deviceID: device.deviceID).text()
    }

    /// Returns the configuration string as a QR code of about 35 lines.
    func drawing() throws -> String { try QRCode(configuration).terminalText }

    var members: [JSONValue.Member] {
        [
            .init(name: "device_id", value: .string(device.deviceID)),
            .init(name: "status", value: .string(device.status.protoName)),
            .init(name: "endpoints", value: endpoints.json),
            .init(name: "configuration", value: .string(configuration)),
        ]
    }

    /// The reasons why the device cannot yet connect with this configuration, as lines of a text.
    var notes: [String] {
        var notes: [String] = []
        if device.suite.isEmpty {
            notes.append("the device is not in a suite: add it to one, or it cannot fetch a key")
        }
        if device.status == .disabled { notes.append("the device is disabled: enable it, or it cannot fetch a key") }
        if isAssumed {
            notes.append(
                """
                the last login did not name the listener for keys, and \(endpoints.deviceInit) is the default port: sign in \
                with login --host, or give --device-init
                """)
        }
        if [endpoints.auth, endpoints.gateway, endpoints.deviceInit].contains(where: { $0.address.isLoopback }) {
            notes.append("only this machine can reach the address \(endpoints.auth.host): set --host http[s]://NAME")
        }
        return notes.isEmpty ? [] : [""] + notes.map { "note: \($0)" }
    }

    /// The command that fetches the device's key on the device.
    var initialization: String {
        if endpoints == Endpoints(scheme: endpoints.auth.scheme, host: endpoints.auth.host) {
            let host = "\(endpoints.auth.scheme.rawValue)://\(endpoints.auth.address.urlHost)"
            return "data-gateway init \(device.deviceID) --host \(host)"
        }
        return """
            data-gateway init \(device.deviceID) --auth \(endpoints.auth) --gateway \(endpoints.gateway) \
            --device-init \(endpoints.deviceInit)
            """
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
