package import Basics
package import HTTPClient
import HTTPTypes
package import StoreProtocol
import Synchronization
import XML

/// The operations of an object store, OSS or S3, that an upload consists of. Each is one request, without retries and without new
/// credentials.
///
/// All throw `StoreRefusal` for errors of the store, and the errors of `HTTPConnection.exchange`.
package struct StoreClient: Sendable {
    /// The largest response in bytes, except pages of parts.
    private static let maximumResponseBytes = 64 << 10
    /// The largest id or ETag of a store in bytes; they may be stored and sent again.
    static let maximumTokenBytes = 1024

    private let object: StoreObject
    private let credentials: SigningCredentials
    private let connection: HTTPConnection
    private let clock: any WallClock

    package init(
        _ object: StoreObject, credentials: SigningCredentials, over connection: HTTPConnection, clock: any WallClock
    ) {
        self.object = object
        self.credentials = credentials
        self.connection = connection
        self.clock = clock
    }

    /// A piece of a file, or of other bytes, with its digests.
    package struct Piece: Sendable {
        package let source: any RangedBytes
        package let range: Range<Int64>
        /// The MD5, 16 bytes.
        package let md5: [UInt8]
        package let crc64: UInt64

        package init(of source: any RangedBytes, range: Range<Int64>, md5: [UInt8], crc64: UInt64) {
            self.source = source
            self.range = range
            self.md5 = md5
            self.crc64 = crc64
        }

        /// Reads the piece to compute its digests; `nil` if the bytes end before it.
        package init?(reading range: Range<Int64>, of source: any RangedBytes) async throws {
            let digests = try await Worker.disk.run {
                try source.digest(of: range).map { (md5: $0.finalizedMD5(), crc64: $0.crc64) }
            }
            guard let digests else { return nil }
            self.init(of: source, range: range, md5: digests.md5, crc64: digests.crc64)
        }

        fileprivate func fields(_ contentType: String = ContentType.unknown) -> HTTPFields {
            ["Content-MD5": Base64.encode(md5), "Content-Type": contentType]
        }
    }

    /// - Parameter contentType: the type of the object; `nil` = not sent.
    package func initiateMultipart(contentType: String? = nil) async throws -> String {
        let reply = try await send(
            "POST", [("uploads", "")], fields: contentType.map { ["Content-Type": $0] } ?? [:])
        let document = try? XMLElement(parsing: reply.body, maximumBytes: Self.maximumResponseBytes)
        guard let id = document?["UploadId"], !id.isEmpty, id.utf8.count <= Self.maximumTokenBytes else {
            throw Self.misunderstood("UploadId")
        }
        return id
    }

    /// - Parameter sent: see `HTTPConnection.exchange`.
    package func put(
        part number: Int, of multipartID: String, _ piece: Piece, sent: @escaping @Sendable (Int) -> Void
    ) async throws -> StorePart {
        let reply = try await send(
            "PUT", [("partNumber", String(number)), ("uploadId", multipartID)], fields: piece.fields(),
            body: .ranged(piece.source, piece.range), sent: sent)
        return StorePart(
            number: number, size: Int64(piece.range.count), etag: try Self.checked(reply, crc64: piece.crc64),
            crc64: piece.crc64)
    }

    /// - Returns: the object's ETag.
    ///
    /// - Parameter replaces: whether an existing object is overwritten; otherwise the store refuses that.
    package func put(
        _ piece: Piece, contentType: String = ContentType.unknown, replaces: Bool = true,
        sent: @escaping @Sendable (Int) -> Void
    ) async throws -> String {
        let body: HTTPRequest.Body = piece.range.isEmpty ? .bytes([]) : .ranged(piece.source, piece.range)
        return try Self.checked(
            try await send("PUT", [], fields: guarded(piece.fields(contentType), replaces), body: body, sent: sent),
            crc64: piece.crc64)
    }

    /// Returns every part in the store, over all pages.
    package func parts(of multipartID: String) async throws -> [StorePart] {
        var parts: [StorePart] = []
        while true {
            let marker = parts.last.map { [("part-number-marker", String($0.number))] } ?? []
            let reply = try await send("GET", [("uploadId", multipartID)] + marker)
            let page = try StorePartPage(reply.body, after: parts.last?.number ?? 0)
            parts += page.parts
            guard page.isTruncated else { return parts }
        }
    }

    /// - Parameter parts: in order.
    /// - Returns: the object's ETag.
    package func complete(
        _ multipartID: String, parts: [StorePart], replaces: Bool = true
    ) async throws -> String {
        let reply = try await send(
            "POST", [("uploadId", multipartID)], fields: guarded(["Content-Type": "application/xml"], replaces),
            body: .bytes(Self.completion(of: parts)))
        // Errors that OSS finds after the beginning of its response come with status 200.
        let document = try? XMLElement(parsing: reply.body, maximumBytes: Self.maximumResponseBytes)
        guard let document, document.name != "Error", let etag = document["ETag"] else { throw StoreRefusal(reply) }
        let pieces = parts.compactMap { part in part.crc64.map { (crc64: $0, size: part.size) } }
        if pieces.count == parts.count {
            _ = try Self.checked(reply, crc64: ContentDigest.crc64(of: pieces), etag: etag)
        }
        return etag
    }

    /// Aborts a multipart upload with its parts; one that does not exist counts as aborted.
    package func abort(_ multipartID: String) async throws {
        do {
            _ = try await send("DELETE", [("uploadId", multipartID)])
        } catch let refusal as StoreRefusal where refusal.status == 404 {}
    }

    /// Returns the document of CompleteMultipartUpload.
    static func completion(of parts: [StorePart]) -> [UInt8] {
        let list = parts.map { part in
            "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(FlatXML.escape(part.etag))</ETag></Part>"
        }
        return Array("<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>".utf8)
    }

    /// Returns the existing object; `nil` if the key has no object.
    package func head() async throws -> (size: Int64, etag: String, crc64: UInt64?)? {
        do {
            let reply = try await send("HEAD", [])
            guard let size = reply.fields["content-length"].flatMap({ Int64($0) }), let etag = reply.fields["etag"]
            else {
                throw Self.misunderstood("Content-Length")
            }
            return (size, etag, reply.fields["x-oss-hash-crc64ecma"].flatMap { UInt64($0) })
        } catch let refusal as StoreRefusal where refusal.status == 404 {
            return nil
        }
    }

    /// Adds the condition that no object is overwritten, unless `replaces` is true.
    private func guarded(_ fields: HTTPFields, _ replaces: Bool) -> HTTPFields {
        var fields = fields
        guard !replaces else { return fields }
        switch object.dialect {
        case .oss: fields.append("x-oss-forbid-overwrite", "true")
        case .s3: fields.append("If-None-Match", "*")
        }
        return fields
    }

    func send(
        _ method: String, _ query: [(name: String, value: String)], fields: HTTPFields = [:],
        body: HTTPRequest.Body = .none, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws -> HTTPReply {
        guard
            let signed = ClientRequest(
                method, object, query: query, fields: fields, credentials: credentials, now: clock.now())
        else {
            throw TransferFailure.unusable("\(object.bucket)/\(object.key) is not a valid object name")
        }
        let reply = try await connection.exchange(
            HTTPRequest(signed.method, signed.url, fields: signed.fields, body: body), sent: sent)
        guard (200..<300).contains(reply.status) else { throw StoreRefusal(reply) }
        return reply
    }

    /// Returns the ETag if the store's CRC-64 is the expected one.
    private static func checked(_ reply: HTTPReply, crc64: UInt64, etag: String? = nil) throws -> String {
        if let stored = reply.fields["x-oss-hash-crc64ecma"], stored != String(crc64) {
            throw StoreRefusal(
                status: reply.status, code: "BadDigest", message: "the stored bytes differ from the sent bytes (CRC-64)"
            )
        }
        guard let etag = etag ?? reply.fields["etag"] else { throw misunderstood("ETag") }
        return etag
    }

    static func misunderstood(_ what: String) -> TransferFailure {
        .unusable("the object store's answer has no \(what): check that the endpoint is an object store")
    }
}

extension StoreClient {
    /// The largest range that ``contents(_:)`` returns, in bytes.
    package static let maximumContentBytes: Int64 = 4 << 20

    /// Returns bytes of the object.
    ///
    /// - Parameter range: not empty, within the object, at most ``maximumContentBytes``.
    package func contents(_ range: Range<Int64>) async throws -> [UInt8] {
        let reply = try await send(
            "GET", [], fields: ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
        guard reply.body.count == range.count, reply.status == 206 || range.lowerBound == 0 else {
            throw TransferFailure.unusable("the object store did not answer with the requested bytes")
        }
        return reply.body
    }

    /// Removes the object; one that does not exist counts as removed.
    package func delete() async throws {
        do {
            _ = try await send("DELETE", [])
        } catch let refusal as StoreRefusal where refusal.status == 404 {}
    }
}

/// The clock for signatures: the machine's, until a server reports that it is wrong.
///
/// A device's clock may show any time after a flat battery, and signatures contain the time.
package final class ServerClock: WallClock {
    private let machine: any WallClock
    /// The microseconds by which the server is ahead.
    private let lead = Lock<Int64>(0)

    package init(_ machine: any WallClock) { self.machine = machine }

    package func now() -> UnixTime { machine.now().adding(microseconds: lead.withLock { $0 }) }

    /// Adjusts the clock to `time`; whole seconds are exact enough.
    package func adopt(_ time: UnixTime) {
        let now = machine.now()
        lead.withLock { $0 = time.microseconds - now.microseconds }
    }
}
