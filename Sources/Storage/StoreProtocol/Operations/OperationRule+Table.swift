/// The table of the store's operations. The order is that of docs/object-store.md.
extension OperationRule {
    package static let table: [OperationRule] = objects + multiparts + properties + buckets

    private static let objects: [OperationRule] = [
        OperationRule(.putObject, Form("PUT", source: .absent), .write, .bytes, .keepsFields) { _ in .putObject },
        form,
        OperationRule(
            .appendObject, Form("POST", ["append", "position"]), .write, .bytes,
            [.byStaticKey, .keepsFields, .repeatsHaveEffects]
        ) { request throws(StoreError) in
            .appendObject(at: Int64(try request.number("position")))
        },
        OperationRule(.copyObject, Form("PUT", source: .required), .write, .none, [.byStaticKey, .keepsFields]) {
            request throws(StoreError) in
            .copyObject(try request.requiredSource, checksum: request.checksum?.algorithm)
        },
        OperationRule(.getObject, Form("GET", or: ["partNumber"]), .read) { _ in .getObject },
        OperationRule(.headObject, Form("HEAD", or: ["partNumber"]), .read) { _ in .headObject },
        OperationRule(.deleteObject, Form("DELETE"), .delete, .none, .byStaticKey) { _ in .deleteObject },
        OperationRule(.deleteObjects, Form("POST", .bucket, ["delete"]), .delete, .document, .byStaticKey) { _ in
            .deleteObjects
        },
    ]

    static let form = OperationRule(
        .postObject, Form("POST", .bucket), .write, .form, [.byStaticKey, .keepsFields]
    ) { _ in .postObject }

    private static let multiparts: [OperationRule] = [
        OperationRule(
            .initiateMultipartUpload, Form("POST", ["uploads"]), .write, .none, [.keepsFields, .repeatsHaveEffects]
        ) {
            .initiateMultipart($0.checksum)
        },
        OperationRule(.uploadPart, Form("PUT", ["partNumber", "uploadId"], source: .absent), .write, .bytes) {
            request throws(StoreError) in
            .uploadPart(try request.number("partNumber"), multipartID: try request.multipartID)
        },
        OperationRule(
            .uploadPartCopy, Form("PUT", ["partNumber", "uploadId"], source: .required), .write, .none, .byStaticKey
        ) { request throws(StoreError) in
            .copyPart(
                try request.number("partNumber"), multipartID: try request.multipartID, try request.requiredSource)
        },
        OperationRule(.listParts, Form("GET", ["uploadId"]), .read) { request throws(StoreError) in
            .listParts(
                try request.multipartID, after: try request.number("part-number-marker", default: 0),
                limit: try request.limit("max-parts", at: 1000))
        },
        OperationRule(.completeMultipartUpload, Form("POST", ["uploadId"]), .write, .document) {
            request throws(StoreError) in
            .completeMultipart(try request.multipartID, all: request.completesAll, expected: request.expected)
        },
        OperationRule(.abortMultipartUpload, Form("DELETE", ["uploadId"]), .write) { request throws(StoreError) in
            .abortMultipart(try request.multipartID)
        },
        OperationRule(.listMultipartUploads, Form("GET", .bucket, ["uploads"]), .list, .none, .byStaticKey) {
            request throws(StoreError) in
            let limit = try request.limit("max-uploads", at: MultipartListQuery.maximumLimit)
            return .listMultiparts(try MultipartListQuery(request.target, limit: limit))
        },
    ]

    private static let properties: [OperationRule] = [
        property(.getObjectMeta, .metadata), property(.getObjectMeta, .metadata, "HEAD"),
        property(.getObjectAttributes, .attributes), property(.getObjectAcl, .accessControl),
        property(.getObjectTagging, .tags),
        OperationRule(.putObjectTagging, Form("PUT", ["tagging"]), .write, .document, .byStaticKey) { _ in .putTags },
        OperationRule(.deleteObjectTagging, Form("DELETE", ["tagging"]), .write, .none, .byStaticKey) { _ in .deleteTags
        },
    ]

    private static func property(
        _ name: OperationName, _ property: ObjectProperty, _ method: String = "GET"
    ) -> OperationRule {
        OperationRule(name, Form(method, [property.rawValue]), .read, .none, .byStaticKey) { _ in
            .objectProperty(property)
        }
    }

    private static let buckets: [OperationRule] =
        [
            OperationRule(
                .listBuckets, Form("GET", .service, or: ["continuation-token"]), .nothing, .none, .byStaticKey
            ) { request throws(StoreError) in
                .listBuckets(try BucketListQuery(request.target))
            },
            OperationRule(.headBucket, Form("HEAD", .bucket), .nothing, .none, .byStaticKey) { _ in .headBucket },
            OperationRule(.createBucket, Form("PUT", .bucket), .nothing, .none, .byStaticKey) { _ in .createBucket },
            OperationRule(.deleteBucket, Form("DELETE", .bucket), .nothing, .none, .byStaticKey) { _ in .deleteBucket },
            OperationRule(
                .listObjects, Form("GET", .bucket, or: ["list-type", "continuation-token"]), .list, .none, .byStaticKey,
                command: listObjects),
            OperationRule(
                .listObjectVersions, Form("GET", .bucket, ["versions"]), .list, .none, .byStaticKey,
                command: listObjects),
        ]
        + BucketProperty.allCases.map { property in
            OperationRule(
                property.operation, Form("GET", .bucket, [property.rawValue]), .nothing, .none, .byStaticKey
            ) { _ in .bucketProperty(property) }
        }

    private static func listObjects(_ request: OperationRequest) throws(StoreError) -> StoreCommand {
        let limit = try request.limit("max-keys", at: ObjectListQuery.maximumLimit)
        return .listObjects(try ObjectListQuery(request.target, limit: limit))
    }
}

/// Properties that distinguish an operation from most others.
private struct Traits: OptionSet {
    let rawValue: Int

    /// Temporary credentials do not permit it.
    static let byStaticKey = Traits(rawValue: 1)
    /// Fields of the request are kept with the object.
    static let keepsFields = Traits(rawValue: 2)
    /// It is not idempotent.
    static let repeatsHaveEffects = Traits(rawValue: 4)
}

extension OperationRule {
    fileprivate init(
        _ name: OperationName, _ form: Form, _ needs: Need, _ body: Body = .none, _ traits: Traits = [],
        command: @escaping @Sendable (OperationRequest) throws(StoreError) -> StoreCommand
    ) {
        self.name = name
        self.form = form
        self.needs = needs
        self.body = body
        isOfTemporaryCredentials = !traits.contains(.byStaticKey)
        keepsFields = traits.contains(.keepsFields)
        isIdempotent = !traits.contains(.repeatsHaveEffects)
        self.command = command
    }
}
