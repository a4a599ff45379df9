import Accounts
import Basics
import Catalog
import Crypto
import Database
import Foundation
import GatewayTesting
import StoreClient
import StoreTesting
import TestSupport

@testable import CopyJobs
@testable import ObjectStore

/// Jobs in a real database, in memory if possible; the objects that they name do not exist.
final class Scene: Sendable {
    private let base: TestDatabase
    let store: ObjectStore

    /// - Parameter isShared: whether the workers are of several processes.
    init(isShared: Bool = false) throws {
        var options = Database.Options()
        options.isShared = isShared
        base = try TestDatabase(
            Accounts.migrations + ObjectStore.migrations + Catalog.migrations + CopyJobs.migrations, options: options)
        store = try ObjectStore(
            engine: TestEngine.make(base.folder.path + "/store"), database: base.database,
            keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))))
        try AccountRows(base.database).addOrganization("o")
    }

    var database: Database { base.database }

    var root: String { base.folder.path }

    func add(
        _ id: String, items: Int, key: String? = nil, organizationID: Int64 = 1, upload: String = "u"
    ) throws {
        try database.writeBlocking { [root] connection in
            let job = CopyJob(
                id: id, organizationID: organizationID, userID: 7,
                place: CopyPlace(endpoint: "file://\(root)", bucket: "", region: ""), template: KeyTemplate(""),
                state: .queued, createdAt: UnixTime(seconds: 1), reason: "", items: items,
                size: Int64(items))
            let rows = (0..<items).map {
                CopyItem(jobID: id, number: $0, fileID: "f\($0)", uploadID: "\(upload)\($0)", key: "k\($0)", size: 1)
            }
            try CopyRecords(connection).insert(job, rows, idempotencyKey: key, digest: [1, 2])
        }
    }

    /// Stores the bytes of the items that name the upload.
    func store(_ bytes: [UInt8], uploadID: String) throws {
        var digest = ContentDigest()
        bytes.withUnsafeBytes { digest.update($0) }
        let (crc64, now, size) = (digest.crc64, UnixTime(seconds: 1), Int64(bytes.count))
        try store.engine.store(bytes) { fileID in
            try database.writeBlocking { [engine = store.engine] connection in
                try engine.record(fileID, FileContent(size: size, crc64: crc64), in: connection)
                _ = try StoreRecords(connection).replaceObject(
                    with: StoredObject(
                        StoredObject.Place(bucket: "data", key: uploadID, uploadID: uploadID),
                        StoredObject.Content(size: size, etag: "", crc64: crc64), fileID: fileID, createdAt: now))
                try ObjectRecords(connection).insert(
                    CatalogObject(
                        id: uploadID, fileID: uploadID, uploadID: uploadID,
                        owner: ObjectOwner(organizationID: 1, siteID: 1, suiteID: nil, deviceID: nil),
                        content: CatalogObject.Content(bucket: "data", key: uploadID, size: size, etag: ""),
                        times: CatalogObject.Times(createdAt: now, uploadedAt: now, verifiedAt: now)), tags: [:])
            }
        }
    }
}
