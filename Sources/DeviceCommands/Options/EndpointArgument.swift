import CommandLineInterface
import DeviceClient
import GatewayFormats
import HTTPTypes
import Sockets

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
