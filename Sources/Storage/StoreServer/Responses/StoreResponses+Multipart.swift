import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

extension StoreResponses {
    func initiated(_ multipart: MultipartRecord, _ target: RequestTarget) -> HTTPResponse {
        xml(
            200,
            FlatXML(
                "InitiateMultipartUploadResult", namespace: dialect.namespace,
                elements(name(multipart.bucket, multipart.key), target) + [FlatXML.Element("UploadId", multipart.id)]),
            dialect.fields(ofInitiated: multipart.checksum))
    }

    /// Returns the ETag in the document and in the field, since clients read one or the other.
    func completed(_ object: StoredObject) -> HTTPResponse {
        let (bucket, key) = name(object.bucket, object.key)
        let path = "/\(bucket)/\(URLEncoding.encode(key, keepingSlashes: true))"
        let document = FlatXML(
            "CompleteMultipartUploadResult", namespace: dialect.namespace,
            [
                FlatXML.Element("Location", origin + path), FlatXML.Element("Bucket", bucket),
                FlatXML.Element("Key", key), FlatXML.Element("ETag", object.etag),
            ] + dialect.elements(ofCompleted: object.checksum))
        let fields = dialect.fields(ofStored: object.crc64, object.checksum)
        return xml(200, document, fields.appending(["ETag": object.etag]))
    }

    /// Always includes `NextPartNumberMarker`: a client loops forever without it.
    func parts(
        _ page: PartList, of id: String, _ target: RequestTarget, _ claims: CredentialClaims, after marker: Int,
        limit: Int
    ) -> HTTPResponse {
        var document = FlatXML(
            "ListPartsResult", namespace: dialect.namespace,
            elements(name(claims.bucket, claims.key), target) + [
                FlatXML.Element("UploadId", id), FlatXML.Element("PartNumberMarker", String(marker)),
                FlatXML.Element("NextPartNumberMarker", String(page.parts.last?.number ?? marker)),
                FlatXML.Element("MaxParts", String(limit)), FlatXML.Element("IsTruncated", String(page.isTruncated)),
            ] + dialect.elements(ofUpload: page.checksum))
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

    /// Encodes the key if the client requested that, and reports the encoding.
    private func elements(
        _ name: (bucket: String, key: String), _ target: RequestTarget
    ) -> [FlatXML.Element] {
        let (bucket, key) = name
        guard target["encoding-type"] == "url" else {
            return [FlatXML.Element("Bucket", bucket), FlatXML.Element("Key", key)]
        }
        return [
            FlatXML.Element("EncodingType", "url"), FlatXML.Element("Bucket", bucket),
            FlatXML.Element("Key", URLEncoding.encode(key)),
        ]
    }
}
