import Basics
import HTTPClient
import HTTPTypes
import Synchronization

/// The HTTPS client for one provider. It follows no redirects, because a redirect could lead anywhere.
///
/// Its callers limit the number of exchanges in progress: see ``ProviderSource/exchanges``.
final class ProviderConnection: ProviderTransport {
    /// The time of a whole exchange.
    private static let timeout = Duration.seconds(5)
    private static let maximumConnections = 4

    private let connections: [HTTPConnection]
    private let turn = Lock(0)

    init(authorities: String?) {
        var options = HTTPConnection.Options(authorities: authorities)
        options.connectTimeout = Self.timeout
        options.totalTimeout = Self.timeout
        connections = (0..<Self.maximumConnections).map { _ in HTTPConnection(options) }
    }

    func get(_ url: String, limit: Int) async throws(ProviderFailure) -> ProviderDocument {
        let reply = try await exchange(HTTPRequest("GET", url, fields: ["Accept": "application/json"]), limit: limit)
        guard reply.status == 200 else { throw ProviderFailure("\(url) answered with HTTP status \(reply.status)") }
        return ProviderDocument(body: reply.body, maxAge: reply.fields["cache-control"].flatMap(Self.maxAge))
    }

    func post(
        _ url: String, form: [(name: String, value: String)], authorization: String?, limit: Int
    ) async throws(ProviderFailure) -> (status: Int, body: [UInt8]) {
        var fields: HTTPFields = [
            "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
        ]
        if let authorization { fields.append("Authorization", authorization) }
        let body = HTTPRequest.Body.bytes(Array(URLEncoding.form(form).utf8))
        let reply = try await exchange(HTTPRequest("POST", url, fields: fields, body: body), limit: limit)
        return (reply.status, reply.body)
    }

    private func exchange(
        _ request: HTTPRequest, limit: Int
    ) async throws(ProviderFailure) -> (status: Int, fields: HTTPFields, body: [UInt8]) {
        let connection = turn.withLock { turn in
            turn = (turn + 1) % connections.count
            return connections[turn]
        }
        let body = Lock<[UInt8]>([])
        let receiver = HTTPReceiver(wants: { _, _ in true }) { bytes in
            let count = body.withLock { body in
                body += bytes
                return body.count
            }
            guard count <= limit else { throw TransferFailure.unusable("the response is longer than \(limit) bytes") }
        }
        do {
            let reply = try await connection.exchange(request, receiver: receiver)
            return (reply.status, reply.fields, body.withLock { $0 })
        } catch {
            let address = request.url.prefix { $0 != "?" }
            throw ProviderFailure("\(address) is not available: \(error)")
        }
    }

    /// Returns the `max-age` of a Cache-Control field (RFC 9111, section 5.2.2.1).
    static func maxAge(_ field: String) -> Duration? {
        for directive in field.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " || $0 == "\t" }) == "max-age",
                let seconds = Int64(parts[1]), (0...31_536_000).contains(seconds)
            else { continue }
            return .seconds(seconds)
        }
        return nil
    }
}

/// Sends requests to identity providers.
protocol ProviderTransport: Sendable {
    /// - Throws: ``ProviderFailure`` for any response but 200, and for one that is longer than `limit` bytes.
    func get(_ url: String, limit: Int) async throws(ProviderFailure) -> ProviderDocument

    /// Posts a form.
    ///
    /// - Parameter authorization: the value of the Authorization field; `nil` = none.
    /// - Returns: the response, whatever its status.
    /// - Throws: ``ProviderFailure`` if there is no response, or one that is longer than `limit` bytes.
    func post(
        _ url: String, form: [(name: String, value: String)], authorization: String?, limit: Int
    ) async throws(ProviderFailure) -> (status: Int, body: [UInt8])
}

/// A document of a provider.
struct ProviderDocument: Sendable {
    let body: [UInt8]
    /// The `max-age` of its Cache-Control field; `nil` without it.
    let maxAge: Duration?
}

/// The reason why a provider could not be asked; it is for the log.
struct ProviderFailure: Error, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
