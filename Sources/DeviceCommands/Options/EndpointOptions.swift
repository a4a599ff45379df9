import CommandLineInterface
import DeviceClient

/// Where devices find the gateway, as a command line says it.
package struct EndpointOptions: Sendable {
    var host: HostArgument?
    var auth: EndpointArgument?
    var gateway: EndpointArgument?
    var deviceInit: EndpointArgument?

    package init() {}

    /// - Parameter standard: what holds without these options, for the help.
    package static func parameters(standard: String) -> [Parameter<Self>] {
        [
            .option(
                "--host", "URL", \.host,
                "http[s]://NAME: the gateway's host with its standard ports (default: \(standard))"),
            .option("--auth", "URL", \.auth, "http[s]://HOST:PORT of the auth listener (default: from --host)"),
            .option(
                "--gateway", "URL", \.gateway, "http[s]://HOST:PORT of the gateway listener (default: from --host)"),
            .option(
                "--device-init", "URL", \.deviceInit,
                "http[s]://HOST:PORT of the device-init listener (default: from --host)"),
        ]
    }

    /// What was said, over `standard`.
    package func endpoints(over standard: @autoclosure () throws -> Endpoints) rethrows -> Endpoints {
        var endpoints = try host?.endpoints ?? standard()
        if let auth { endpoints.auth = auth.endpoint }
        if let gateway { endpoints.gateway = gateway.endpoint }
        if let deviceInit { endpoints.deviceInit = deviceInit.endpoint }
        return endpoints
    }
}
