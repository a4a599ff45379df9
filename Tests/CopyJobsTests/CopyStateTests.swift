import Basics
import GatewayAPI
import RPC
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct CopyStateTests {
    private func tally(_ counts: [CopyItemState: Int]) -> CopyTally {
        var tally = CopyTally()
        for (state, count) in counts { tally[state] = count }
        return tally
    }

    @Test(arguments: [
        ([CopyItemState.succeeded: 2, .queued: 1], CopyJobState.running, CopyJobState.running),
        ([.succeeded: 2, .copying: 1], .canceling, .canceling),
        ([.queued: 3], .queued, .queued),
        ([.succeeded: 2, .skipped: 1], .running, .succeeded),
        ([.skipped: 1], .running, .succeeded),
        ([.succeeded: 2, .failed: 1], .running, .partialFailed),
        ([.skipped: 2, .failed: 1], .running, .partialFailed),
        ([.failed: 2], .running, .failed),
        ([.canceled: 3], .canceling, .canceled),
        ([.succeeded: 2, .failed: 1, .canceled: 1], .canceling, .canceled),
        // The cancellation came after the last item.
        ([.succeeded: 3], .canceling, .succeeded),
        ([.failed: 3], .canceling, .failed),
        // Finished jobs stay unchanged.
        ([.succeeded: 3], .canceled, .canceled),
        ([.failed: 3], .succeeded, .succeeded),
    ])
    func jobStateFollowsFromItsItems(counts: [CopyItemState: Int], before: CopyJobState, after: CopyJobState) {
        #expect(tally(counts).state(after: before) == after)
    }

    @Test func aJobEndsOnce() {
        var job = CopyJob(
            id: "j", organizationID: 1, userID: 1, place: CopyPlace(endpoint: "file:///c", bucket: "", region: ""),
            template: KeyTemplate(""), state: .canceling, createdAt: UnixTime(seconds: 1), reason: "no more",
            items: 3, size: 3)
        #expect(job.settle(tally([.copying: 1, .canceled: 2]), at: UnixTime(seconds: 2)) == nil)
        #expect(job.finishedAt == nil && job.state == .canceling)
        #expect(job.settle(tally([.canceled: 3]), at: UnixTime(seconds: 3)) == .canceled)
        #expect(job.finishedAt == UnixTime(seconds: 3) && job.reason == "no more")
        #expect(job.settle(tally([.failed: 3]), at: UnixTime(seconds: 4)) == nil)
        #expect(job.finishedAt == UnixTime(seconds: 3) && job.state == .canceled)
    }

    @Test func numbersAreTheContracts() {
        #expect(CopyJobState.allCases.map(\.rawValue) == Array(1...7))
        #expect(CopyItemState.allCases.map(\.rawValue) == Array(1...6))
    }
}

@Suite(.timeLimited) struct KeyTemplateTests {
    @Test func theVariableIsReplacedAndAllElseStays() throws {
        #expect(try KeyTemplate("").keys(of: ["a", "b"]) == ["a", "b"])
        #expect(try KeyTemplate("x/{file_id}/{FILE_ID}{").keys(of: ["a"]) == ["x/a/{FILE_ID}{"])
        #expect(try KeyTemplate("{file_id}-{file_id}").keys(of: ["a"]) == ["a-a"])
        #expect(try KeyTemplate("fixed").keys(of: ["a"]) == ["fixed"])
    }

    @Test(arguments: [
        ("fixed", ["a", "b"]), ("/{file_id}", ["a"]), ("../{file_id}", ["a"]), ("x\\{file_id}", ["a"]),
        ("x\u{0}{file_id}", ["a"]), ("{file_id}/.", ["a"]), (String(repeating: "x", count: 1024), ["a"]),
        (String(repeating: "{file_id}", count: 100), [String(repeating: "y", count: 12)]),
    ])
    func templateWithoutAKeyIsRefused(template: String, ids: [String]) {
        let error = #expect(throws: RPCError.self) { try KeyTemplate(template).keys(of: ids) }
        #expect(error?.detail == .invalidArgument)
        #expect(error?.message.contains("destination.key_template") == true)
    }
}
