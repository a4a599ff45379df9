import Basics
import CommandLineInterface
import DeviceClient
import Foundation
import GatewayErrors
import RPC

/// `data-gateway init`
struct Initialize: Command {
    static let name = "init"
    static let summary = "Fetch this device's key, so that it can upload"
    static let discussion = [
        """
        Writes archebase-config.json and archebase-endpoints.json, as the SDKs do. A device can fetch its first key once; \
        if that key or the reply to an earlier init was lost, --reinit replaces the key.
        """
    ]

    static let examples = ["init 260427-000001 --host https://gateway.example.com"]

    static var parameters: [Parameter<Self>] {
        [
            .argument("DEVICE_ID", \.deviceID, "The registered device id: YYMMDD-NNNNNN"),
            .flag("--reinit", \.isReplacing, "Replace the device's current key"),
        ] + EndpointOptions.parameters(standard: "the host of an earlier init, else 127.0.0.1").map { $0.at(\.place) }
            + DeviceOptions.parameters(json: "Print one JSON object").map { $0.at(\.device) }
    }

    var deviceID = ""
    var place = EndpointOptions()
    var isReplacing = false
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
        if !isReplacing, try folder.configuration() != nil {
            throw ClientFailure(
                """
                \(folder.configurationPath) already has a key: --reinit replaces it; use another folder (--device-dir) for \
                another device
                """)
        }
        let configuration = try await DeviceInitialization(
            folder, endpoints: try place.endpoints(over: folder.endpoints() ?? Endpoints()),
            authorities: environment.authorities
        ).run(
            deviceID: deviceID, version: "data-gateway/\(ProgramVersion.current)", platform: Self.platform,
            replacingKey: isReplacing)
        let tags = configuration.tags.sorted { $0.key < $1.key }
        return Reply(
            json: .object([
                JSONValue.Member(name: "device_id", value: .string(deviceID)),
                JSONValue.Member(name: "config", value: .string(folder.configurationPath)),
                JSONValue.Member(
                    name: "tags",
                    value: .object(tags.map { JSONValue.Member(name: $0.key, value: .string($0.value)) })),
            ]),
            text: "initialized \(deviceID): its key is in \(folder.configurationPath)")
    }

    private static var platform: String {
        #if arch(arm64)
            "linux-arm64"
        #else
            "linux-x86_64"
        #endif
    }
}
