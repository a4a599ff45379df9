import Accounts
import Basics
import Database
import GRPCWire
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore

@Suite(.timeLimited) struct BulkDeletionTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    private func delete(_ filter: String, dryRun: Bool = false) async throws -> DeleteObjectsResponse {
        try await scene.management.deleteObjects(
            DeleteObjectsRequest(filter: filter, reason: "clean up", dryRun: dryRun),
            context: scene.context(ObjectManagementServiceMethods.deleteObjects))
    }

    private func shown(_ id: String) async throws -> ObjectOperation {
        let reply = try await scene.management.getObjectOperation(
            GetObjectOperationRequest(operationID: id),
            context: scene.context(ObjectManagementServiceMethods.getObjectOperation))
        return try #require(reply.operation)
    }

    private func cancel(_ id: String) async throws -> ObjectOperation {
        let reply = try await scene.management.cancelObjectOperation(
            CancelObjectOperationRequest(operationID: id),
            context: scene.context(ObjectManagementServiceMethods.cancelObjectOperation))
        return try #require(reply.operation)
    }

    /// Adds objects 1 to `count`, every third of them with the tag `kind=test`.
    private func fill(_ count: Int64) throws {
        for size in 1...count {
            try scene.add(size: size, tags: size % 3 == 0 ? ["kind": "test"] : [:])
        }
        try scene.add(size: 3, organization: 2, tags: ["kind": "test"])
    }

    @Test func dryRunChangesNothing() async throws {
        try fill(300)
        let reply = try await delete("kind=test", dryRun: true)
        let bytes = stride(from: Int64(3), through: 300, by: 3).reduce(0, +)
        #expect(reply == DeleteObjectsResponse(matchingObjects: 100, matchingBytes: bytes))
        #expect(try await scene.sizes(size: 1000).count == 300)
        #expect(try scene.audit().isEmpty)
    }

    @Test func matchesMoveToTheTrashStepByStep() async throws {
        try fill(700)
        let reply = try await delete("kind=test OR size>690")
        let operation = try #require(reply.operation)
        #expect(reply.matchingObjects == 240 && operation.status == .running && operation.progressPercent == 0)
        // Newer objects stay.
        try scene.add(size: 9999, tags: ["kind": "test"])
        let runner = scene.bulkOperations.runner
        try await runner.step(operation.operationID)
        let after = try await shown(operation.operationID)
        #expect(after.deletedObjects == 100 && after.status == .running && (1...99).contains(after.progressPercent))
        // Another runner, as after a kill, continues after the last commit.
        let second = OperationRunner(
            database: scene.database, removal: scene.removal, clock: scene.clock, log: .discarding)
        for _ in 0..<4 { try await second.step(operation.operationID) }
        let finished = try await shown(operation.operationID)
        #expect(finished.status == .succeeded && finished.deletedObjects == 240 && finished.progressPercent == 100)
        #expect(finished.deletedBytes == reply.matchingBytes && finished.finishedAt != nil)
        let expected = (Int64(1)...690).reversed().filter { $0 % 3 != 0 }
        #expect(try await scene.sizes(size: 1000) == [9999] + expected)
        #expect(try await scene.sizes("trashed=true", size: 1000).count == 240)
        #expect(try await scene.sizes(as: scene.user(2)) == [3])
        let applied = try scene.audit().filter { $0.contains("ApplyDeleteObjects objectOperations/") }
        #expect(applied.count == 3 && applied.allSatisfy { $0.hasPrefix("user:organization-1/boss") })
    }

    /// The gateway that has the lease executes the operations of all gateways, whose commits notify no signal here.
    @Test func operationOfAnotherGatewayIsExecuted() async throws {
        let scene = try CatalogScene(isShared: true)
        for size in Int64(1)...5 { try scene.add(size: size) }
        let second = OperationRunner(
            database: scene.database, removal: scene.removal, clock: scene.clock, log: .discarding)
        let task = Task { await second.run() }
        // It has found nothing, and waits.
        await second.idle.wait(after: 0)
        let reply = try await scene.management.deleteObjects(
            DeleteObjectsRequest(filter: "size>2", reason: "clean up"),
            context: scene.context(ObjectManagementServiceMethods.deleteObjects))
        #expect(reply.matchingObjects == 3)
        while try await scene.sizes(size: 10) != [2, 1] { await Task.yield() }
        task.cancel()
        await task.value
    }

    private func undo(_ id: String) async throws -> UndoObjectOperationResponse {
        try await scene.management.undoObjectOperation(
            UndoObjectOperationRequest(operationID: id),
            context: scene.context(ObjectManagementServiceMethods.undoObjectOperation))
    }

    @Test func undoRestoresStepByStepWhatIsStillInTheTrash() async throws {
        try fill(250)
        let deletion = try #require(try await delete("size>0").operation)
        let runner = scene.bulkOperations.runner
        try await runner.step(deletion.operationID)
        let early = await #expect(throws: RPCError.self) { try await undo(deletion.operationID) }
        #expect(early?.detail == .failedPrecondition && early?.message.contains("running") == true)
        for _ in 0..<2 { try await runner.step(deletion.operationID) }
        let reply = try await undo(deletion.operationID)
        let operation = try #require(reply.operation)
        #expect(reply.matchingObjects == 250 && operation.kind == .undo)
        try await runner.step(operation.operationID)
        #expect(try await shown(operation.operationID).restoredObjects == 100)
        #expect(try await undo(deletion.operationID).matchingObjects == 150)
        // Another runner, as after a kill, continues after the last commit.
        let second = OperationRunner(
            database: scene.database, removal: scene.removal, clock: scene.clock, log: .discarding)
        for _ in 0..<3 { try await second.step(operation.operationID) }
        let finished = try await shown(operation.operationID)
        #expect(finished.status == .succeeded && finished.restoredObjects == 250 && finished.deletedObjects == 0)
        #expect(try await scene.sizes(size: 1000) == (Int64(1)...250).reversed())
        #expect(try scene.audit().filter { $0.contains("ApplyUndoObjectOperation objectOperations/") }.count == 3)
    }

    @Test func purgeByFilterKeepsWhatMovedToTheTrashLater() async throws {
        for size in 1...3 { try scene.add(bytes: Array(repeating: 0, count: size)) }
        let deletion = try #require(try await delete("size>1").operation)
        try await scene.bulkOperations.runner.step(deletion.operationID)
        let purge = try #require(
            try await scene.management.purgeObjects(
                PurgeObjectsRequest(filter: "size>=0"),
                context: scene.context(ObjectManagementServiceMethods.purgeObjects)
            ).operation)
        scene.clock.advance(seconds: 1)
        let late = try #require(try await delete("size=1").operation)
        try await scene.bulkOperations.runner.step(late.operationID)
        try await scene.bulkOperations.runner.step(purge.operationID)
        #expect(try await shown(purge.operationID).deletedObjects == 2)
        #expect(try await scene.sizes("trashed=true") == [1])
    }

    @Test func canceledOperationStops() async throws {
        try fill(600)
        let operation = try #require(try await delete("size>=0").operation)
        try await scene.bulkOperations.runner.step(operation.operationID)
        for _ in 0..<2 { #expect(try await cancel(operation.operationID).status == .canceled) }
        try await scene.bulkOperations.runner.step(operation.operationID)
        #expect(try await shown(operation.operationID).deletedObjects == 100)
        #expect(try await scene.sizes(size: 1000).count == 500)
        #expect(try scene.audit().filter { $0.contains("objectOperations") }.count == 3)
    }

    @Test func runnerFinishesWhatWasAsked() async throws {
        try fill(50)
        let ids = try await [delete("size>40"), delete("size<=10")].compactMap(\.operation?.operationID)
        let runner = scene.bulkOperations.runner
        let task = Task { await runner.run() }
        await runner.idle.wait(after: 0)
        for id in ids { #expect(try await shown(id).status == .succeeded) }
        let third = try #require(try await delete("size=20").operation?.operationID)
        await runner.idle.wait(after: 1)
        #expect(try await shown(third).status == .succeeded)
        task.cancel()
        await task.value
        #expect(try await scene.sizes().count == 29)
        let list = try await scene.management.listObjectOperations(
            ListObjectOperationsRequest(pageSize: 2),
            context: scene.context(ObjectManagementServiceMethods.listObjectOperations))
        #expect(list.operations.map(\.operationID) == [third, ids[1]] && !list.nextPageToken.isEmpty)
    }

    @Test func withoutTrashTheyAreDeleted() async throws {
        for size in 1...20 { try scene.add(bytes: Array(repeating: 0, count: size)) }
        try scene.setTrash(days: 0)
        let operation = try #require(try await delete("size>2").operation)
        for _ in 0..<3 { try await scene.bulkOperations.runner.step(operation.operationID) }
        #expect(try await shown(operation.operationID).deletedObjects == 18)
        #expect(try await scene.sizes() == [2, 1])
        #expect(try await scene.sizes("trashed=true").isEmpty)
    }

    @Test(arguments: ["", "trashed=true", "size>x", "kind=test (NOT trashed=false)"])
    func unsuitableFilterIsRefused(_ filter: String) async throws {
        let error = await #expect(throws: RPCError.self) { try await delete(filter) }
        #expect(error?.detail == .invalidArgument && error?.message.contains("filter") == true)
    }

    @Test func operationOfAnotherIsNotFound() async throws {
        try fill(3)
        let id = try #require(try await delete("size>0").operation?.operationID)
        let error = await #expect(throws: RPCError.self) {
            try await scene.management.getObjectOperation(
                GetObjectOperationRequest(operationID: id),
                context: scene.context(ObjectManagementServiceMethods.getObjectOperation, as: scene.user(2)))
        }
        #expect(error?.status == .notFound)
    }

    @Test func finishedOperationIsForgottenByAge() async throws {
        try fill(3)
        let id = try #require(try await delete("size>0").operation?.operationID)
        try await scene.bulkOperations.runner.step(id)
        func forget() async throws -> Int {
            let permit = try scene.permit
            return try await scene.database.write {
                try ObjectOperationRecords($0).forget(finishedFor: .days(90), permit, limit: 10)
            }
        }
        #expect(try await forget() == 0)
        scene.clock.advance(seconds: 90 * 86_400 + 1)
        #expect(try await forget() == 1)
    }

    @Test func organizationsTakeTurnsHoweverManyOperationsOneHas() async throws {
        try fill(3)
        for _ in 0..<3 { _ = try await delete("kind=test") }
        let other = try await scene.management.deleteObjects(
            DeleteObjectsRequest(filter: "kind=test", reason: "clean up"),
            context: scene.context(ObjectManagementServiceMethods.deleteObjects, as: scene.user(2)))
        let running = try await scene.database.read { try ObjectOperationRecords($0).running() }
        #expect(running.map(\.count) == [3, 1])
        let rounds = (0..<4).map { OperationRunner.turn(of: running, round: $0) }
        #expect(rounds.allSatisfy { $0.count == 2 && $0.last == other.operation?.operationID })
        #expect(rounds.map { $0[0] } == running[0] + [running[0][0]])
    }
}
