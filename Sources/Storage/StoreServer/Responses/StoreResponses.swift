import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// The responses to one request, in its dialect.
struct StoreResponses {
    let dialect: any StoreDialect
    let requestID: String
    private let notes: HTTPRequestNotes
    /// The Host field of the request.
    let host: String
    /// The origin of the request's target, e.g. `https://192.0.2.7:50080`.
    let origin: String
    let isHead: Bool
    /// The bucket with the name that the client used; for static keys.
    var bucket: StoreBucket?
    /// Whether the response names the region of the bucket, as S3 does where a request is about a bucket.
    var namesRegion = false
    /// The permissions of scripts of other origins, if any are configured.
    private let crossOrigin: StoreCrossOrigin?

    init(_ head: HTTPRequestHead, _ dialect: any StoreDialect, origins: [String]) {
        self.dialect = dialect
        requestID = head.requestID
        notes = head.notes
        host = head.fields["host"] ?? ""
        origin = (head.isSecure ? "https://" : "http://") + host
        isHead = head.method == "HEAD"
        crossOrigin = StoreCrossOrigin(head, origins: origins)
    }

    /// Returns the log for the request: each line contains its id, its caller, and its operation as far as they are known.
    func log(_ log: Logger) -> Logger {
        log.scoped { [requestID, notes] line in
            line.add("request_id", requestID)
            line.add("operation", notes.operation)
            line.add("principal", notes.principal)
            line.add("target", notes.target)
        }
    }

    /// The region that S3's clients are told. Every region in a signature is accepted.
    static let region = "us-east-1"

    func empty(_ status: Int, _ fields: HTTPFields = [:]) -> HTTPResponse {
        HTTPResponse(status: status, fields: marked(fields))
    }

    /// Returns the response to a preflight request.
    func preflight() -> HTTPResponse {
        guard let fields = crossOrigin?.preflight else {
            return error(
                StoreError(.accessDenied, "This origin or method is not allowed: see object_store.cors_origins."))
        }
        return empty(200, fields)
    }

    func xml(_ status: Int, _ document: FlatXML, _ fields: HTTPFields = [:]) -> HTTPResponse {
        var all = marked(fields)
        all.append("Content-Type", "application/xml")
        return HTTPResponse(status: status, fields: all, body: .bytes(document.bytes))
    }

    func stored(etag: String, crc64: UInt64, _ checksum: Checksum?) -> HTTPResponse {
        empty(200, dialect.fields(ofStored: crc64, checksum).appending(["ETag": etag]))
    }

    func error(_ error: StoreError, _ fields: HTTPFields = [:]) -> HTTPResponse {
        let document = FlatXML(
            "Error",
            [
                FlatXML.Element("Code", dialect.name(of: error.code)), FlatXML.Element("Message", error.message),
                FlatXML.Element("RequestId", requestID), FlatXML.Element("HostId", host),
            ] + error.details)
        let status = dialect.status(of: error.code)
        let fields = fields.appending(error.fields)
        guard isHead else { return xml(status, document, fields) }
        return empty(status, fields.appending(dialect.fields(insteadOf: document)))
    }

    /// - Parameters:
    ///   - requestFields: the request's fields: its Range and its conditions.
    ///   - overrides: the fields chosen by the signer of the request.
    ///   - part: the requested part of the object.
    func object(
        _ object: StoredObject, _ store: ObjectStore, requestFields: HTTPFields, _ overrides: ResponseOverrides,
        part: ObjectPart? = nil
    ) throws -> HTTPResponse {
        var fields: HTTPFields = ["ETag": object.etag, "Last-Modified": Timestamps.http(object.createdAt)]
        let preconditions = Preconditions(requestFields)
        switch preconditions.outcome(etag: object.etag, lastModified: object.createdAt) {
        case .met: break
        case .notModified:
            return HTTPResponse(status: 304, fields: marked(fields), body: .omitted(length: object.size))
        case .failed:
            return error(
                StoreError(.preconditionFailed, "At least one of the preconditions you specified did not hold."))
        }
        let served = object.served
        let kept = served.text == nil ? [:] : served.fields(dialect.names)
        let contentType = object.contentType.flatMap { KeptFields.isServable("content-type", $0) ? $0 : nil }
        let disposition = overrides.fields["content-disposition"] ?? kept["content-disposition"]
        fields = fields.appending(
            overrides.fields.defaulting(kept).defaulting([
                "Content-Type": contentType ?? ContentType.unknown,
                // A browser saves it, whatever type the device said, unless the signer of the URL wants it shown.
                "Content-Disposition": "attachment",
            ]))
        // Displayed objects get an origin of their own: no script in an object may run in the store's origin, which may share the
        // host with the console.
        if !ResponseOverrides.isAttachment(disposition) { fields.append("Content-Security-Policy", "sandbox") }
        fields.append("X-Content-Type-Options", "nosniff")
        fields.append("Accept-Ranges", "bytes")
        let range = preconditions.permitRange(etag: object.etag) ? requestFields["range"].flatMap(ByteRange.init) : nil
        guard let sent = SentBytes(of: object, range, part: part) else {
            return error(
                StoreError(.invalidRange, "The requested range cannot be satisfied."),
                ["Content-Range": "bytes */\(object.size)"])
        }
        fields = fields.appending(sent.fields).appending(
            dialect.fields(
                ofObject: object.crc64, sent: sent.checksum, kind: object.checksum?.kind,
                isMultipart: object.isMultipart, requestFields: requestFields))
        if object.kept.text != nil {
            fields = dialect.fields(ofKept: object.kept, size: object.size).replacing(in: fields)
        }
        fields = marked(fields)
        let length = Int64(sent.range.count)
        if isHead { return HTTPResponse(status: sent.status, fields: fields, body: .omitted(length: length)) }
        let bytes = try store.open(object)
        let body =
            bytes.takeDescriptor().map { descriptor in
                HTTPResponse.Body.file(HTTPFile(owning: descriptor), offset: sent.range.lowerBound, length: length)
            } ?? .stream(EngineBody(bytes, sent.range), length: length)
        return HTTPResponse(status: sent.status, fields: fields, body: body)
    }

    /// Returns the client's names of a stored bucket and key.
    func name(_ bucket: String, _ key: String) -> (bucket: String, key: String) {
        self.bucket.map { ($0.name, $0.external(key)) } ?? (bucket, key)
    }

    func marked(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields.appending([dialect.requestIDField: requestID])
        if namesRegion { fields.append("x-amz-bucket-region", Self.region) }
        return crossOrigin.map { fields.appending($0.fields(of: fields)) } ?? fields
    }
}

extension HTTPFields {
    /// Returns `fields` with these replacing those of the same names.
    func replacing(in fields: HTTPFields) -> HTTPFields { defaulting(fields) }

    /// Returns these fields, and those of `others` with different names.
    func defaulting(_ others: HTTPFields) -> HTTPFields {
        others.fields.reduce(into: self) { if $0[$1.name] == nil { $0.append($1) } }
    }

    func appending(_ others: HTTPFields) -> HTTPFields {
        others.fields.reduce(into: self) { $0.append($1) }
    }
}
