import Basics
import Database
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine

/// A bucket with the databases and the gateways of a test.
final class BucketScene: Sendable {
    /// A gateway, which ends with its process: nothing is closed before the end of the test.
    struct Gateway {
        let engine: S3Engine
        let store: TestStore

        var state: BucketState {
            store.store.work.upkeep.drain()
            return engine.state
        }

        var upkeep: BucketUpkeep {
            guard let upkeep = store.store.work.upkeep as? BucketUpkeep else {
                preconditionFailure("the engine is that of a bucket")
            }
            return upkeep
        }
    }

    static let orphanAge: Int64 = 30 * 86_400

    let clock = ManualClock()
    let bucket: TestBucket
    let folder: TestFolder
    /// The states of uploads, by id.
    private let uploads = Lock<[String: UploadRegister.UploadState]>([:])
    /// The files of listed objects; `nil` = all.
    private let listed = Lock<Set<String>?>(nil)

    init() throws {
        bucket = try TestBucket(clock: clock)
        folder = try TestFolder(inMemory: true)
    }

    var register: UploadRegister {
        UploadRegister { [weak self] uploadID, _ in
            self?.uploads.withLock { $0[uploadID] }
        } isListed: { [weak self] fileID, _ in
            self?.listed.withLock { $0?.contains(fileID) ?? true } ?? false
        } isDeleted: { _, _ in
            false
        }
    }

    func set(_ uploadID: String, _ state: UploadRegister.UploadState?) { uploads.withLock { $0[uploadID] = state } }

    func list(only fileIDs: Set<String>?) { listed.withLock { $0 = fileIDs } }

    /// Starts a gateway with a database.
    func start(_ database: String = "db", owner: PrefixOwner? = nil) throws -> Gateway {
        let engine = try bucket.engine(spoolFolder: folder.path, owner: owner)
        engine.use(register)
        let store = try TestStore(
            engine: engine, at: TestStore.Place(folder: folder, database: database, clock: clock))
        return Gateway(engine: engine, store: store)
    }

    /// Removes keys of ended uploads as if the state permitted it.
    func forceSweep(_ gateway: Gateway) throws -> KeySweep.Result {
        try gateway.upkeep.keySweep.run(isOrphan: isOrphan) {}
    }

    func sweep(_ gateway: Gateway) throws -> KeySweep.Result { try gateway.upkeep.sweepNow(isOrphan) }

    private func isOrphan(_ writtenAt: UnixTime) -> Bool {
        writtenAt.adding(seconds: Self.orphanAge) < clock.now()
    }

    func dataKeys() throws -> [String] { try bucket.keys().filter { $0.contains("/data/") } }

    /// Leaves a segment without a row, as a gateway that is killed between the PUT and the commit.
    func leaveSegment(
        _ gateway: Gateway, uploadID: String, part: (multipartID: String, number: Int)? = nil
    ) throws -> String {
        let place = StoredObject.Place(bucket: "bucket", key: "key of \(uploadID)", uploadID: uploadID)
        let segment = part.map { FilePurpose.Part($0.number, of: $0.multipartID, fileID: "") }
        let new = try gateway.engine.create(FilePurpose(place, part: segment), length: 1000)
        try new.sink.receive(content(1000))
        // After an unknown outcome the process keeps the bytes.
        _ = try? new.commit { throw DatabaseError.outcomeUnknown }
        return new.id
    }
}
