import Basics
import Crypto
import Database
import ObjectStore

/// The work of the engine apart from requests.
final class BucketUpkeep: EngineUpkeep {
    let condition: EngineCondition
    let foldersToReconcile = 0
    let storeID: String

    private let abandoning: Worker

    /// - Parameter abandoning: removes segments that got no row.
    init(_ database: Database, _ abandoning: Worker) throws {
        self.abandoning = abandoning
        let recorded = try database.readBlocking { try StoreRecords($0).identity() }
        let id = recorded?.id ?? Hex.lower(Random.bytes(16))
        if recorded == nil { try database.writeBlocking { try StoreRecords($0).setIdentity(id, generation: 1) } }
        storeID = id
        condition = .clean
    }

    var reconciliation: StoreReconciliation { StoreReconciliation() }

    func finish() async {}
    func stop() {}
    func drain() { abandoning.drain() }
    func recordCleanStop() {}
}
