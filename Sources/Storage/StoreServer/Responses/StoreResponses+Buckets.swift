import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// Responses about buckets, and lists of their content other than objects.
extension StoreResponses {
    /// The storage class of every object.
    var storageClass: String { dialect.etags == .s3 ? "STANDARD" : "Standard" }

    /// Returns the owner, which is the same for all objects.
    static func owner(_ element: String) -> FlatXML.Element {
        FlatXML.Element(
            element, [FlatXML.Element("ID", RequestRules.owner), FlatXML.Element("DisplayName", RequestRules.owner)])
    }

    /// Returns a page of the buckets that a static key may access.
    ///
    /// - Parameter buckets: all of them, sorted by name.
    func buckets(_ buckets: [StoreBucket], _ query: BucketListQuery, _ store: ObjectStore) -> HTTPResponse {
        let isInRegion = query.region.map { $0 == Self.region } ?? true
        let page = query.page(of: isInRegion ? buckets.map(\.name) : [])
        let listed = Set(page.names)
        let items = buckets.filter { listed.contains($0.name) }.map { bucket in
            FlatXML.Element(
                "Bucket",
                [
                    FlatXML.Element("Name", bucket.name),
                    FlatXML.Element("CreationDate", Timestamps.xml(store.firstUse(of: bucket))),
                ]
                    + (dialect.etags == .s3
                        ? [FlatXML.Element("BucketRegion", Self.region)]
                        : place + [FlatXML.Element("StorageClass", storageClass)]))
        }
        let next = page.isTruncated ? page.names.last : nil
        return xml(
            200,
            FlatXML(
                "ListAllMyBucketsResult", namespace: dialect.namespace,
                [Self.owner("Owner"), FlatXML.Element("Buckets", items)] + pageElements(query, next: next)))
    }

    /// Returns the elements that describe a page of buckets.
    ///
    /// - Parameter next: the last name of a page that others follow.
    private func pageElements(_ query: BucketListQuery, next: String?) -> [FlatXML.Element] {
        let prefix = query.prefix.isEmpty ? [] : [FlatXML.Element("Prefix", query.prefix)]
        guard dialect.etags == .oss else {
            return prefix
                + (next.map { [FlatXML.Element("ContinuationToken", ObjectListQuery.token(after: $0))] } ?? [])
        }
        guard query.requestedLimit != nil || !query.prefix.isEmpty || !query.start.isEmpty else { return [] }
        return prefix + [
            FlatXML.Element("Marker", query.start), FlatXML.Element("MaxKeys", String(query.limit)),
            FlatXML.Element("IsTruncated", String(next != nil)),
        ] + (next.map { [FlatXML.Element("NextMarker", $0)] } ?? [])
    }

    /// The location of a bucket for OSS's clients.
    private var place: [FlatXML.Element] {
        [
            FlatXML.Element("Location", "oss-local"), FlatXML.Element("ExtranetEndpoint", host),
            FlatXML.Element("IntranetEndpoint", host),
        ]
    }

    /// - Throws: the error for a property that no bucket has.
    func property(
        _ property: BucketProperty, of bucket: StoreBucket, _ store: ObjectStore,
        _ configuration: StoreServerConfiguration
    ) throws(StoreError) -> HTTPResponse {
        if let absence = property.absence { throw absence }
        switch property {
        case .location:
            // An empty text means us-east-1; the store accepts every region.
            let text = dialect.etags == .s3 ? "" : "oss-local"
            return xml(200, FlatXML("LocationConstraint", namespace: dialect.namespace, text: text))
        case .versioning: return document("VersioningConfiguration")
        case .logging: return document("BucketLoggingStatus")
        case .notification: return document("NotificationConfiguration")
        case .accelerate: return document("AccelerateConfiguration")
        case .requestPayment:
            return document("RequestPaymentConfiguration", [FlatXML.Element("Payer", "BucketOwner")])
        case .referer:
            return document("RefererConfiguration", [FlatXML.Element("AllowEmptyReferer", "true")])
        case .accessControl: return accessControl()
        case .information: return information(bucket, store)
        case .statistics:
            throw .notImplemented(property.operation, "The console and the RPC GetStatistics count objects.")
        case .corsRules:
            guard !configuration.corsOrigins.isEmpty else {
                throw StoreError(
                    .noSuchCORSConfiguration, "No web page may read the bucket: see object_store.cors_origins.")
            }
            let origins = configuration.corsOrigins.map { FlatXML.Element("AllowedOrigin", $0) }
            let methods = StoreCrossOrigin.methods.map { FlatXML.Element("AllowedMethod", $0) }
            let exposed = StoreCrossOrigin.exposed.map { FlatXML.Element("ExposeHeader", $0) }
            let others = [
                FlatXML.Element("AllowedHeader", "*"), FlatXML.Element("MaxAgeSeconds", StoreCrossOrigin.maximumAge),
            ]
            return document(
                "CORSConfiguration", [FlatXML.Element("CORSRule", origins + methods + others + exposed)])
        default: throw .notImplemented(property.operation)
        }
    }

    /// Returns a private access-control list: only the owner has access.
    func accessControl() -> HTTPResponse {
        guard dialect.etags == .s3 else {
            return document(
                "AccessControlPolicy",
                [Self.owner("Owner"), FlatXML.Element("AccessControlList", [FlatXML.Element("Grant", "private")])])
        }
        let grantee = FlatXML.Element(
            "Grantee",
            attributes: "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\"",
            [FlatXML.Element("ID", RequestRules.owner), FlatXML.Element("DisplayName", RequestRules.owner)])
        let grant = FlatXML.Element("Grant", [grantee, FlatXML.Element("Permission", "FULL_CONTROL")])
        return document("AccessControlPolicy", [Self.owner("Owner"), FlatXML.Element("AccessControlList", [grant])])
    }

    private func information(_ bucket: StoreBucket, _ store: ObjectStore) -> HTTPResponse {
        let elements =
            [
                FlatXML.Element("Name", bucket.name),
                FlatXML.Element("CreationDate", Timestamps.xml(store.firstUse(of: bucket))),
                FlatXML.Element("StorageClass", storageClass), Self.owner("Owner"),
                FlatXML.Element("AccessControlList", [FlatXML.Element("Grant", "private")]),
                FlatXML.Element("DataRedundancyType", "LRS"),
            ] + place
        return document("BucketInfo", [FlatXML.Element("Bucket", elements)])
    }

    func document(_ root: String, _ elements: [FlatXML.Element] = []) -> HTTPResponse {
        xml(200, FlatXML(root, namespace: dialect.namespace, elements))
    }

    /// - Parameters:
    ///   - list: with stored keys.
    ///   - query: the client's query.
    func multiparts(_ list: MultipartList, _ query: MultipartListQuery, _ bucket: StoreBucket) -> HTTPResponse {
        func text(_ key: String) -> String {
            query.encodesKeys ? URLEncoding.encode(key, keepingSlashes: true) : key
        }
        var elements = [
            FlatXML.Element("Bucket", bucket.name), FlatXML.Element("KeyMarker", text(query.keyMarker)),
            FlatXML.Element("UploadIdMarker", query.idMarker), FlatXML.Element("Prefix", text(query.prefix)),
            FlatXML.Element("MaxUploads", String(query.limit)),
            FlatXML.Element("IsTruncated", String(list.isTruncated)),
        ]
        if !query.delimiter.isEmpty { elements.append(FlatXML.Element("Delimiter", text(query.delimiter))) }
        if query.encodesKeys { elements.append(FlatXML.Element("EncodingType", "url")) }
        // Always present: oss2 cannot read a list without them.
        let next = list.isTruncated ? list.last : ("", "")
        elements.append(FlatXML.Element("NextKeyMarker", text(bucket.external(next.0))))
        elements.append(FlatXML.Element("NextUploadIdMarker", next.1))
        elements += list.uploads.map { upload in
            FlatXML.Element(
                "Upload",
                [
                    FlatXML.Element("Key", text(bucket.external(upload.key))), FlatXML.Element("UploadId", upload.id),
                    Self.owner("Initiator"), Self.owner("Owner"), FlatXML.Element("StorageClass", storageClass),
                    FlatXML.Element("Initiated", Timestamps.xml(upload.createdAt)),
                ] + dialect.elements(ofUpload: upload.checksum))
        }
        elements += list.prefixes.map {
            FlatXML.Element("CommonPrefixes", [FlatXML.Element("Prefix", text(bucket.external($0)))])
        }
        return document("ListMultipartUploadsResult", elements)
    }

    func deleted(
        _ results: [(item: DeletionList.Item, result: ObjectStore.DeletionResult)], _ list: DeletionList,
        encodesKeys: Bool
    ) -> HTTPResponse {
        var elements: [FlatXML.Element] = encodesKeys ? [FlatXML.Element("EncodingType", "url")] : []
        for (item, result) in results {
            let key =
                [FlatXML.Element("Key", encodesKeys ? URLEncoding.encode(item.key) : item.key)]
                + (item.version.isEmpty ? [] : [FlatXML.Element("VersionId", item.version)])
            switch result {
            case .deleted:
                if !list.isQuiet { elements.append(FlatXML.Element("Deleted", key)) }
            case .refused(let cause):
                let error = StoreError(cause)
                elements.append(
                    FlatXML.Element(
                        "Error",
                        key + [
                            FlatXML.Element("Code", dialect.name(of: error.code)),
                            FlatXML.Element("Message", error.message),
                        ]))
            }
        }
        return document("DeleteResult", elements)
    }
}
