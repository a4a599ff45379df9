import Basics
import HTTPClient
import StoreClient
import TestSupport
import Testing

@testable import S3Engine

@Suite(.timeLimited) struct BucketActivityTests {
    /// Returns the number of each result of an operation that has any.
    private static func results(_ activity: BucketActivity) -> [String: [S3RequestResult: Int]] {
        var results: [String: [S3RequestResult: Int]] = [:]
        for (operation, counts) in activity.counts where counts.results.contains(where: { $0 > 0 }) {
            results[operation.rawValue] = Dictionary(
                uniqueKeysWithValues: S3RequestResult.allCases.map { ($0, counts.results[$0.rawValue]) }
                    .filter { $0.1 > 0 })
        }
        return results
    }

    private static func client(_ store: FakeS3, _ activity: BucketActivity) throws -> S3Client {
        try store.configuration().controlClient(store.credentials, clock: SystemClock(), observer: activity)
    }

    @Test func requestsAreCountedByOperationAndResult() async throws {
        let store = try FakeS3()
        let activity = BucketActivity(clock: store.clock)
        let client = try Self.client(store, activity)
        _ = try await client.put("a", [1, 2, 3])
        _ = try await client.head("a")
        // That a key has no object is an answer, but not for one that is read.
        #expect(try await client.head("none") == nil)
        #expect(activity.lastFailure == nil)
        await #expect(throws: StoreRefusal.self) { _ = try await client.download("none") }
        #expect(activity.lastFailure?.reason.hasPrefix("get: ") == true)
        _ = try await client.list("")
        #expect(try await client.delete(["a"]).isEmpty)
        let upload = try await client.upload("b", size: 2)
        _ = try await upload.write([1, 2])
        _ = try await upload.finish()
        #expect(
            Self.results(activity) == [
                "put": [.done: 2], "head": [.done: 2], "get": [.refused: 1], "list": [.done: 1], "delete": [.done: 1],
            ])
        #expect(activity.sentBytes > 5)
    }

    @Test func failuresAreCounted() async throws {
        let store = try FakeS3()
        let activity = BucketActivity(clock: store.clock)
        let client = try Self.client(store, activity)
        store.change { $0.intercept = { _ in .error(503, "SlowDown") } }
        await #expect(throws: StoreRefusal.self) { _ = try await client.put("a", [1]) }
        store.change { $0.intercept = { _ in .error(403, "AccessDenied") } }
        await #expect(throws: StoreRefusal.self) { _ = try await client.put("a", [1]) }
        store.change { $0.intercept = { _ in FakeS3.Response(isLost: true) } }
        await #expect(throws: TransferFailure.self) { _ = try await client.put("a", [1]) }
        #expect(Self.results(activity) == ["put": [.failed: 1, .refused: 1, .unanswered: 1]])
        #expect(activity.lastFailure?.at == store.clock.now())
    }

    @Test func requestsOfAnOwnerAreOneOperation() async throws {
        let store = try FakeS3()
        let activity = BucketActivity(isOwnership: true, clock: store.clock)
        let client = try Self.client(store, activity)
        _ = try await client.put("a", [1])
        await #expect(throws: StoreRefusal.self) { _ = try await client.download("none") }
        #expect(Self.results(activity) == ["ownership": [.done: 2]])
        #expect(activity.lastFailure == nil)
    }
}
