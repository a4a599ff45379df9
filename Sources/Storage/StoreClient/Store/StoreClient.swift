import Basics
import HTTPClient
import HTTPTypes
import StoreProtocol
import XML

/// The operations of an object store, of OSS or S3, that an upload is made of, each one request: neither repeated nor
/// refreshed here.
///
/// All throw `StoreRefusal` for what the store refuses, and what `HTTPConnection.exchange` throws.
package struct StoreClient: Sendable {
    /// Bytes of an answer that is no page of parts.
    private static let maximumAnswerBytes = 64 << 10
    /// Bytes of an id or an ETag that a store chose, and that may be stored and sent again.
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

    /// A piece of a file, and the digests of its bytes.
    package struct Piece: Sendable {
        package let file: FileReader
        package let range: Range<Int64>
        /// 16 bytes.
        package let md5: [UInt8]
        package let crc64: UInt64

        package init(file: FileReader, range: Range<Int64>, md5: [UInt8], crc64: UInt64) {
            self.file = file
            self.range = range
            self.md5 = md5
            self.crc64 = crc64
        }

        /// Reads the piece, to hash it; `nil` where the file ends before it.
        package init?(reading range: Range<Int64>, of file: FileReader) async throws {
            let digests = try await DiskWork.run {
                try file.digest(of: range).map { (md5: $0.finalizedMD5(), crc64: $0.crc64) }
            }
            guard let digests else { return nil }
            self.init(file: file, range: range, md5: digests.md5, crc64: digests.crc64)
        }

        fileprivate func fields(_ contentType: String = ContentType.unknown) -> HTTPFields {
            ["Content-MD5": Base64.encode(md5), "Content-Type": contentType]
        }
    }

    /// - Parameter contentType: of the object that the parts are to make; `nil` = not told.
    package func initiateMultipart(contentType: String? = nil) async throws -> String {
        let reply = try await send(
            "POST", [("uploads", "")], fields: contentType.map { ["Content-Type": $0] } ?? [:])
        let answer = try? XMLElement(parsing: reply.body, maximumBytes: Self.maximumAnswerBytes)
        guard let id = answer?["UploadId"], !id.isEmpty, id.utf8.count <= Self.maximumTokenBytes else {
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
            body: .file(piece.file, piece.range), sent: sent)
        return StorePart(
            number: number, size: Int64(piece.range.count), etag: try Self.checked(reply, crc64: piece.crc64),
            crc64: piece.crc64)
    }

    /// - Returns: the object's ETag.
    ///
    /// - Parameter replaces: whether an object that is there already is written over; otherwise the store refuses that.
    package func put(
        _ piece: Piece, contentType: String = ContentType.unknown, replaces: Bool = true,
        sent: @escaping @Sendable (Int) -> Void
    ) async throws -> String {
        let body: HTTPRequest.Body = piece.range.isEmpty ? .bytes([]) : .file(piece.file, piece.range)
        return try Self.checked(
            try await send("PUT", [], fields: guarded(piece.fields(contentType), replaces), body: body, sent: sent),
            crc64: piece.crc64)
    }

    /// Every part that the store holds, page by page.
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

    /// - Parameter parts: in their order.
    /// - Returns: the object's ETag.
    package func complete(
        _ multipartID: String, parts: [StorePart], replaces: Bool = true
    ) async throws -> String {
        let reply = try await send(
            "POST", [("uploadId", multipartID)], fields: guarded(["Content-Type": "application/xml"], replaces),
            body: .bytes(Self.completion(of: parts)))
        // What OSS found only after it had begun its answer comes with status 200.
        let answer = try? XMLElement(parsing: reply.body, maximumBytes: Self.maximumAnswerBytes)
        guard let answer, answer.name != "Error", let etag = answer["ETag"] else { throw StoreRefusal(reply) }
        let pieces = parts.compactMap { part in part.crc64.map { (crc64: $0, size: part.size) } }
        if pieces.count == parts.count {
            _ = try Self.checked(reply, crc64: ContentDigest.crc64(of: pieces), etag: etag)
        }
        return etag
    }

    /// Gives up a multipart upload and what it stored; one that is gone already is.
    package func abort(_ multipartID: String) async throws {
        do {
            _ = try await send("DELETE", [("uploadId", multipartID)])
        } catch let refusal as StoreRefusal where refusal.status == 404 {}
    }

    /// The document of CompleteMultipartUpload.
    static func completion(of parts: [StorePart]) -> [UInt8] {
        let list = parts.map { part in
            "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(FlatXML.escape(part.etag))</ETag></Part>"
        }
        return Array("<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>".utf8)
    }

    /// The object that is there; `nil` where none is.
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

    /// With the condition that no object is written over, where none is to be.
    private func guarded(_ fields: HTTPFields, _ replaces: Bool) -> HTTPFields {
        var fields = fields
        guard !replaces else { return fields }
        switch object.dialect {
        case .oss: fields.append("x-oss-forbid-overwrite", "true")
        case .s3: fields.append("If-None-Match", "*")
        }
        return fields
    }

    private func send(
        _ method: String, _ query: [(name: String, value: String)], fields: HTTPFields = [:],
        body: HTTPRequest.Body = .none, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws -> HTTPReply {
        guard
            let signed = ClientRequest(
                method, bucket: object.bucket, key: object.key, query: query, fields: fields, at: object.endpoint,
                region: object.region, dialect: object.dialect, credentials: credentials, now: clock.now())
        else {
            throw TransferFailure.unusable("\(object.bucket)/\(object.key) is not a valid object name")
        }
        let reply = try await connection.exchange(
            HTTPRequest(signed.method, signed.url, fields: signed.fields, body: body), sent: sent)
        guard (200..<300).contains(reply.status) else { throw StoreRefusal(reply) }
        return reply
    }

    /// The ETag, where the CRC-64 that the store computed is ours.
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
