package import HTTPTypes
package import XML

/// The differences between OSS and S3: signatures, operations, the framing of bodies, and the format of responses. The operations
/// themselves are implemented once.
package protocol StoreDialect: Sendable {
    /// The name in logs and metrics.
    var name: String { get }
    /// The form of ETags of newly stored objects.
    var etags: ETag.Form { get }
    /// The response field with the request id.
    var requestIDField: String { get }
    /// The XML namespace of the documents; `nil` = none.
    var namespace: String? { get }

    /// The names of the fields that differ from the other dialect's.
    var names: OptionNames { get }
    /// The treatment of each header field and parameter.
    var rules: RequestRules { get }

    /// Reads the authentication of a request without verifying it.
    func authentication(of request: SignedRequest) throws(StoreError) -> Authentication

    /// - Throws: `notImplemented` for unsupported operations and options.
    func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation

    /// Returns the fields of a request and those that a presigned URL has in its query instead.
    func options(of request: SignedRequest) -> HTTPFields

    /// - Parameter signatures: the verifier of the body's chunks, if they are signed.
    func payload(
        of request: SignedRequest, _ framing: HTTPRequestHead.Framing, _ signatures: ChunkSignatures?
    ) throws(StoreError) -> Payload

    func name(of code: StoreError.Code) -> String
    func status(of code: StoreError.Code) -> Int
    /// Returns the header fields of an error response to HEAD, which has no body.
    func fields(insteadOf document: FlatXML) -> HTTPFields

    /// Returns the fields that acknowledge stored bytes, with which clients verify them.
    func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields
    /// - Parameters:
    ///   - checksum: of the bytes that are sent, which are the object's or those of one of its parts.
    ///   - kind: of the object's checksum.
    ///   - isMultipart: whether the object was made of parts.
    func fields(
        ofObject crc64: UInt64, sent checksum: Checksum?, kind: MultipartChecksum.Kind?, isMultipart: Bool,
        requestFields: HTTPFields
    ) -> HTTPFields
    /// Returns the fields of a response for the stored object, except the kept fields themselves.
    func fields(ofKept kept: KeptFields, size: Int64) -> HTTPFields
    func fields(ofInitiated checksum: MultipartChecksum?) -> HTTPFields
    /// Returns the description of the checksum that a listed upload was initiated with.
    func elements(ofUpload checksum: MultipartChecksum?) -> [FlatXML.Element]
    func elements(ofCompleted checksum: Checksum?) -> [FlatXML.Element]
    func elements(ofPart crc64: UInt64, _ checksum: Checksum?) -> [FlatXML.Element]
}
