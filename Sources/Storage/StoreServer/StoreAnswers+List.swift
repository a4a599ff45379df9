import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

extension StoreAnswers {
    /// - Parameters:
    ///   - list: with stored keys.
    ///   - query: as the client asked.
    func objects(_ list: ObjectList, _ query: ObjectListQuery, _ bucket: StoreBucket) -> HTTPResponse {
        func text(_ key: String) -> String {
            query.encodesKeys ? URLEncoding.encode(key, keepingSlashes: true) : key
        }
        var list = list
        list.last = bucket.external(list.last)
        var document = FlatXML(
            "ListBucketResult", namespace: dialect.namespace,
            [
                FlatXML.Element("Name", bucket.name), FlatXML.Element("Prefix", text(query.prefix)),
                FlatXML.Element("MaxKeys", String(query.limit)),
                FlatXML.Element("IsTruncated", String(list.isTruncated)),
            ])
        if !query.delimiter.isEmpty { document.append(FlatXML.Element("Delimiter", text(query.delimiter))) }
        if query.encodesKeys { document.append(FlatXML.Element("EncodingType", "url")) }
        for element in query.version == 2 ? places2(list, query, text) : places1(list, query, text) {
            document.append(element)
        }
        for object in list.objects {
            document.append(
                "Contents",
                [
                    FlatXML.Element("Key", text(bucket.external(object.key))),
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

    /// Where a page of version 1 begins, and where the next one does.
    private func places1(
        _ list: ObjectList, _ query: ObjectListQuery, _ text: (String) -> String
    ) -> [FlatXML.Element] {
        [FlatXML.Element("Marker", text(query.start))]
            + (list.isTruncated ? [FlatXML.Element("NextMarker", text(list.last))] : [])
    }

    private func places2(
        _ list: ObjectList, _ query: ObjectListQuery, _ text: (String) -> String
    ) -> [FlatXML.Element] {
        var elements = [FlatXML.Element("KeyCount", String(list.count))]
        if let token = query.token {
            elements.append(FlatXML.Element("ContinuationToken", token))
        } else if !query.start.isEmpty {
            elements.append(FlatXML.Element("StartAfter", text(query.start)))
        }
        if list.isTruncated {
            elements.append(FlatXML.Element("NextContinuationToken", ObjectListQuery.token(after: list.last)))
        }
        return elements
    }
}
