import HTTPTypes
import XML

/// What OSS and S3 do not share: how a request is signed, what it asks for, how its body is framed, and the words of the
/// answers. What is then done is the same, and happens once.
package protocol StoreDialect: Sendable {
    /// In logs and metrics.
    var name: String { get }
    /// How ETags are made of what is stored from now on.
    var etags: ETag.Form { get }
    /// The field that names an answer.
    var requestIDField: String { get }
    /// The XML namespace of the documents; nil for none.
    var namespace: String? { get }

    /// How it spells the fields that it does not share with the other dialect.
    var names: OptionNames { get }
    /// What it does about each header field and parameter.
    var rules: RequestRules { get }

    /// Reads who sent a request, and does not believe it yet.
    func authentication(of request: SignedRequest) throws(StoreError) -> Authentication

    /// - Throws: `notImplemented` for what the store does not do, rather than doing something else.
    func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation

    /// The fields of a request and what a presigned URL has in their place in its query.
    func options(of request: SignedRequest) -> HTTPFields

    /// - Parameter signatures: of the body's chunks, where they are signed.
    func payload(
        of request: SignedRequest, _ framing: HTTPRequestHead.Framing, _ signatures: ChunkSignatures?
    ) throws(StoreError) -> Payload

    func name(of code: StoreError.Code) -> String
    func status(of code: StoreError.Code) -> Int
    /// What an error's answer to HEAD, which has no body, says in fields.
    func fields(insteadOf document: FlatXML) -> HTTPFields

    /// Acknowledge bytes: what clients check is what was stored.
    func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields
    /// - Parameters:
    ///   - isMultipart: whether the object was made of parts.
    ///   - whole: whether all of it is sent.
    func fields(
        ofObject crc64: UInt64, _ checksum: Checksum?, isMultipart: Bool, whole: Bool, asked: HTTPFields
    ) -> HTTPFields
    /// What an answer says of what was stored beside the bytes, apart from the kept fields themselves.
    func fields(ofKept kept: KeptFields, size: Int64) -> HTTPFields
    func fields(ofInitiated checksum: MultipartChecksum?) -> HTTPFields
    func elements(ofCompleted checksum: Checksum?) -> [FlatXML.Element]
    func elements(ofPart crc64: UInt64, _ checksum: Checksum?) -> [FlatXML.Element]
}
