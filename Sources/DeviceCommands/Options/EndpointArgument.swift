import CommandLineInterface
import DeviceClient
import HTTPTypes
import Sockets

/// An argument `http[s]://HOST:PORT`.
struct EndpointArgument: ArgumentValue, Hashable, Sendable {
    let endpoint: Endpoints.Endpoint

    init(argument: String) throws(ArgumentProblem) {
        guard let (scheme, rest) = Endpoints.Endpoint.Scheme.split(argument), let address = PeerAddress(rest),
            address.port > 0
        else { throw ArgumentProblem("must be http://HOST:PORT or https://HOST:PORT, not '\(argument)'") }
        endpoint = Endpoints.Endpoint(scheme: scheme, host: address.host, port: address.port)
    }
}

/// An argument `[http[s]://]NAME`. Without a scheme it is https, unless the name is a loopback address.
struct HostArgument: ArgumentValue, Hashable, Sendable {
    let endpoints: Endpoints

    init(argument: String) throws(ArgumentProblem) {
        let split = Endpoints.Endpoint.Scheme.split(argument)
        let rest = split?.1 ?? argument
        guard !rest.isEmpty, !rest.contains("/"), let address = PeerAddress("\(rest):1") else {
            throw ArgumentProblem("must be [http[s]://]NAME, not '\(argument)'")
        }
        endpoints = Endpoints(scheme: split?.0 ?? (address.isLoopback ? .http : .https), host: address.host)
    }
}

extension Endpoints.Endpoint.Scheme {
    /// Returns the scheme of a URL and the rest without a final slash; `nil` for any other scheme.
    fileprivate static func split(_ url: String) -> (Self, String)? {
        for scheme in [Self.http, .https] where url.hasPrefix("\(scheme.rawValue)://") {
            let rest = url.dropFirst(scheme.rawValue.count + 3)
            return (scheme, String(rest.hasSuffix("/") ? rest.dropLast() : rest))
        }
        return nil
    }
}
