package import CommandLineInterface
import DeviceClient
package import GatewayFormats
import HTTPTypes
import Sockets

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

/// An argument `http[s]://HOST:PORT`.
struct EndpointArgument: ArgumentValue, Hashable, Sendable {
    let endpoint: Endpoints.Endpoint

    init(argument: String) throws(ArgumentProblem) {
        let text = AddressText(argument)
        guard let isSecure = text.isSecure, let address = PeerAddress(text.rest), address.port > 0,
            PeerAddress.isHost(address.host)
        else {
            throw ArgumentProblem("must be http://HOST:PORT or https://HOST:PORT, not '\(argument)'")
        }
        endpoint = Endpoints.Endpoint(scheme: isSecure ? .https : .http, host: address.host, port: address.port)
    }
}

/// An argument `[http[s]://]NAME`. Without a scheme it is https, unless the name is a loopback address.
struct HostArgument: ArgumentValue, Hashable, Sendable {
    let endpoints: Endpoints

    init(argument: String) throws(ArgumentProblem) {
        let text = AddressText(argument)
        guard !text.rest.isEmpty, !text.rest.contains("/"), let address = PeerAddress("\(text.rest):1"),
            PeerAddress.isHost(address.host)
        else {
            throw ArgumentProblem("must be [http[s]://]NAME, not '\(argument)'")
        }
        let isSecure = text.isSecure ?? !address.isLoopback
        endpoints = Endpoints(scheme: isSecure ? .https : .http, host: address.host)
    }
}
