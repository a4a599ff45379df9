import Basics
import Catalog
package import Database
import ObjectStore
import StoreProtocol

/// Lists a completed upload again that is missing from an older database: its object, its rows in the store, and the upload, so
/// that its client gets the same responses as before.
package struct Readoption: Sendable {
    /// The reason why the upload cannot be listed.
    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case unknownOrganization(Int64)

        package var description: String {
            switch self {
            case .unknownOrganization(let id):
                "the database does not have its organization (number \(id)): restore a later backup"
            }
        }
    }

    package let facts: ObjectFacts

    package init(_ facts: ObjectFacts) {
        self.facts = facts
    }

    /// Lists the upload, whose file has to be at its path. Repeating it changes nothing.
    ///
    /// - Throws: ``Refusal``.
    package func perform(in transaction: Connection) throws {
        guard try UploadRecords(transaction).holdsOrganization(facts.organizationID) else {
            throw Refusal.unknownOrganization(facts.organizationID)
        }
        // First the upload, because its stored bytes are counted for its owner.
        try complete(UploadRecords(transaction))
        try ObjectStore.adopt(stored, partSize: facts.partSize, in: transaction)
        let objects = ObjectRecords(transaction)
        if try objects.object(uploadID: facts.uploadID) == nil {
            // A later deletion is recorded under the same id.
            try objects.forgetDeletion(fileID: facts.fileID)
            try objects.insert(object, logicalID: facts.logicalUploadID, tags: facts.tags)
        }
    }

    /// Makes the attempt the completed one of its logical upload, unless its client has completed another one since.
    private func complete(_ records: UploadRecords<Connection>) throws {
        var attempt = upload
        if var inForce = try records.inForce(logicalID: attempt.logicalID), inForce.id != attempt.id {
            if inForce.state == .completed {
                attempt.state = .superseded
            } else {
                inForce.state = .superseded
                try records.update(inForce)
                try ObjectStore.discard(uploadID: inForce.id, in: records.connection)
            }
        }
        if try records.attempt(attempt.id) == nil {
            if try !records.holdsLogicalUpload(attempt.logicalID) { try records.insertLogicalUpload(of: attempt) }
            try records.insert(attempt)
        }
        try records.update(attempt)
        try records.forgetFailure(attempt.id)
    }

    private var upload: UploadRecord {
        UploadRecord(
            id: facts.uploadID, logicalID: facts.logicalUploadID,
            owner: owner,
            location: UploadLocation(
                bucket: facts.bucket, endpoint: facts.endpoint, region: facts.region, backend: facts.backend,
                key: facts.objectKey, partSize: facts.partSize),
            createdAt: UnixTime(microseconds: facts.createdAt), beganAt: UnixTime(microseconds: facts.createdAt),
            isRestart: facts.isRestart, hints: .none, state: .completed,
            sessionEndsAt: UnixTime(microseconds: facts.sessionEndsAt), isTouched: true, isSwept: false,
            refreshCount: 0,
            completed: CompletedObject(
                size: facts.size, etag: facts.etag, partCount: facts.partCount,
                tagsDigest: CompletionClaim.digest(of: facts.tags)))
    }

    private var owner: ObjectOwner {
        ObjectOwner(
            organizationID: facts.organizationID, siteID: facts.siteID, suiteID: facts.suiteID,
            deviceID: facts.deviceID)
    }

    private var object: CatalogObject {
        var object = CatalogObject(
            id: facts.objectID, fileID: facts.fileID, uploadID: facts.uploadID, owner: owner,
            content: CatalogObject.Content(
                bucket: facts.bucket, key: facts.objectKey, size: facts.size, etag: facts.etag),
            times: CatalogObject.Times(
                createdAt: UnixTime(microseconds: facts.createdAt), uploadedAt: UnixTime(microseconds: facts.storedAt),
                verifiedAt: UnixTime(microseconds: facts.verifiedAt)))
        object.description = facts.description
        return object
    }

    private var stored: StoredObject {
        StoredObject(
            StoredObject.Place(bucket: facts.bucket, key: facts.objectKey, uploadID: facts.uploadID),
            StoredObject.Content(
                size: facts.size, etag: facts.etag, crc64: facts.crc64, crc32: facts.crc32,
                checksum: facts.checksum.flatMap { Checksum($0) },
                origin: facts.multipartID.map { StoredObject.Multipart(id: $0, partCount: facts.partCount) }),
            fileID: facts.fileID, createdAt: UnixTime(microseconds: facts.storedAt), contentType: facts.contentType)
    }
}
