import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// Responses about properties of an object other than its bytes.
extension StoreResponses {
    func property(
        _ property: ObjectProperty, of access: DecidedAccess, _ request: SignedRequest,
        _ store: ObjectStore, _ policy: any AccessPolicy
    ) throws -> HTTPResponse {
        try store.withObject(access) { object in
            switch property {
            case .accessControl: return accessControl()
            case .tags: return tags(try store.tags(of: object, policy))
            case .metadata:
                let fields: HTTPFields = ["ETag": object.etag, "Last-Modified": Timestamps.http(object.createdAt)]
                return HTTPResponse(status: 200, fields: marked(fields), body: .omitted(length: object.size))
            case .attributes: return try attributes(of: object, request, store)
            }
        }
    }

    private func tags(_ set: TagSet) -> HTTPResponse {
        let items = set.tags.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
            FlatXML.Element("Tag", [FlatXML.Element("Key", $0.key), FlatXML.Element("Value", $0.value)])
        }
        return document("Tagging", [FlatXML.Element("TagSet", items)])
    }

    /// Returns the response to GetObjectAttributes with the requested attributes.
    private func attributes(
        of object: StoredObject, _ request: SignedRequest, _ store: ObjectStore
    ) throws -> HTTPResponse {
        let names = dialect.options(of: request).values(of: "x-amz-object-attributes").joined(separator: ",")
            .split(separator: ",").map { $0.filter { $0 != " " } }
        let known: Set = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"]
        guard !names.isEmpty, names.allSatisfy(known.contains) else {
            throw StoreError(
                .invalidArgument, "x-amz-object-attributes must name some of \(known.sorted().joined(separator: ", "))."
            )
        }
        var elements: [FlatXML.Element] = []
        if names.contains("ETag") { elements.append(FlatXML.Element("ETag", object.etag.filter { $0 != "\"" })) }
        if names.contains("Checksum"), object.checksum != nil {
            elements.append(FlatXML.Element("Checksum", dialect.elements(ofCompleted: object.checksum)))
        }
        if names.contains("ObjectParts"), object.isMultipart {
            elements.append(try parts(of: object, request, store))
        }
        if names.contains("StorageClass") { elements.append(FlatXML.Element("StorageClass", storageClass)) }
        if names.contains("ObjectSize") { elements.append(FlatXML.Element("ObjectSize", String(object.size))) }
        return xml(
            200, FlatXML("GetObjectAttributesResponse", namespace: dialect.namespace, elements),
            ["Last-Modified": Timestamps.http(object.createdAt)])
    }

    private func parts(
        of object: StoredObject, _ request: SignedRequest, _ store: ObjectStore
    ) throws -> FlatXML.Element {
        let options = dialect.options(of: request)
        func number(_ name: String, _ standard: Int) throws -> Int {
            guard let text = options[name] else { return standard }
            guard let number = Int(decimal: text), (0...10_000).contains(number) else {
                throw StoreError(.invalidArgument, "\(name) must be a number from 0 to 10000.")
            }
            return number
        }
        let marker = try number("x-amz-part-number-marker", 0)
        let limit = min(try number("x-amz-max-parts", 1000), 1000)
        let parts = try store.parts(of: object)
        let page = parts.enumerated().dropFirst(marker).prefix(limit)
        let last = page.last.map { $0.offset + 1 } ?? marker
        return FlatXML.Element(
            "ObjectParts",
            [
                FlatXML.Element("PartsCount", String(parts.count)),
                FlatXML.Element("PartNumberMarker", String(marker)),
                FlatXML.Element("NextPartNumberMarker", String(last)), FlatXML.Element("MaxParts", String(limit)),
                FlatXML.Element("IsTruncated", String(last < parts.count)),
            ]
                + page.map {
                    FlatXML.Element(
                        "Part",
                        [
                            FlatXML.Element("PartNumber", String($0.offset + 1)),
                            FlatXML.Element("Size", String($0.element.size)),
                        ] + dialect.elements(ofPart: $0.element.crc64, $0.element.checksum))
                })
    }

    /// Returns the response to CopyObject and UploadPartCopy.
    func copied(
        _ root: String, etag: String, at time: UnixTime, crc64: UInt64, _ checksum: Checksum?
    ) -> HTTPResponse {
        let document = FlatXML(
            root, namespace: dialect.namespace,
            [FlatXML.Element("LastModified", Timestamps.xml(time)), FlatXML.Element("ETag", etag)]
                + dialect.elements(ofCompleted: checksum))
        // oss2 reads a part's ETag from the field.
        return xml(200, document, dialect.fields(ofStored: crc64, nil).appending(["ETag": etag]))
    }
}
