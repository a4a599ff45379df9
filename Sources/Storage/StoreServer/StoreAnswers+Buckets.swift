import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// Responses about buckets, and lists of their content other than objects.
extension StoreAnswers {
    /// The storage class of every object.
    var storageClass: String { dialect.etags == .s3 ? "STANDARD" : "Standard" }

    /// Returns the owner, which is the same for all objects.
    static func owner(_ element: String) -> FlatXML.Element {
        FlatXML.Element(
            element, [FlatXML.Element("ID", RequestRules.owner), FlatXML.Element("DisplayName", RequestRules.owner)])
    }

    /// Returns the list of buckets. Their creation time is the epoch, because they are only configured.
    func buckets(_ buckets: [StoreBucket]) -> HTTPResponse {
        let items = buckets.map { bucket in
            FlatXML.Element(
                "Bucket",
                [
                    FlatXML.Element("Name", bucket.name),
                    FlatXML.Element("CreationDate", Timestamps.xml(UnixTime(seconds: 0))),
                ] + (dialect.etags == .s3 ? [] : place + [FlatXML.Element("StorageClass", storageClass)]))
        }
        return xml(
            200,
            FlatXML(
                "ListAllMyBucketsResult", namespace: dialect.namespace,
                [Self.owner("Owner"), FlatXML.Element("Buckets", items)]))
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
        _ property: BucketProperty, of bucket: StoreBucket, _ configuration: StoreServerConfiguration
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
        case .information: return information(bucket)
        case .statistics:
            throw .notImplemented(property.operation, "The console and the RPC GetStatistics count objects.")
        case .corsRules:
            guard !configuration.corsOrigins.isEmpty else {
                throw StoreError(
                    .noSuchCORSConfiguration, "No web page may read the bucket: see object_store.cors_origins.")
            }
            let origins = configuration.corsOrigins.map { FlatXML.Element("AllowedOrigin", $0) }
            let methods = StoreCrossOrigin.methods.map { FlatXML.Element("AllowedMethod", $0) }
            return document(
                "CORSConfiguration",
                [FlatXML.Element("CORSRule", origins + methods + [FlatXML.Element("AllowedHeader", "*")])])
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

    private func information(_ bucket: StoreBucket) -> HTTPResponse {
        let elements =
            [
                FlatXML.Element("Name", bucket.name),
                FlatXML.Element("CreationDate", Timestamps.xml(UnixTime(seconds: 0))),
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
            let key = FlatXML.Element("Key", encodesKeys ? URLEncoding.encode(item.key) : item.key)
            switch result {
            case .deleted:
                if !list.isQuiet { elements.append(FlatXML.Element("Deleted", [key])) }
            case .refused(let error):
                elements.append(
                    FlatXML.Element(
                        "Error",
                        [
                            key, FlatXML.Element("Code", dialect.name(of: error.code)),
                            FlatXML.Element("Message", error.message),
                        ]))
            }
        }
        return document("DeleteResult", elements)
    }
}
