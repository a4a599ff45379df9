package import CommandLineInterface
import DeviceClient
package import GatewayFormats

/// The options for the gateway's endpoints for devices.
package struct EndpointOptions: Sendable {
    var host: HostArgument?
    var auth: EndpointArgument?
    var gateway: EndpointArgument?
    var deviceInit: EndpointArgument?

    package init() {}

    /// - Parameter standard: the default of the options, for the help.
    package static func parameters(standard: String) -> [Parameter<Self>] {
        [
            .option(
                "--host", "URL", \.host,
                "The gateway's host with its standard ports: [http[s]://]NAME (default: \(standard))"),
            .option("--auth", "URL", \.auth, "http[s]://HOST:PORT of the auth listener (default: from --host)"),
            .option(
                "--gateway", "URL", \.gateway, "http[s]://HOST:PORT of the gateway listener (default: from --host)"),
            .option(
                "--device-init", "URL", \.deviceInit,
                "http[s]://HOST:PORT of the device-init listener (default: from --host)"),
        ]
    }

    /// Whether the options name every endpoint.
    package var isComplete: Bool { host != nil || auth != nil && gateway != nil && deviceInit != nil }

    /// Whether the options name the device-init listener.
    package var namesDeviceInit: Bool { host != nil || deviceInit != nil }

    /// Whether the options name no endpoint.
    var isEmpty: Bool { host == nil && auth == nil && gateway == nil && deviceInit == nil }

    /// Returns the endpoints of the options, with the defaults of `standard`.
    package func endpoints(over standard: @autoclosure () throws -> Endpoints) rethrows -> Endpoints {
        var endpoints = try host?.endpoints ?? standard()
        if let auth { endpoints.auth = auth.endpoint }
        if let gateway { endpoints.gateway = gateway.endpoint }
        if let deviceInit { endpoints.deviceInit = deviceInit.endpoint }
        return endpoints
    }
}
