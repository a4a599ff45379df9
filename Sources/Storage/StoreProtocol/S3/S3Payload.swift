import Basics
import Crypto
import HTTPTypes

/// Reads the description of the body in an S3 request.
struct S3Payload {
    /// The `x-amz-content-sha256` of an unsigned body.
    static let unsigned = "UNSIGNED-PAYLOAD"
    /// An unsigned body in chunks, with a checksum in the trailer, which SDKs send over TLS.
    static let unsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

    /// A body in signed chunks, without and with a checksum in the trailer, which SDKs send in cleartext.
    static let signedChunks: Set<String> = [
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    ]

    let request: SignedRequest
    let framing: HTTPRequestHead.Framing
    let signatures: ChunkSignatures?

    /// Returns the last line of the signed text, which describes the body. In a presigned URL it may be in the query.
    static func mode(of request: SignedRequest) -> String {
        request.fields["x-amz-content-sha256"] ?? request.target["X-Amz-Content-Sha256"] ?? unsigned
    }

    func read() throws(StoreError) -> Payload {
        let mode = Self.mode(of: request)
        switch mode {
        case Self.unsignedTrailer:
            return try chunked()
        case _ where Self.signedChunks.contains(mode) && signatures != nil:
            return try chunked()
        case _ where mayBeInChunks(mode) && !mode.hasPrefix("STREAMING-"):
            throw StoreError(
                .invalidRequest,
                "A body in the encoding aws-chunked needs the x-amz-content-sha256 \(Self.unsignedTrailer).")
        case Self.unsigned:
            return Payload(length: framing.bodyLength, checks: try checks(sha256: nil, announced: nil))
        default:
            guard let sha256 = Hex.decode(mode), sha256.count == 32 else {
                let known = ([Self.unsigned, Self.unsignedTrailer] + Self.signedChunks.sorted()).joined(separator: ", ")
                throw StoreError(
                    mode.hasPrefix("STREAMING-") ? .notImplemented : .invalidArgument,
                    "x-amz-content-sha256 must be one of \(known), or the body's SHA-256 in hex.")
            }
            return Payload(length: framing.bodyLength, checks: try checks(sha256: sha256, announced: nil))
        }
    }

    /// Whether a body with this mode may be in chunks, whose framing would become part of the object. `aws-chunked` in
    /// Content-Encoding alone says nothing if the client sends a digest: some set it by hand, as for an object that was copied.
    private func mayBeInChunks(_ mode: String) -> Bool {
        if request.fields["x-amz-decoded-content-length"] != nil { return true }
        let isLabeled = request.fields.values(of: "content-encoding").contains {
            $0.lowercased().contains("aws-chunked")
        }
        guard isLabeled, mode == Self.unsigned, request.fields["content-md5"] == nil else { return false }
        return !ChecksumAlgorithm.allCases.contains { request.fields[$0.field] != nil }
    }

    private func chunked() throws(StoreError) -> Payload {
        guard let length = request.fields["x-amz-decoded-content-length"].flatMap({ Int64(decimal: $0) }) else {
            throw StoreError(
                .missingContentLength, "You must provide the x-amz-decoded-content-length HTTP header.")
        }
        guard length <= HTTPRequestHead.Framing.longestBody else {
            throw StoreError(
                .entityTooLarge,
                "x-amz-decoded-content-length must be at most \(HTTPRequestHead.Framing.longestBody) bytes.")
        }
        let trailer = request.fields["x-amz-trailer"]?.lowercased()
        let announced = trailer.flatMap(ChecksumAlgorithm.init(field:))
        guard trailer == nil || announced != nil else {
            throw StoreError(.invalidRequest, "The value specified in the x-amz-trailer header is not supported.")
        }
        let checks = try checks(sha256: nil, announced: announced)
        return Payload(
            length: length, checks: checks,
            framing: .chunks(AWSChunkReader(length: length, trailer: trailer, checks: checks, signatures: signatures)))
    }

    /// - Parameter announced: the announced trailer.
    private func checks(sha256: [UInt8]?, announced: ChecksumAlgorithm?) throws(StoreError) -> BodyChecks {
        // In a Complete it is the object's, not that of the document.
        let isOfBody = request.method == "PUT" || request.target.has("delete")
        let checksum = isOfBody ? try request.fields.checksum() : nil
        guard checksum == nil || announced == nil else {
            throw StoreError(.invalidRequest, "The request must have at most one x-amz-checksum- header or trailer.")
        }
        return BodyChecks(
            contentMD5: try request.contentMD5(), sha256: sha256, algorithm: checksum?.algorithm ?? announced,
            checksum: checksum?.bytes)
    }
}

extension HTTPFields {
    /// Returns the checksum in a field of the request; `nil` without such a field.
    func checksum() throws(StoreError) -> Checksum? {
        var found: Checksum?
        for algorithm in ChecksumAlgorithm.allCases {
            guard let text = self[algorithm.field] else { continue }
            guard found == nil else {
                throw StoreError(.invalidRequest, "The request must have at most one x-amz-checksum- header.")
            }
            // For an object of parts it may include their number.
            guard let checksum = Checksum("\(algorithm.rawValue):\(text)"), checksum.bytes.count == algorithm.byteCount
            else {
                throw StoreError(.invalidRequest, "Value for \(algorithm.field) header is invalid.")
            }
            found = checksum
        }
        return found
    }
}

extension ChecksumAlgorithm {
    /// The header field in lower case.
    var field: String { "x-amz-checksum-\(rawValue.lowercased())" }
    /// The element in documents.
    var element: String { "Checksum\(rawValue)" }

    init?(field: String) {
        guard let found = Self.allCases.first(where: { $0.field == field }) else { return nil }
        self = found
    }
}
