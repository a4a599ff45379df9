import Webhooks

/// The contents of webhook events about finished objects. The names are a public format: new fields are optional, existing ones
/// stay.
extension Event {
    private struct ChangedObject: Encodable {
        let objectID, fileID, uploadID: String
        /// The size in bytes.
        let sizeBytes: Int64
        let etag: String
        let siteID: Int64
        let deviceID: String?
        /// The reason for the move to the trash or the deletion.
        var reason: String?
        /// All tags after a change.
        var rawTags: [String: String]?

        init(_ object: CatalogObject) {
            objectID = object.id
            fileID = object.fileID
            uploadID = object.uploadID
            sizeBytes = object.content.size
            etag = object.content.etag
            siteID = object.owner.siteID
            deviceID = object.owner.deviceID
        }
    }

    static func objectUpdated(_ object: CatalogObject, tags: [String: String], traceparent: String?) -> Event {
        event(.objectUpdated, object, traceparent) { $0.rawTags = tags }
    }

    static func objectTrashed(_ object: CatalogObject, reason: String, traceparent: String?) -> Event {
        event(.objectTrashed, object, traceparent) { $0.reason = reason }
    }

    static func objectRestored(_ object: CatalogObject, traceparent: String?) -> Event {
        event(.objectRestored, object, traceparent) { _ in }
    }

    static func objectDeleted(_ object: CatalogObject, reason: String, traceparent: String?) -> Event {
        event(.objectDeleted, object, traceparent) { $0.reason = reason }
    }

    private static func event(
        _ type: EventType, _ object: CatalogObject, _ traceparent: String?, _ describe: (inout ChangedObject) -> Void
    ) -> Event {
        var data = ChangedObject(object)
        describe(&data)
        return Event(
            type, subject: "objects/\(object.fileID)", organizationID: object.owner.organizationID, data: data,
            traceparent: traceparent)
    }
}
