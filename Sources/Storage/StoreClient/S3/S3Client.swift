package import Basics
import Crypto
package import HTTPClient
import HTTPTypes
package import StoreProtocol
import XML

/// The operations of an S3 store that an engine for objects needs. Each is one request; only one that was refused because of its
/// credentials is repeated, once, with new ones, unless its body was streamed.
///
/// All throw ``StoreRefusal`` for errors of the store, and the errors of `HTTPConnection.exchange`.
package struct S3Client: Sendable {
    /// The largest response in bytes, except lists.
    private static let maximumResponseBytes = 64 << 10

    package let bucket: S3Bucket
    private let source: any CredentialSource
    private let connection: HTTPConnection
    private let clock: any WallClock
    private let observer: (any S3Observer)?

    package init(
        _ bucket: S3Bucket, credentials source: any CredentialSource, over connection: HTTPConnection,
        clock: any WallClock, observer: (any S3Observer)? = nil
    ) {
        self.observer = observer
        self.bucket = bucket
        self.source = source
        self.connection = connection
        self.clock = clock
    }

    /// The number of exchanges in progress.
    package var exchanges: Int { connection.exchanges }

    // MARK: Objects

    /// Stores an object whose bytes are in memory.
    ///
    /// - Returns: its ETag.
    package func put(_ key: String, _ bytes: [UInt8], _ properties: S3Properties = S3Properties()) async throws
        -> String
    {
        var properties = properties
        properties.md5 = properties.md5 ?? Digest.md5(bytes)
        let reply = try await send(S3Operation("PUT", key, fields: properties.fields), body: .bytes(bytes))
        return try Self.etag(of: reply)
    }

    /// Begins to store an object whose bytes are streamed; the body is not signed.
    ///
    /// - Parameter size: in bytes.
    package func upload(_ key: String, size: Int64, _ properties: S3Properties = S3Properties()) async throws
        -> S3Upload
    {
        let credentials = try await source.current()
        let request = try sign(S3Operation("PUT", key, fields: properties.fields), credentials)
        return S3Upload(
            connection.upload(request, size: size), source: source, credentials: credentials, observer: observer)
    }

    /// Begins to read bytes of an object.
    ///
    /// - Parameters:
    ///   - range: not empty, within the object; `nil` = the whole object.
    ///   - etag: the ETag that the object must have.
    ///   - reader: see ``HTTPConnection/download(_:by:)``.
    package func download(
        _ key: String, _ range: Range<Int64>? = nil, ifMatch etag: String? = nil, by reader: HTTPBodyReader? = nil
    ) async throws -> HTTPDownload {
        var fields = HTTPFields()
        if let range { fields.append("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)") }
        if let etag { fields.append("If-Match", etag) }
        let operation = S3Operation("GET", key, fields: fields)
        let download = try await repeatingOnce { credentials in
            try await observing(.get) {
                let download = try await connection.download(try sign(operation, credentials), by: reader)
                guard (200..<300).contains(download.status) else { throw StoreRefusal(try await download.rest()) }
                return download
            }
        }
        guard Self.matches(download, range) else {
            throw TransferFailure.unusable("the object store did not answer with the requested bytes")
        }
        return download
    }

    private static func matches(_ download: HTTPDownload, _ range: Range<Int64>?) -> Bool {
        guard let range else { return download.status == 200 && download.fields["content-length"] != nil }
        let length = download.fields["content-length"]
        let answered = download.fields["content-range"] ?? ""
        return length == String(range.count)
            && (download.status == 206 && answered.hasPrefix("bytes \(range.lowerBound)-\(range.upperBound - 1)/")
                || download.status == 200 && range.lowerBound == 0)
    }

    /// Makes a reader of downloads, for a thread that blocks.
    package func makeReader() -> HTTPBodyReader { connection.makeReader() }

    /// Returns the properties of an object; `nil` if the key has no object.
    package func head(_ key: String) async throws -> S3Description? {
        do {
            let reply = try await send(S3Operation("HEAD", key))
            guard let description = S3Description(reply.fields) else {
                throw StoreClient.misunderstood("Content-Length")
            }
            return description
        } catch let refusal as StoreRefusal where refusal.kind == .notFound {
            return nil
        }
    }

    /// Removes an object; one that does not exist counts as removed.
    package func delete(_ key: String) async throws {
        do {
            _ = try await send(S3Operation("DELETE", key))
        } catch let refusal as StoreRefusal where refusal.code == "NoSuchKey" {}
    }

    /// Copies an object within the bucket, at most 5 GiB, with its metadata.
    ///
    /// - Parameter properties: the class and the encryption of the copy.
    /// - Returns: the ETag of the copy.
    package func copy(
        _ source: String, to key: String, _ properties: S3Properties = S3Properties()
    ) async throws -> String {
        var fields = properties.fields
        fields.append("x-amz-copy-source", "/\(bucket.name)/\(URLEncoding.encode(source, keepingSlashes: true))")
        let reply = try await send(S3Operation("PUT", key, fields: fields))
        // Errors that the store finds after the beginning of its response come with status 200.
        let document = Self.document(reply, maximumBytes: Self.maximumResponseBytes)
        guard let document, document.name != "Error", let etag = document["ETag"] else { throw StoreRefusal(reply) }
        return etag
    }

    // MARK: Sending

    func sign(_ operation: S3Operation, _ credentials: SigningCredentials) throws -> HTTPRequest {
        guard let signed = ClientRequest(operation, of: bucket, credentials: credentials, now: clock.now()) else {
            throw TransferFailure.unusable("\(bucket.name)/\(operation.key ?? "") is not a valid object name")
        }
        return HTTPRequest(signed.method, signed.url, fields: signed.fields)
    }

    func send(_ operation: S3Operation, body: HTTPRequest.Body = .none) async throws -> HTTPReply {
        try await repeatingOnce { credentials in
            var request = try sign(operation, credentials)
            request.body = body
            return try await observing(operation.kind) { [request] in
                if case .bytes(let bytes) = body { observer?.sent(bytes.count) }
                let reply = try await connection.exchange(request)
                guard (200..<300).contains(reply.status) else { throw StoreRefusal(reply) }
                return reply
            }
        }
    }

    /// Reports the end of a request, unless it was given up.
    private func observing<Result>(
        _ kind: S3RequestKind, _ request: () async throws -> Result
    ) async throws -> Result {
        guard let observer else { return try await request() }
        let began = ContinuousClock.now
        do {
            let result = try await request()
            observer.ended(kind, nil, after: .now - began)
            return result
        } catch {
            if !(error is CancellationError) { observer.ended(kind, error, after: .now - began) }
            throw error
        }
    }

    /// Repeats a request that was refused because of its credentials, if there are others.
    private func repeatingOnce<Result>(
        _ request: (SigningCredentials) async throws -> Result
    ) async throws -> Result {
        let first = try await source.current()
        do {
            return try await request(first)
        } catch let refusal as StoreRefusal where refusal.mayBeOfCredentials {
            await source.refused(first)
            guard let second = try? await source.current(), !second.isSame(as: first) else { throw refusal }
            return try await request(second)
        }
    }

    static func etag(of reply: HTTPReply) throws -> String {
        guard let etag = reply.fields["etag"], etag.utf8.count <= StoreClient.maximumTokenBytes else {
            throw StoreClient.misunderstood("ETag")
        }
        return etag
    }

    /// Reads a document; a store may send spaces before it while it works.
    static func document(_ reply: HTTPReply, maximumBytes: Int) -> XMLElement? {
        try? XMLElement(
            parsing: Array(reply.body.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }), maximumBytes: maximumBytes)
    }
}
