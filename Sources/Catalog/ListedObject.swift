import Accounts
import Basics
import Proto

/// An object in lists, with its tags.
struct ListedObject: Sendable {
    let object: CatalogObject
    let tags: [String: String]
}

extension DataObject {
    init(_ listed: ListedObject) {
        let (object, description) = (listed.object, listed.object.description)
        self.init(
            objectID: object.id, fileID: object.fileID, status: object.isBad ? .bad : .verified,
            sizeBytes: object.content.size, createdAtUnix: object.times.createdAt.seconds,
            uploadedAtUnix: object.times.uploadedAt.seconds, verifiedAtUnix: object.times.verifiedAt.seconds,
            etag: object.content.etag, name: object.name(tags: listed.tags).text,
            contentType: description.contentType, deviceID: object.owner.deviceID ?? "", siteID: object.owner.siteID,
            tags: listed.tags, crc64Ecma: description.crc64.map { String($0) } ?? "",
            recordedFrom: description.recordedFrom.map { Timestamp($0) },
            recordedTo: description.recordedTo.map { Timestamp($0) }, trashedAt: object.trashedAt.map { Timestamp($0) },
            relativePath: description.relativePath?.text ?? "")
    }
}
