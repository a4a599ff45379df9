import Basics
import HTTPClient
import JSON
import StoreClient
import StoreProtocol
import StoreTesting
import TestSupport
import Testing

@testable import S3Engine

@Suite(.timeLimited) struct PrefixOwnerTests {
    private static let key = "gateway/owner"

    /// A gateway that uses the prefix of a store, or tries to.
    private final class Gateway: Sendable {
        let holder: PrefixHolder
        /// The clock of its machine.
        let clock = ManualClock()
        private let changes = Lock<[PrefixOwnership]>([])
        private let object: OwnerObject

        init(
            _ host: String, _ store: FakeS3, honorsConditions: Bool = true, place: String = "", directory: String = "",
            group: (id: String, former: String) = ("", "")
        ) throws {
            var holder = PrefixHolder(
                host: host, process: 7, startedAt: UnixTime(seconds: 1_767_225_600), id: "id of \(host)",
                place: place, directory: directory)
            (holder.group, holder.formerGroup) = group
            self.holder = holder
            object = OwnerObject(try store.configuration(), try store.client(), honorsConditions: honorsConditions)
        }

        var reported: [PrefixOwnership] { changes.withLock { $0 } }

        func take(takeOver: Bool = false) async throws -> PrefixOwner {
            try await PrefixOwner.take(object, as: holder, takeOver: takeOver, clock: clock) { [self] change in
                changes.withLock { $0.append(change) }
            }
        }
    }

    private static func document(_ store: FakeS3) -> OwnerDocument? {
        store.objects[key].flatMap { OwnerDocument($0.bytes) }
    }

    private static func failures(of store: FakeS3) {
        store.change { $0.intercept = { _ in .error(503, "SlowDown") } }
    }

    // MARK: Taking

    @Test func objectNamesTheGateway() async throws {
        let store = try FakeS3()
        let gateway = try Gateway("a", store)
        let owner = try await gateway.take()
        #expect(owner.ownership == .held)
        let object = try #require(store.objects[Self.key])
        let members = try #require(JSONValue(parsing: object.bytes).members)
        #expect(members["host"]?.stringValue == "a" && members["process"]?.integer == 7)
        #expect(members["started_at"]?.stringValue == "2026-01-01T00:00:00.000Z")
        #expect(members["id"]?.stringValue == "id of a")
        #expect(Self.document(store)?.holder == gateway.holder)
    }

    @Test(arguments: [true, false])
    func secondGatewayIsRefusedWithTheHolder(honorsConditions: Bool) async throws {
        let store = try FakeS3()
        _ = try await Gateway("a", store, honorsConditions: honorsConditions).take()
        store.clock.advance(seconds: 7)
        let conflict = await #expect(throws: PrefixConflict.self) {
            try await Gateway("b", store, honorsConditions: honorsConditions).take()
        }
        #expect(conflict?.holder?.host == "a")
        #expect(
            conflict?.description.hasPrefix(
                "bucket/gateway/owner is in use by process 7 on host a, started at 2026-01-01T00:00:00Z, renewed 7 seconds ago"
            )
                == true)
        #expect(Self.document(store)?.holder.host == "a")
    }

    /// A gateway that was killed has ended, because the next one has its data directory.
    @Test func directoryIsUsedAgainAtOnce() async throws {
        let store = try FakeS3()
        let first = try await Gateway("a", store, place: "m", directory: "d").take()
        let second = try await Gateway("b", store, place: "m", directory: "d").take()
        #expect(second.ownership == .held)
        #expect(await !first.confirm())
        #expect(first.ownership == .lost(to: second.holder))
    }

    @Test(arguments: [true, false])
    func gatewaysOfAGroupHaveThePrefixTogether(honorsConditions: Bool) async throws {
        let store = try FakeS3()
        let first = try await Gateway("a", store, honorsConditions: honorsConditions, group: ("g", "")).take()
        let second = try await Gateway("b", store, honorsConditions: honorsConditions, group: ("g", "")).take()
        for owner in [first, second, first, first, second] {
            #expect(await owner.confirm())
            #expect(owner.ownership == .held)
        }
        await #expect(throws: PrefixConflict.self) { try await Gateway("c", store, group: ("h", "")).take() }
        await #expect(throws: PrefixConflict.self) { try await Gateway("d", store).take() }
        // One of them that ends does not take the right from the others.
        #expect(await !second.release())
        #expect(await first.confirm())
    }

    @Test func nextGroupOfADatabaseWaitsForTheEndOfTheFormerOne() async throws {
        let store = try FakeS3()
        let former = try await Gateway("a", store, group: ("g", "")).take()
        let next = try Gateway("b", store, group: ("h", "g"))
        store.clock.advance(seconds: 59)
        await #expect(throws: PrefixConflict.self) { try await next.take() }
        store.clock.advance(seconds: 1)
        #expect(try await next.take().ownership == .held)
        #expect(await !former.confirm())
        guard case .lost(let holder) = former.ownership else { return #expect(Bool(false)) }
        #expect(holder?.id == next.holder.id)
    }

    /// After a restart of the machine, a copy of it may still run: it is recognized by its renewals.
    @Test func machineIsUsedAgainAfterAMinute() async throws {
        let store = try FakeS3()
        _ = try await Gateway("a", store, place: "m", directory: "d").take()
        let second = try Gateway("b", store, place: "m", directory: "e")
        store.clock.advance(seconds: 59)
        await #expect(throws: PrefixConflict.self) { try await second.take() }
        store.clock.advance(seconds: 1)
        #expect(try await second.take().ownership == .held)
    }

    @Test func processKnowsItsPlace() throws {
        let folder = try TestFolder(inMemory: true)
        let (holder, other) = (
            PrefixHolder.current(dataDirectory: folder.path, clock: ManualClock()),
            PrefixHolder.current(dataDirectory: folder.path, clock: ManualClock())
        )
        #expect(holder.hasEnded(before: other) && holder.id != other.id)
        let elsewhere = PrefixHolder.current(dataDirectory: "/", clock: ManualClock())
        #expect(!holder.hasEnded(before: elsewhere) && !holder.isAtPlace(of: elsewhere))
    }

    @Test(arguments: [true, false])
    func takeoverNeedsAMinuteByTheClockOfTheStore(honorsConditions: Bool) async throws {
        let store = try FakeS3()
        let first = try Gateway("a", store, honorsConditions: honorsConditions)
        let owner = try await first.take()
        let second = try Gateway("b", store, honorsConditions: honorsConditions)
        second.clock.advance(seconds: 864_000)
        store.clock.advance(seconds: 59)
        await #expect(throws: PrefixConflict.self) { try await second.take(takeOver: true) }
        store.clock.advance(seconds: 1)
        await #expect(throws: PrefixConflict.self) { try await second.take() }
        let successor = try await second.take(takeOver: true)
        #expect(successor.ownership == .held)
        #expect(await owner.confirm() == false)
        #expect(owner.ownership == .lost(to: second.holder))
        #expect(await successor.confirm())
    }

    @Test func takeoverIsRefusedWithoutTheTimeOfTheStore() async throws {
        let store = try FakeS3()
        _ = try await Gateway("a", store).take()
        store.clock.advance(seconds: 600)
        store.change { $0.hasDates = false }
        let conflict = await #expect(throws: PrefixConflict.self) {
            try await Gateway("b", store).take(takeOver: true)
        }
        #expect(conflict?.description.contains("does not report when") == true)
    }

    @Test func renewedOwnerIsNotTakenOver() async throws {
        let store = try FakeS3()
        let owner = try await Gateway("a", store).take()
        store.clock.advance(seconds: 59)
        #expect(await owner.confirm())
        store.clock.advance(seconds: 59)
        await #expect(throws: PrefixConflict.self) { try await Gateway("b", store).take(takeOver: true) }
        #expect(await owner.confirm())
    }

    @Test func otherObjectIsReplacedOnlyByATakeover() async throws {
        let store = try FakeS3()
        store.put(Self.key, "not JSON")
        store.clock.advance(seconds: 61)
        let conflict = await #expect(throws: PrefixConflict.self) { try await Gateway("a", store).take() }
        #expect(conflict?.holder == nil)
        #expect(conflict?.description.contains("names no gateway") == true)
        #expect(try await Gateway("a", store).take(takeOver: true).ownership == .held)
    }

    @Test func laterGatewayWinsWithoutConditions() async throws {
        let store = try FakeS3()
        let second = try Gateway("b", store)
        // It stores its name between the PUT of the first one and the read that follows.
        let bytes = OwnerDocument(second.holder).bytes
        store.change { $0.alter = { _ in bytes } }
        let conflict = await #expect(throws: PrefixConflict.self) {
            try await Gateway("a", store, honorsConditions: false).take()
        }
        #expect(conflict?.holder == second.holder)
    }

    @Test func takingWithALostResponseIsRecognized() async throws {
        let store = try FakeS3()
        store.change { $0.losesResponse = { $0.method == "PUT" } }
        let gateway = try Gateway("a", store)
        await #expect(throws: TransferFailure.self) { try await gateway.take() }
        store.change { $0.losesResponse = { _ in false } }
        let owner = try await gateway.take()
        #expect(await owner.confirm())
    }

    // MARK: Loss

    @Test(arguments: [true, false])
    func lossIsReportedOnceAndPermanent(honorsConditions: Bool) async throws {
        let store = try FakeS3()
        let first = try Gateway("a", store, honorsConditions: honorsConditions)
        let owner = try await first.take()
        let own = String(decoding: try #require(store.objects[Self.key]).bytes, as: UTF8.self)
        store.clock.advance(seconds: 60)
        let second = try Gateway("b", store, honorsConditions: honorsConditions)
        let successor = try await second.take(takeOver: true)
        #expect(await owner.confirm() == false)
        #expect(first.reported == [.lost(to: second.holder)])
        // Even if its own object is back.
        store.put(Self.key, own)
        #expect(await owner.confirm() == false)
        #expect(owner.ownership == .lost(to: second.holder))
        #expect(await owner.release() == false)
        #expect(first.reported == [.lost(to: second.holder)])
        #expect(await successor.confirm() == false)
    }

    @Test func removedObjectIsALoss() async throws {
        let store = try FakeS3()
        let gateway = try Gateway("a", store)
        let owner = try await gateway.take()
        try await store.client().delete(Self.key)
        #expect(await owner.confirm() == false)
        #expect(gateway.reported == [.lost(to: nil)])
    }

    @Test func renewalWithALostResponseIsRecognized() async throws {
        let store = try FakeS3()
        let owner = try await Gateway("a", store).take()
        store.change { $0.losesResponse = { $0.method == "PUT" } }
        #expect(await owner.confirm() == false)
        #expect(owner.ownership == .held)
        store.change { $0.losesResponse = { _ in false } }
        #expect(await owner.confirm())
        #expect(await owner.confirm())
    }

    /// Two copies of one running machine have the same holder, but not the same renewals.
    @Test func copyOfARunningMachineLosesThePrefix() async throws {
        let store = try FakeS3()
        let gateway = try Gateway("a", store)
        let original = try await gateway.take()
        let copy = try await gateway.take()
        #expect(await original.confirm())
        #expect(await copy.confirm() == false)
        #expect(copy.ownership == .lost(to: gateway.holder))
        #expect(await original.confirm())
    }

    // MARK: Uncertainty

    @Test func unansweredRenewalsMakeTheOwnershipUnknownAfterThirtySeconds() async throws {
        let store = try FakeS3()
        let gateway = try Gateway("a", store)
        let owner = try await gateway.take()
        Self.failures(of: store)
        gateway.clock.advance(seconds: 19)
        #expect(await owner.confirm() == false)
        #expect(owner.isConfirmedLately)
        gateway.clock.advance(seconds: 10)
        #expect(await owner.confirm() == false)
        #expect(owner.ownership == .held && !owner.isConfirmedLately)
        gateway.clock.advance(seconds: 1)
        #expect(await owner.confirm() == false)
        #expect(await owner.confirm() == false)
        #expect(owner.ownership == .unknown)
        #expect(gateway.reported == [.unknown])
        store.change { $0.intercept = { _ in nil } }
        #expect(await owner.confirm())
        #expect(owner.ownership == .held && owner.isConfirmedLately)
        #expect(gateway.reported == [.unknown, .held])
    }

    @Test func stoppedProcessFindsNothingCertain() async throws {
        let store = try FakeS3()
        let first = try Gateway("a", store)
        let owner = try await first.take()
        // SIGSTOP: time passes without a renewal, and the spare takes over.
        for clock in [first.clock, store.clock] { clock.advance(seconds: 90) }
        let second = try Gateway("b", store)
        _ = try await second.take(takeOver: true)
        // SIGCONT: before any request, the ownership is not certain.
        #expect(owner.ownership == .unknown)
        #expect(await owner.confirm() == false)
        #expect(first.reported == [.lost(to: second.holder)])
        #expect(Self.document(store)?.holder == second.holder)
    }

    @Test func stepOfTheWallClockChangesNothing() async throws {
        let store = try FakeS3()
        let gateway = try Gateway("a", store)
        let owner = try await gateway.take()
        gateway.clock.step(seconds: 86_400)
        #expect(owner.ownership == .held)
        gateway.clock.step(seconds: -172_800)
        #expect(owner.ownership == .held)
    }

    // MARK: Renewal in the background

    private struct EndOfTest: Error {}

    @Test func renewalsHaveTheirIntervals() async throws {
        let store = try FakeS3()
        let owner = try await Gateway("a", store).take()
        let pauses = Lock<[Duration]>([])
        await owner.run { pause in
            let number = pauses.withLock { pauses in
                pauses.append(pause)
                return pauses.count
            }
            if number == 2 { Self.failures(of: store) }
            if number == 4 { throw EndOfTest() }
        }
        #expect(pauses.withLock { $0 } == [.seconds(10), .seconds(10), .seconds(2), .seconds(2)])
    }

    @Test func renewalsEndWithTheLoss() async throws {
        let store = try FakeS3()
        let first = try Gateway("a", store)
        let owner = try await first.take()
        store.clock.advance(seconds: 60)
        let second = try Gateway("b", store)
        _ = try await second.take(takeOver: true)
        await owner.run { _ in }
        #expect(first.reported == [.lost(to: second.holder)])
    }

    @Test func concurrentConfirmationsTakeTurns() async throws {
        let store = try FakeS3()
        let owner = try await Gateway("a", store).take()
        let confirmed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await owner.confirm() } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(confirmed == 20)
        #expect(store.requests.filter { $0.method == "PUT" }.count == 21)
    }

    // MARK: Release

    @Test(arguments: [true, false])
    func releasedPrefixIsFree(honorsMatch: Bool) async throws {
        let store = try FakeS3()
        let first = try Gateway("a", store)
        let owner = try await first.take()
        // A store that does not know conditional removals.
        let intercept: @Sendable (FakeS3.Request) -> FakeS3.Response? = { request in
            request.method == "DELETE" && request.fields["if-match"] != nil && !honorsMatch
                ? .error(501, "NotImplemented") : nil
        }
        store.change { $0.intercept = intercept }
        #expect(await owner.release())
        #expect(owner.ownership == .lost(to: nil))
        #expect(await owner.confirm() == false)
        #expect(first.reported.isEmpty)
        #expect(store.objects.isEmpty)
        #expect(try await Gateway("b", store).take().ownership == .held)
    }

    @Test func releaseLeavesTheObjectOfASuccessor() async throws {
        let store = try FakeS3()
        let owner = try await Gateway("a", store).take()
        store.clock.advance(seconds: 60)
        let second = try Gateway("b", store)
        _ = try await second.take(takeOver: true)
        #expect(await owner.release() == false)
        #expect(Self.document(store)?.holder == second.holder)
    }

    // MARK: The project's own store

    @Test func ownStoreKeepsThePrefixForOneGateway() async throws {
        let store = try TestBucket()
        func take(_ host: String) async throws -> PrefixOwner {
            let object = OwnerObject(try store.configuration(), try store.client(), honorsConditions: true)
            let holder = PrefixHolder(host: host, process: 1, startedAt: UnixTime(seconds: 0), id: host)
            return try await PrefixOwner.take(object, as: holder, clock: SystemClock()) { _ in }
        }
        let first = try await take("a")
        #expect(await first.confirm())
        await #expect(throws: PrefixConflict.self) { try await take("b") }
        #expect(await first.release())
        #expect(try await take("b").ownership == .held)
    }
}
