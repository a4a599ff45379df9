import Basics
import CommandLineInterface
import DeviceClient
import GRPCWire
import GatewayFormats
import JSON
import RPC

/// `data-gateway init`
struct Initialize: Command {
    static let name = "init"
    static let summary = "Fetch this device's key, so that it can upload"
    static let discussion = [
        """
        Writes archebase-config.json and archebase-endpoints.json, as the SDKs do. A device can fetch its first key once; \
        if that key or the reply to an earlier init was lost, --reinit replaces the key.
        """,
        """
        For a device that has a key, --host or the other URLs without --reinit change the address of the gateway, after a \
        call with the device's token there succeeded. If a call fails, nothing changes.
        """,
    ]

    static let examples = [
        "init 260427-000001 --host https://gateway.example.com", "init --host https://new.example.com",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument(
                "DEVICE_ID", \.deviceID,
                "The registered device id: YYMMDD-NNNNNN; optional if only the address of the gateway changes",
                isRequired: false),
            .flag("--reinit", \.isReplacing, "Replace the device's current key"),
            .flag(
                "--insecure", \.isInsecure,
                "Allow http:// URLs for a device whose present addresses use TLS, so that others may read its key"),
        ] + EndpointOptions.parameters(standard: "the host of an earlier init, else 127.0.0.1").map { $0.at(\.place) }
            + DeviceOptions.parameters(json: "Print one JSON object").map { $0.at(\.device) }
    }

    var deviceID = ""
    var place = EndpointOptions()
    var isReplacing = false
    var isInsecure = false
    var device = DeviceOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: device.json) {
            let folder = try device.deviceFolder(environment)
            do {
                return try await initialize(folder, environment)
            } catch let failure as CallFailure where failure.detail == .deviceAlreadyInitialized {
                let code = DetailCode.deviceAlreadyInitialized.rawValue
                throw ClientFailure(
                    "\(failure.status.message): if the device's key was lost, --reinit replaces it (\(code))")
            } catch let failure as CallFailure {
                throw ClientFailure(device: failure)
            } catch {
                throw ClientFailure(error, file: deviceID, hint: "try again later")
            }
        }
    }

    private func initialize(_ folder: DeviceFolder, _ environment: CommandEnvironment) async throws -> Reply {
        let present = try folder.endpoints()
        let endpoints = place.endpoints(over: present ?? Endpoints())
        let isInitialized = try folder.configuration() != nil
        try check(folder, isInitialized: isInitialized)
        if isInitialized, !isInsecure, let weak = present?.withoutTLS(in: endpoints) {
            throw ClientFailure(
                "the device uses TLS now, which \(weak) does not: use https://, or permit it with --insecure",
                exitCode: .usage)
        }
        if isInitialized, !isReplacing {
            let isNew = endpoints != present
            if isNew {
                try await AddressChange(folder, endpoints: endpoints, authorities: environment.authorities).run()
            }
            return try addressReply(folder, endpoints, isNew: isNew)
        }
        let result = try await DeviceInitialization(
            folder, endpoints: endpoints,
            authorities: try folder.authorities(for: endpoints, else: environment.authorities)
        ).run(
            deviceID: deviceID, version: "data-gateway/\(ProgramVersion.current)", platform: Self.platform,
            replacingKey: isReplacing)
        let tags = result.configuration.tags.sorted { $0.key < $1.key }
        return Reply(
            json: .object([
                JSONValue.Member(name: "device_id", value: .string(deviceID)),
                JSONValue.Member(name: "config", value: .string(folder.configurationPath)),
                JSONValue.Member(
                    name: "tags",
                    value: .object(tags.map { JSONValue.Member(name: $0.key, value: .string($0.value)) })),
                JSONValue.Member(name: "replaced_key", value: .bool(result.replacedKey)),
            ]),
            text: "initialized \(deviceID): its key is in \(folder.configurationPath)"
                + (isReplacing && !result.replacedKey ? "; the gateway had none to replace" : ""))
    }

    private func check(_ folder: DeviceFolder, isInitialized: Bool) throws {
        if deviceID.isEmpty, isReplacing || !isInitialized {
            throw ClientFailure("init requires DEVICE_ID", exitCode: .usage)
        }
        guard isInitialized, !isReplacing else { return }
        guard deviceID.isEmpty || deviceID.wholeMatch(of: /[0-9]{6}-[0-9]{6}/) != nil else {
            throw ClientFailure("DEVICE_ID must be YYMMDD-NNNNNN, not '\(deviceID)'", exitCode: .usage)
        }
        let known = try folder.deviceID()
        guard !place.isEmpty, deviceID.isEmpty || known.isEmpty || deviceID == known else {
            throw ClientFailure(
                """
                \(folder.configurationPath) already has a key\(known.isEmpty ? "" : " of \(known)"): --reinit replaces it; use \
                another folder (--device-dir) for another device; --host alone changes the address of the gateway
                """)
        }
    }

    /// - Parameter isNew: whether the endpoints replaced others; a script may run twice.
    private func addressReply(_ folder: DeviceFolder, _ endpoints: Endpoints, isNew: Bool) throws -> Reply {
        let all = [("auth", endpoints.auth), ("gateway", endpoints.gateway), ("device_init", endpoints.deviceInit)]
        return Reply(
            json: .object([
                JSONValue.Member(name: "device_id", value: .string(try folder.deviceID())),
                JSONValue.Member(
                    name: "endpoints",
                    value: .object(all.map { JSONValue.Member(name: $0.0, value: .string("\($0.1)")) })),
                JSONValue.Member(name: "changed", value: .bool(isNew)),
            ]),
            text: isNew
                ? "the gateway of this device is at \(endpoints.gateway) now: it accepted the device's key"
                : "the gateway of this device is at \(endpoints.gateway) already: nothing was changed")
    }

    private static var platform: String {
        #if arch(arm64)
            "linux-arm64"
        #else
            "linux-x86_64"
        #endif
    }
}
