import Database
import Network
import Platform

/// The answers to one request, as OSS gives them.
struct StoreAnswers {
    let requestID: String
    /// The Host field of the request.
    let host: String
    /// Where the request came to, e.g. `https://192.0.2.7:50080`.
    let origin: String
    let isHead: Bool

    init(_ head: HTTPRequestHead) {
        requestID = Hex.upper(Random.bytes(12))
        host = head.fields["host"] ?? ""
        origin = (head.isSecure ? "https://" : "http://") + host
        isHead = head.method == "HEAD"
    }

    func empty(_ status: Int, _ fields: HTTPFields = [:]) -> HTTPResponse {
        HTTPResponse(status: status, fields: marked(fields))
    }

    func xml(_ status: Int, _ document: FlatXML, _ fields: HTTPFields = [:]) -> HTTPResponse {
        var all = marked(fields)
        all.append("Content-Type", "application/xml")
        return HTTPResponse(status: status, fields: all, body: .bytes(document.bytes))
    }

    /// Acknowledges bytes: what clients check is what was stored.
    func stored(etag: String, crc64: UInt64) -> HTTPResponse {
        empty(200, ["ETag": etag, "x-oss-hash-crc64ecma": String(crc64)])
    }

    /// A HEAD has no body: the document goes into two fields, in base64, since clients look in one or the other, and
    /// could not tell a 403 from a 404 without it.
    func error(_ error: StoreError, _ fields: HTTPFields = [:]) -> HTTPResponse {
        let document = FlatXML(
            "Error",
            [
                FlatXML.Element("Code", error.code.rawValue), FlatXML.Element("Message", error.message),
                FlatXML.Element("RequestId", requestID), FlatXML.Element("HostId", host),
            ] + error.details)
        guard isHead else { return xml(error.code.status, document, fields) }
        var all = fields
        let text = Base64.encode(document.bytes)
        all.append("x-oss-err", text)
        all.append("x-oss-error", text)
        return empty(error.code.status, all)
    }

    /// - Parameter asked: the request's fields: its Range, and on which conditions it is to be answered.
    func object(_ object: StoredObject, _ data: DataDirectory, asked: HTTPFields) throws -> HTTPResponse {
        var fields: HTTPFields = ["ETag": object.etag, "Last-Modified": Timestamps.http(object.createdAt)]
        let preconditions = Preconditions(asked)
        switch preconditions.outcome(etag: object.etag, lastModified: object.createdAt) {
        case .met: break
        case .notModified:
            return HTTPResponse(status: 304, fields: marked(fields), body: .omitted(length: object.size))
        case .failed:
            return error(
                StoreError(.preconditionFailed, "At least one of the preconditions you specified did not hold."))
        }
        fields.append("Content-Type", object.contentType ?? "application/octet-stream")
        fields.append("Accept-Ranges", "bytes")
        fields.append("x-oss-hash-crc64ecma", String(object.crc64))
        fields.append("x-oss-object-type", object.isMultipart ? "Multipart" : "Normal")
        if isHead { return HTTPResponse(status: 200, fields: marked(fields), body: .omitted(length: object.size)) }
        var status = 200
        var sent = 0..<object.size
        if let range = asked["range"].flatMap(ByteRange.init), preconditions.permitRange(etag: object.etag) {
            guard let resolved = range.resolved(in: object.size) else {
                return error(
                    StoreError(.invalidRange, "The requested range cannot be satisfied."),
                    ["Content-Range": "bytes */\(object.size)"])
            }
            status = 206
            sent = resolved
            fields.append("Content-Range", "bytes \(sent.lowerBound)-\(sent.upperBound - 1)/\(object.size)")
        }
        let file = try data.open(object.fileID, for: .reading)
        guard try file.size() == object.size else { throw StorageFailure.missing }
        return HTTPResponse(
            status: status, fields: marked(fields),
            body: .file(file.intoResponse(), offset: sent.lowerBound, length: sent.upperBound - sent.lowerBound))
    }

    private func marked(_ fields: HTTPFields) -> HTTPFields {
        var all = fields
        all.append("x-oss-request-id", requestID)
        return all
    }
}

extension StoreError {
    /// What anything that went wrong is to a client. Trouble that may pass is a 503: clients try again.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as RequestTarget.Malformed:
            self =
                switch error {
                case .target: StoreError(.invalidURI, "The URI could not be parsed.")
                case .bucket: StoreError(.invalidBucketName, "The bucket name is not valid.")
                case .key: StoreError(.invalidObjectName, "The object name is not valid.")
                }
        case StorageFailure.full, DatabaseError.full:
            self = StoreError(.serviceUnavailable, "There is no room to store this now.")
        case StorageFailure.other, DatabaseError.overloaded, DatabaseError.closed, DatabaseError.writerEnded:
            self = StoreError(.serviceUnavailable, "The service is unavailable now.")
        case is WritesInFlight.Revoked:
            self = StoreError(.serviceUnavailable, "The upload was changed by another request while this one was sent.")
        default:
            self = StoreError(.internalError, "We encountered an internal error.")
        }
    }
}
