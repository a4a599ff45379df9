import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

extension StoreAnswers {
    func initiated(_ multipart: MultipartRecord, _ target: RequestTarget) -> HTTPResponse {
        xml(
            200,
            FlatXML(
                "InitiateMultipartUploadResult", namespace: dialect.namespace,
                Self.name(multipart.bucket, multipart.key, target) + [FlatXML.Element("UploadId", multipart.id)]),
            dialect.fields(ofInitiated: multipart.checksum))
    }

    /// The ETag stands in the document and in the field: clients take one or the other.
    func completed(_ object: StoredObject) -> HTTPResponse {
        let path = "/\(object.bucket)/\(URLEncoding.encode(object.key, keepingSlashes: true))"
        let document = FlatXML(
            "CompleteMultipartUploadResult", namespace: dialect.namespace,
            [
                FlatXML.Element("Location", origin + path), FlatXML.Element("Bucket", object.bucket),
                FlatXML.Element("Key", object.key), FlatXML.Element("ETag", object.etag),
            ] + dialect.elements(ofCompleted: object.checksum))
        let fields = dialect.fields(ofStored: object.crc64, object.checksum)
        return xml(200, document, fields.appending(["ETag": object.etag]))
    }

    /// `NextPartNumberMarker` is always there: a client loops for ever without it.
    func parts(
        _ page: (parts: [PartRecord], isTruncated: Bool), of id: String, _ target: RequestTarget,
        _ claims: CredentialClaims, after marker: Int, limit: Int
    ) -> HTTPResponse {
        var document = FlatXML(
            "ListPartsResult", namespace: dialect.namespace,
            Self.name(claims.bucket, claims.key, target) + [
                FlatXML.Element("UploadId", id), FlatXML.Element("PartNumberMarker", String(marker)),
                FlatXML.Element("NextPartNumberMarker", String(page.parts.last?.number ?? marker)),
                FlatXML.Element("MaxParts", String(limit)), FlatXML.Element("IsTruncated", String(page.isTruncated)),
            ])
        for part in page.parts {
            document.append(
                "Part",
                [
                    FlatXML.Element("PartNumber", String(part.number)),
                    FlatXML.Element("LastModified", Timestamps.xml(part.storedAt)),
                    FlatXML.Element("ETag", ETag.whole(md5: part.md5, dialect.etags)),
                    FlatXML.Element("Size", String(part.size)),
                ] + dialect.elements(ofPart: part.crc64, part.checksum))
        }
        return xml(200, document)
    }

    /// The key is encoded where the client asked for it, and told so.
    private static func name(_ bucket: String, _ key: String, _ target: RequestTarget) -> [FlatXML.Element] {
        guard target["encoding-type"] == "url" else {
            return [FlatXML.Element("Bucket", bucket), FlatXML.Element("Key", key)]
        }
        return [
            FlatXML.Element("EncodingType", "url"), FlatXML.Element("Bucket", bucket),
            FlatXML.Element("Key", URLEncoding.encode(key)),
        ]
    }
}
