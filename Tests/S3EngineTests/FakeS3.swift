import Basics
import Crypto
import Foundation
import HTTPClient
import HTTPTestClient
import StoreClient
import StoreProtocol

@testable import S3Engine

/// An S3 store in memory, with a clock of its own, that misbehaves as the test says.
final class FakeS3: Sendable {
    struct Request: Sendable {
        let method: String
        let key: String
        let query: String
        let fields: [String: String]
        let body: [UInt8]

        /// The name of the property of the bucket that is read.
        var property: String? { key.isEmpty && !query.contains("list-type") && method == "GET" ? query : nil }
    }

    struct Response: Sendable {
        var status = 200
        var fields: [String: String] = [:]
        var body = ""
        /// Whether the connection is closed in place of the response.
        var isLost = false

        static func error(_ status: Int, _ code: String) -> Response {
            Response(status: status, body: "<Error><Code>\(code)</Code><Message>m</Message></Error>")
        }
    }

    struct Behavior: Sendable {
        var honorsNew = true
        var honorsMatch = true
        /// Whether `If-Match` must have no quotes.
        var comparesBareTags = false
        var hasMD5ETags = true
        var hasDates = true
        var removes = true
        var keepsMetadata = true
        /// The documents of the bucket's properties by name; the others are unknown.
        var properties: [String: Response] = [:]
        /// Returns a response in place of the store's own, without any effect.
        var intercept: @Sendable (Request) -> Response? = { _ in nil }
        /// Whether the response to a request that had its effect is lost.
        var losesResponse: @Sendable (Request) -> Bool = { _ in false }
        /// Changes the bytes that are read.
        var alter: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    }

    struct Stored: Sendable {
        let bytes: [UInt8]
        let etag: String
        let modifiedAt: UnixTime
        var metadata: [String: String] = [:]
    }

    fileprivate struct State {
        var behavior = Behavior()
        var objects: [String: Stored] = [:]
        var requests: [Request] = []
    }

    fileprivate final class Core: Sendable {
        let state = Lock(State())
        let clock = ManualClock()
    }

    private let core: Core
    let server: RawServer

    init() throws {
        let core = Core()
        self.core = core
        server = try RawServer { peer in
            while let request = try? Self.next(peer) {
                let response = core.respond(request)
                if response.isLost { return }
                try Self.send(response, to: request, peer)
            }
        }
    }

    deinit {
        server.stop()
    }

    var clock: ManualClock { core.clock }
    var objects: [String: Stored] { core.state.withLock { $0.objects } }
    var requests: [Request] { core.state.withLock { $0.requests } }

    func change(_ body: @Sendable (inout Behavior) -> Void) { core.state.withLock { body(&$0.behavior) } }

    func put(_ key: String, _ text: String) {
        core.state.withLock { $0.objects[key] = core.stored(Array(text.utf8), hasMD5ETag: true) }
    }

    func configuration(prefix: String = "gateway/") throws -> S3EngineConfiguration {
        S3EngineConfiguration(
            S3Bucket(endpoint: try StoreEndpoint(server.url), region: "us-east-1", name: "bucket"), prefix: prefix)
    }

    let credentials = StaticCredentials(SigningCredentials(accessKeyID: "id", secret: Secret("secret")))

    func client() throws -> S3Client {
        try configuration().controlClient(credentials, clock: SystemClock())
    }

    // MARK: HTTP

    private static func next(_ peer: RawPeer) throws -> Request {
        let lines = try peer.head().components(separatedBy: "\r\n")
        let words = lines[0].components(separatedBy: " ")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let halves = line.components(separatedBy: ": ")
            fields[halves[0].lowercased()] = halves.dropFirst().joined(separator: ": ")
        }
        let target = words[1].components(separatedBy: "?")
        let path = (target[0].removingPercentEncoding ?? "").dropFirst("/bucket".count)
        return Request(
            method: words[0], key: String(path.drop { $0 == "/" }), query: target.count > 1 ? target[1] : "",
            fields: fields, body: peer.body(fields["content-length"].flatMap { Int($0) } ?? 0))
    }

    private static func send(_ response: Response, to request: Request, _ peer: RawPeer) throws {
        var head = "HTTP/1.1 \(response.status) X\r\n"
        for (name, value) in response.fields { head += "\(name): \(value)\r\n" }
        if response.fields["Content-Length"] == nil { head += "Content-Length: \(response.body.utf8.count)\r\n" }
        try peer.send(head + "\r\n" + (request.method == "HEAD" ? "" : response.body))
    }
}

extension FakeS3.Core {
    fileprivate func stored(_ bytes: [UInt8], hasMD5ETag: Bool) -> FakeS3.Stored {
        let digest = hasMD5ETag ? Hex.lower(Digest.md5(bytes)) : "kms-" + Hex.lower(Digest.sha256(bytes).prefix(8))
        return FakeS3.Stored(bytes: bytes, etag: "\"\(digest)\"", modifiedAt: clock.now())
    }

    fileprivate func respond(_ request: FakeS3.Request) -> FakeS3.Response {
        state.withLock { state in
            state.requests.append(request)
            var response = state.behavior.intercept(request) ?? perform(request, &state)
            if state.behavior.hasDates, response.fields["Date"] == nil {
                response.fields["Date"] = Timestamps.http(clock.now())
            }
            response.isLost = response.isLost || state.behavior.losesResponse(request)
            return response
        }
    }

    private func perform(_ request: FakeS3.Request, _ state: inout FakeS3.State) -> FakeS3.Response {
        if let property = request.property {
            return state.behavior.properties[property] ?? .error(404, "NoSuch")
        }
        switch request.method {
        case "PUT": return store(request, &state)
        case "GET" where request.key.isEmpty: return list(request, state)
        case "GET", "HEAD": return read(request, state)
        case "POST": return removeMany(request, &state)
        default:
            if let tag = request.fields["if-match"], state.behavior.honorsMatch,
                state.objects[request.key]?.etag != tag
            {
                return .error(412, "PreconditionFailed")
            }
            if state.behavior.removes { state.objects[request.key] = nil }
            return FakeS3.Response(status: 204)
        }
    }

    private func store(_ request: FakeS3.Request, _ state: inout FakeS3.State) -> FakeS3.Response {
        let existing = state.objects[request.key]
        if request.fields["if-none-match"] != nil, state.behavior.honorsNew, existing != nil {
            return .error(412, "PreconditionFailed")
        }
        if let tag = request.fields["if-match"], state.behavior.honorsMatch {
            guard let existing else { return .error(404, "NoSuchKey") }
            let expected = state.behavior.comparesBareTags ? existing.etag.filter { $0 != "\"" } : existing.etag
            guard expected == tag else { return .error(412, "PreconditionFailed") }
        }
        var new = stored(request.body, hasMD5ETag: state.behavior.hasMD5ETags)
        if state.behavior.keepsMetadata {
            new.metadata = request.fields.filter { $0.key.hasPrefix("x-amz-meta-") }
        }
        state.objects[request.key] = new
        return FakeS3.Response(fields: ["ETag": new.etag])
    }

    private func read(_ request: FakeS3.Request, _ state: FakeS3.State) -> FakeS3.Response {
        guard let object = state.objects[request.key] else { return .error(404, "NoSuchKey") }
        var bytes = state.behavior.alter(object.bytes)
        var response = FakeS3.Response(fields: [
            "ETag": object.etag, "Last-Modified": Timestamps.http(object.modifiedAt),
        ])
        response.fields.merge(object.metadata) { first, _ in first }
        if let range = request.fields["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) })
        {
            response.status = 206
            response.fields["Content-Range"] = "bytes \(range[0])-\(range[1])/\(bytes.count)"
            bytes = Array(bytes[range[0]...range[1]])
        }
        response.fields["Content-Length"] = "\(bytes.count)"
        response.body = String(decoding: bytes, as: UTF8.self)
        return response
    }

    private func list(_ request: FakeS3.Request, _ state: FakeS3.State) -> FakeS3.Response {
        let prefix =
            request.query.components(separatedBy: "&").first { $0.hasPrefix("prefix=") }?
            .dropFirst("prefix=".count).removingPercentEncoding ?? ""
        let entries = state.objects.filter { $0.key.hasPrefix(prefix) }.map {
            "<Contents><Key>\($0.key)</Key><Size>\($0.value.bytes.count)</Size></Contents>"
        }
        return FakeS3.Response(body: "<ListBucketResult>\(entries.joined())</ListBucketResult>")
    }

    private func removeMany(_ request: FakeS3.Request, _ state: inout FakeS3.State) -> FakeS3.Response {
        let text = String(decoding: request.body, as: UTF8.self)
        for key in text.components(separatedBy: "<Key>").dropFirst() where state.behavior.removes {
            state.objects[key.components(separatedBy: "</Key>")[0]] = nil
        }
        return FakeS3.Response(body: "<DeleteResult></DeleteResult>")
    }
}
