import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

extension StoreResponses {
    /// - Parameters:
    ///   - list: with stored keys.
    ///   - query: the client's query.
    func objects(_ list: ObjectList, _ query: ObjectListQuery, _ bucket: StoreBucket) -> HTTPResponse {
        func text(_ key: String) -> String {
            query.encodesKeys ? URLEncoding.encode(key, keepingSlashes: true) : key
        }
        var list = list
        list.last = bucket.external(list.last)
        let isOfVersions = query.form == .versions
        // Clients of S3 do not decode the prefix of version 1.
        let prefix = query.form == .objects && dialect.etags == .s3 ? query.prefix : text(query.prefix)
        var document = FlatXML(
            isOfVersions ? "ListVersionsResult" : "ListBucketResult", namespace: dialect.namespace,
            [
                FlatXML.Element("Name", bucket.name), FlatXML.Element("Prefix", prefix),
                FlatXML.Element("MaxKeys", String(query.limit)),
                FlatXML.Element("IsTruncated", String(list.isTruncated)),
            ])
        // oss2 cannot read a list of versions without it.
        if !query.delimiter.isEmpty || isOfVersions {
            document.append(FlatXML.Element("Delimiter", text(query.delimiter)))
        }
        if query.encodesKeys { document.append(FlatXML.Element("EncodingType", "url")) }
        for element in places(list, query, text) { document.append(element) }
        let version =
            isOfVersions
            ? [FlatXML.Element("VersionId", ObjectListQuery.version), FlatXML.Element("IsLatest", "true")] : []
        for object in list.objects {
            document.append(
                isOfVersions ? "Version" : "Contents",
                [FlatXML.Element("Key", text(bucket.external(object.key)))] + version + [
                    FlatXML.Element("LastModified", Timestamps.xml(object.createdAt)),
                    FlatXML.Element("ETag", object.etag),
                    FlatXML.Element("Type", object.isMultipart ? "Multipart" : "Normal"),
                    FlatXML.Element("Size", String(object.size)), FlatXML.Element("StorageClass", storageClass),
                ] + (query.namesOwners ? [Self.owner("Owner")] : []))
        }
        for prefix in list.prefixes {
            document.append("CommonPrefixes", [FlatXML.Element("Prefix", text(bucket.external(prefix)))])
        }
        return xml(200, document)
    }

    /// Returns the elements about the beginning of a page and of the next one.
    private func places(
        _ list: ObjectList, _ query: ObjectListQuery, _ text: (String) -> String
    ) -> [FlatXML.Element] {
        switch query.form {
        case .objects:
            return [FlatXML.Element("Marker", text(query.start))]
                + (list.isTruncated ? [FlatXML.Element("NextMarker", text(list.last))] : [])
        case .objectsV2:
            var elements = [FlatXML.Element("KeyCount", String(list.count))]
            if let token = query.token { elements.append(FlatXML.Element("ContinuationToken", token)) }
            if !query.startAfter.isEmpty { elements.append(FlatXML.Element("StartAfter", text(query.startAfter))) }
            if list.isTruncated {
                elements.append(FlatXML.Element("NextContinuationToken", ObjectListQuery.token(after: list.last)))
            }
            return elements
        case .versions:
            let marker = query.start.isEmpty ? "" : ObjectListQuery.version
            var elements = [
                FlatXML.Element("KeyMarker", text(query.start)), FlatXML.Element("VersionIdMarker", marker),
            ]
            if list.isTruncated {
                elements.append(FlatXML.Element("NextKeyMarker", text(list.last)))
                elements.append(FlatXML.Element("NextVersionIdMarker", ObjectListQuery.version))
            }
            return elements
        }
    }
}
