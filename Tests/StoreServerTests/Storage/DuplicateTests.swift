import Basics
import Crypto
import Database
import Foundation
import HTTPTypes
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import StoreProtocol

/// Copies of objects: two names of the same bytes, which go by themselves, whatever happens between two steps.
@Suite(.timeLimited, .onDirectory) struct DuplicateTests {
    private static let key = StaticKey(
        id: "tools", secret: Secret("secret"), bucket: "bucket", prefix: "", access: .write)

    /// Writes as the static key does.
    private struct Writer: Sendable {
        let store: ObjectStore
        let policy: TestStore.Policy

        func permit(_ name: String) -> WritePermit {
            WritePermit(claims: DuplicateTests.key.claims(to: name, uploadID: nil), policy: policy)
        }

        func put(_ name: String, _ bytes: [UInt8]) throws -> StoredObject {
            let put = try ObjectPut(
                store, permit: permit(name), length: Int64(bytes.count), checks: BodyChecks(), header: ObjectHeader())
            bytes.withUnsafeBytes(put.receive)
            return try put.finish()
        }

        func copy(_ source: String, to name: String) throws -> StoredObject {
            let source = try store.decide(DuplicateTests.key, on: source, policy)
            return try store.copy(source, to: permit(name), conditions: Preconditions([:])) { _ in ObjectHeader() }
        }
    }

    private func writer(_ store: TestStore) -> Writer { Writer(store: store.store, policy: store.policy) }

    @discardableResult
    private func put(_ store: TestStore, _ name: String, _ bytes: [UInt8]) throws -> StoredObject {
        try writer(store).put(name, bytes)
    }

    private func copy(_ store: TestStore, _ source: String, to name: String) throws -> StoredObject {
        try writer(store).copy(source, to: name)
    }

    private func bytes(_ store: TestStore, _ name: String) throws -> [UInt8] {
        try store.withObject(Self.key.claims(to: name, uploadID: nil)) { object in
            var bytes: [UInt8] = []
            try store.store.read(object, 0..<object.size) { bytes += $0 }
            return bytes
        }
    }

    private func delete(_ store: TestStore, _ name: String) throws {
        try store.store.delete(writer(store).permit(name))
        _ = try store.files()
    }

    private func node(_ path: String) -> UInt {
        var status = stat()
        return stat(path, &status) == 0 ? UInt(status.st_ino) : 0
    }

    private func mark(_ store: TestStore, _ fileID: String) throws {
        let path = store.directory.appending(path: "store/duplicates/\(fileID)").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
    }

    /// Deletes an object's row, as a database has it that is older.
    private func forget(_ store: TestStore, _ name: String) throws {
        try store.database.writeBlocking { connection in
            _ = try connection.execute("DELETE FROM store_objects WHERE object_key = $1", name)
        }
    }

    private func offline(_ store: TestStore) -> OfflineStore {
        OfflineStore(directory: store.directory.appending(path: "store").path)
    }

    private func findings(_ store: TestStore) throws -> [StoreFinding] {
        var found: [StoreFinding] = []
        try store.database.readBlocking { connection in
            try offline(store).compare(with: connection, checksums: false) { found.append($0) }
        }
        return found
    }

    private func marks(_ store: TestStore) throws -> [String] { try store.store.data.unresolvedDuplicates() }

    @Test(arguments: [["1", "2", "3"], ["3", "2", "1"], ["2", "3", "1"]])
    func copiesGoInAnyOrder(order: [String]) throws {
        let store = try TestStore(inMemory: true)
        let first = try put(store, "1", content(100_000))
        let copies = [try copy(store, "1", to: "2"), try copy(store, "2", to: "3")]
        #expect(Set(([first] + copies).map { node(store.path($0.fileID)) }).count == 1, "the bytes were moved")
        #expect(copies.map(\.etag) == [first.etag, first.etag])
        var left = ["1", "2", "3"]
        for name in order {
            try delete(store, name)
            left.removeAll { $0 == name }
            for other in left { #expect(try bytes(store, other) == content(100_000)) }
        }
        #expect(try store.files().isEmpty && marks(store).isEmpty)
    }

    @Test func aCopyOverAnObjectFreesItsBytes() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(10))
        try put(store, "2", content(20))
        _ = try copy(store, "1", to: "2")
        #expect(try bytes(store, "2") == content(10))
        #expect(try store.files().count == 2)
    }

    @Test func eachCopyCountsInFull() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(100))
        store.policy.bytesLeft.withLock { $0 = 250 }
        _ = try copy(store, "1", to: "2")
        #expect(throws: ObjectStoreError.self) { try copy(store, "1", to: "3") }
        // One that takes another's place needs no more.
        _ = try copy(store, "1", to: "2")
        #expect(try store.files().count == 2 && marks(store).isEmpty)
    }

    @Test(arguments: ["marked", "linked", "linked and sealed"])
    func aCopyThatDidNotCommitGoesAtTheNextStart(step: String) throws {
        let store = try TestStore(inMemory: true)
        let first = try put(store, "1", content(1000))
        let id = Random.hex(16)
        try store.restart {
            let mark = store.directory.appending(path: "store/duplicates/\(id)").path
            #expect(FileManager.default.createFile(atPath: mark, contents: nil))
            if step != "marked" { #expect(link(store.path(first.fileID), store.path(id)) == 0) }
            if step == "linked and sealed" { chmod(store.path(id), 0o400) }
        }
        #expect(try store.files() == [first.fileID] && marks(store).isEmpty)
        #expect(store.store.reconciliation.quarantined == 0)
        #expect(try bytes(store, "1") == content(1000))
    }

    @Test func aCopyThatCommittedStaysWhenItsMarkDoes() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let second = try copy(store, "1", to: "2")
        try delete(store, "1")
        try store.restart {
            let mark = store.directory.appending(path: "store/duplicates/\(second.fileID)").path
            #expect(FileManager.default.createFile(atPath: mark, contents: nil))
        }
        #expect(try bytes(store, "2") == content(1000))
        #expect(try marks(store).isEmpty)
    }

    /// A mark that a process could not remove must not outlive a clean stop: an older database might not know the copy.
    @Test func marksGoAtACleanStart() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let second = try copy(store, "1", to: "2")
        try store.restart(isClean: true) { try mark(store, second.fileID) }
        #expect(!store.store.isReconciled)
        #expect(try marks(store).isEmpty)
        #expect(try store.files().count == 2)
    }

    /// The last name of bytes is kept, whatever its mark says.
    @Test(arguments: ["sealed", "not sealed"])
    func aMarkedFileWithoutAnotherNameGoesToQuarantine(mode: String) throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let second = try copy(store, "1", to: "2")
        try delete(store, "1")
        try store.restart {
            try forget(store, "2")
            try mark(store, second.fileID)
            if mode == "not sealed" { chmod(store.path(second.fileID), 0o200) }
            #expect(try findings(store) == [.unknown(fileID: second.fileID, size: 1000)])
        }
        #expect(store.store.reconciliation.quarantined == 1)
        #expect(try store.store.data.quarantined().map(\.fileID) == [second.fileID])
        #expect(try marks(store).isEmpty)
    }

    @Test func theLastOfSeveralMarkedNamesIsKept() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let copies = [try copy(store, "1", to: "2"), try copy(store, "1", to: "3")]
        try delete(store, "1")
        try store.restart {
            for name in ["2", "3"] { try forget(store, name) }
            for copy in copies { try mark(store, copy.fileID) }
        }
        #expect(store.store.reconciliation.quarantined == 1 && store.store.reconciliation.removed == 1)
        #expect(try store.files().isEmpty && marks(store).isEmpty)
        #expect(try store.store.data.quarantined().map(\.size) == [1000])
    }

    /// An unfinished copy is removed by the next start, so doctor does not report it as an object.
    @Test func doctorTellsAnUnfinishedCopyFromALostOne() throws {
        let store = try TestStore(inMemory: true)
        let first = try put(store, "1", content(1000))
        let id = Random.hex(16)
        try store.restart {
            try mark(store, id)
            #expect(link(store.path(first.fileID), store.path(id)) == 0)
            #expect(try findings(store) == [.stray(fileID: id, size: 1000)])
        }
        #expect(try store.files() == [first.fileID])
    }

    /// With an older database, both names of the same bytes are kept aside, and no mark is left.
    @Test func reconcilingWithAnOlderDatabaseKeepsMarkedFiles() throws {
        let store = try TestStore(inMemory: true)
        let first = try put(store, "1", content(1000))
        let second = try copy(store, "1", to: "2")
        try store.restart(isClean: true) {
            for name in ["1", "2"] { try forget(store, name) }
            try mark(store, second.fileID)
            #expect(try offline(store).reconcile(store.database, marksAreComplete: true) { _, _ in true } == 2)
        }
        #expect(try Set(store.store.data.quarantined().map(\.fileID)) == [first.fileID, second.fileID])
        #expect(try marks(store).isEmpty)
    }

    /// The bytes are the same, so the scrubber finds every copy corrupted.
    @Test func eachCopyIsExamined() async throws {
        let store = try TestStore(inMemory: true)
        let objects = [try put(store, "1", content(1000)), try copy(store, "1", to: "2")]
        for object in objects {
            #expect(try await store.store.examine(uploadID: object.uploadID) { _ in } == .intact)
        }
        let path = store.path(objects[1].fileID)
        chmod(path, 0o600)
        try Data(content(1001).dropFirst()).write(to: URL(filePath: path), options: [])
        for object in objects {
            let condition = try await store.store.examine(uploadID: object.uploadID) { _ in }
            #expect(condition == .bad("its bytes do not match its checksum"))
        }
    }

    /// Nothing is made of bytes that are known to be wrong.
    @Test func aCorruptedObjectIsNotCopied() throws {
        let store = try TestStore(inMemory: true)
        let first = try put(store, "1", content(1000))
        let now = store.clock.now()
        try store.database.writeBlocking { [store = store.store] in try store.markBad(first.uploadID, at: now, in: $0) }
        #expect(throws: ObjectStoreError.objectIsCorrupted) { try copy(store, "1", to: "2") }
        #expect(try store.files().count == 1 && marks(store).isEmpty)
        try put(store, "1", content(1000))
        #expect(try copy(store, "1", to: "2").size == 1000)
    }

    /// With an older database nobody knows which of two names is needed: what was acknowledged is kept.
    @Test func aCopyThatCommittedWithoutARowGoesToQuarantine() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let second = try copy(store, "1", to: "2")
        try store.restart {
            try store.database.writeBlocking { connection in
                _ = try connection.execute("DELETE FROM store_objects WHERE object_key = '2'")
            }
        }
        #expect(store.store.reconciliation.quarantined == 1)
        #expect(try store.store.data.quarantined().map(\.fileID) == [second.fileID])
        #expect(try bytes(store, "1") == content(1000))
    }

    @Test(arguments: [EMLINK, EPERM, EXDEV])
    func bytesAreCopiedWhereAFileCannotHaveTwoNames(error: Int32) throws {
        var files = DirectoryConfiguration()
        files.calls.link = { _, _ in
            errno = error
            return -1
        }
        let store = try TestStore(files: files, inMemory: true)
        let first = try put(store, "1", content(3_000_000))
        let second = try copy(store, "1", to: "2")
        #expect(node(store.path(first.fileID)) != node(store.path(second.fileID)))
        try delete(store, "1")
        #expect(try bytes(store, "2") == content(3_000_000) && marks(store).isEmpty)
    }

    @Test func aRefusedCopyLeavesNothing() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(10))
        store.policy.decision.withLock { $0 = .readOnly(needsActivity: false) }
        #expect(throws: ObjectStoreError.writeDenied) { try copy(store, "1", to: "2") }
        #expect(try store.files().count == 1 && marks(store).isEmpty)
    }

    /// The last commit to a key wins, and no file is left of the other writes.
    @Test func copiesOverAKeyThatIsBeingWrittenLeaveOneObject() throws {
        let store = try TestStore(inMemory: true)
        try put(store, "1", content(1000))
        let writer = writer(store)
        let failures = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            do {
                _ = try number.isMultiple(of: 2) ? writer.copy("1", to: "2") : writer.put("2", content(99))
            } catch {
                failures.withLock { $0 += 1 }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(try [content(1000), content(99)].contains(bytes(store, "2")))
        #expect(try store.files().count == 2 && marks(store).isEmpty)
    }
}
