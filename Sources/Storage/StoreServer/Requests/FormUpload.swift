import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// One form of a browser's (PostObject), from its first byte to its answer. Who sends it is known when its fields have arrived;
/// no byte of the file is stored before.
final class FormUpload: HTTPBodySink {
    private let handler: StoreHandler
    private let head: HTTPRequestHead
    private let bucketName: String
    private var parser: FormParser
    private var responses: StoreResponses
    private var put: ObjectPut?
    private var fields: HTTPFields = [:]
    private var key = ""
    private var sizes: ClosedRange<Int64> = 0...(.max)
    private var size: Int64 = 0
    private var failure: (any Error)?

    /// - Parameter head: of a POST.
    /// - Returns: `nil` where the request has no form.
    init?(_ handler: StoreHandler, _ head: HTTPRequestHead, _ responses: StoreResponses) {
        guard head.fields["authorization"] == nil, let parser = FormParser(head.fields),
            let target = try? RequestTarget(
                head.target, host: head.fields["host"] ?? "", domains: handler.configuration.bucketDomains),
            let bucketName = target.bucket, target.key == nil, target.parameters.isEmpty
        else { return nil }
        self.handler = handler
        self.head = head
        self.bucketName = bucketName
        self.parser = parser
        self.responses = responses
        head.notes.operation = OperationName.postObject.rawValue
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do {
            for event in try parser.read(bytes) {
                switch event {
                case .file(let fields, let name, let type): try begin(fields, fileName: name, contentType: type)
                case .bytes(let piece):
                    size += Int64(piece.count)
                    guard size <= sizes.upperBound else { throw wrongSize }
                    piece.withUnsafeBytes { put?.receive($0) }
                case .end: break
                }
            }
        } catch {
            failure = error
            put?.abandon()
        }
    }

    func finish() -> HTTPResponse {
        defer { abandon() }
        do {
            if let failure { throw failure }
            guard parser.isDone, let put else {
                throw StoreError(.invalidArgument, "PostObject: the form ends within its file.")
            }
            guard sizes.contains(size) else { throw wrongSize }
            return response(try put.finish())
        } catch {
            return handler.failed(error, responses)
        }
    }

    func abandon() { put?.abandon() }

    private var wrongSize: StoreError {
        StoreError(
            size > sizes.upperBound ? .entityTooLarge : .entityTooSmall,
            "PostObject: the file must have \(sizes.lowerBound) to \(sizes.upperBound) bytes, as the policy requires.")
    }

    private func begin(_ fields: HTTPFields, fileName: String, contentType: String?) throws {
        let authentication = try FormAuthentication(fields)
        let dialect: any StoreDialect = authentication.isS3 ? S3Dialect(publicAuthority: nil) : OSSDialect()
        responses = StoreResponses(head, dialect, origins: handler.configuration.corsOrigins)
        head.notes.dialect = dialect.name
        guard let staticKey = handler.store.staticKey(id: authentication.accessKeyID) else {
            throw StoreError(.invalidAccessKeyID, "PostObject: the access key id is not that of a static key.")
        }
        guard authentication.isSigned(by: staticKey.secret) else {
            throw StoreError(
                .signatureDoesNotMatch, "The request signature we calculated does not match the one you provided.")
        }
        head.notes.setCaller(staticKey)
        // The form has the options of the object. A condition in the header would be passed over.
        let target = try RequestTarget("/\(bucketName)", host: "", domains: [])
        try dialect.rules.check(SignedRequest(method: "POST", target: target, fields: head.fields), .postObject)
        try dialect.rules.requireNoOptions(inHeaderOfForm: head.fields)
        let fields = expanded(fields, fileName: fileName, all: authentication.isS3)
        self.fields = fields
        let policy = try FormPolicy(fields["policy"] ?? "")
        try policy.check(
            fields, bucket: bucketName, now: handler.store.clock.now(), coversAllFields: authentication.isS3)
        sizes = policy.sizes
        guard let bucket = handler.store.bucket(bucketName, of: staticKey) else {
            throw StoreError(.noSuchBucket, "The specified bucket does not exist.")
        }
        responses.bucket = bucket
        try begin(fields, contentType, by: staticKey, in: dialect)
    }

    /// Returns the fields with the file's name in place of `${filename}`, as the policy has to permit them: the policy could
    /// otherwise forbid a key that the form stores all the same.
    ///
    /// - Parameter all: whether any field may have the variable, as in S3. In OSS only the key may.
    private func expanded(_ fields: HTTPFields, fileName: String, all: Bool) -> HTTPFields {
        // Browsers of old sent the whole path.
        let base = fileName.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { String($0) } ?? ""
        var expanded: HTTPFields = [:]
        for field in fields.fields {
            let isTemplate = field.name == "key" || all && field.name != "policy"
            expanded.append(field.name, isTemplate ? field.value.replacing("${filename}", with: base) : field.value)
        }
        return expanded
    }

    /// - Parameter staticKey: the key that signed the form's policy.
    private func begin(
        _ fields: HTTPFields, _ contentType: String?, by staticKey: StaticKey, in dialect: any StoreDialect
    ) throws {
        guard let name = fields["key"] else {
            throw StoreError(.invalidArgument, "PostObject: the form has no key.")
        }
        key = name
        try ObjectName.requireKey(key)
        if let name = fields.fields.first(where: Self.isNotImplemented)?.name.prefix(100) {
            throw StoreError(
                .notImplemented, "PostObject: this store does not implement the field \(name). Leave the field out.")
        }
        let target = try RequestTarget(
            "/\(bucketName)/\(URLEncoding.encode(key, keepingSlashes: true))", host: "", domains: [])
        var named = fields
        if fields["content-type"] == nil, let type = fields["x-oss-content-type"] ?? contentType {
            named.append("content-type", type)
        }
        let request = SignedRequest(method: "POST", target: target, fields: named)
        try dialect.rules.check(request, .postObject)
        try dialect.rules.requireKnown(request, .postObject)
        let form = try handler.admission.admit(
            StoreRequest(head: head, signed: request, dialect: dialect, operation: .form, staticKey: staticKey),
            by: staticKey)
        put = try ObjectPut(
            handler.store, permit: handler.permit(form), length: nil, checks: BodyChecks(), header: form.header())
    }

    /// Whether the field would change or check the object, and is not implemented.
    private static func isNotImplemented(_ field: HTTPFields.Field) -> Bool {
        switch field.name {
        case "acl": field.value != "private"
        case "tagging", "content-md5": true
        default: field.name.hasPrefix("x-amz-checksum-")
        }
    }

    private func response(_ object: StoredObject) -> HTTPResponse {
        let path = "/\(bucketName)/\(URLEncoding.encode(key, keepingSlashes: true))"
        let stored = responses.dialect.fields(ofStored: object.crc64, object.checksum).appending(["ETag": object.etag])
        if let redirect = fields["success_action_redirect"],
            redirect.hasPrefix("http://") || redirect.hasPrefix("https://"),
            redirect.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        {
            let query = [("bucket", bucketName), ("key", key), ("etag", object.etag)]
                .map { "\($0)=\(URLEncoding.encode($1))" }.joined(separator: "&")
            return responses.empty(303, ["Location": redirect + (redirect.contains("?") ? "&" : "?") + query])
        }
        switch fields["success_action_status"] {
        case "200": return responses.empty(200, stored)
        case "201":
            let document = FlatXML(
                "PostResponse",
                [
                    FlatXML.Element("Bucket", bucketName), FlatXML.Element("Location", responses.origin + path),
                    FlatXML.Element("Key", key), FlatXML.Element("ETag", object.etag),
                ])
            return responses.xml(201, document, stored)
        default: return responses.empty(204, stored)
        }
    }
}
