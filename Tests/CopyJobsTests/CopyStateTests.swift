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
        #expect(job.update(tally([.copying: 1, .canceled: 2]), at: UnixTime(seconds: 2)) == nil)
        #expect(job.finishedAt == nil && job.state == .canceling)
        #expect(job.update(tally([.canceled: 3]), at: UnixTime(seconds: 3)) == .canceled)
        #expect(job.finishedAt == UnixTime(seconds: 3) && job.reason == "no more")
        #expect(job.update(tally([.failed: 3]), at: UnixTime(seconds: 4)) == nil)
        #expect(job.finishedAt == UnixTime(seconds: 3) && job.state == .canceled)
    }

    @Test func numbersAreTheContracts() {
        #expect(CopyJobState.allCases.map(\.rawValue) == Array(1...7))
        #expect(CopyItemState.allCases.map(\.rawValue) == Array(1...6))
    }
}

@Suite(.timeLimited) struct KeyTemplateTests {
    private func keys(_ template: String, of ids: [String]) throws -> [String] {
        try KeyTemplate(template).keys(of: ids.map { CopyKeySource(fileID: $0) })
    }

    @Test func theVariableIsReplacedAndAllElseStays() throws {
        #expect(try keys("", of: ["a", "b"]) == ["a", "b"])
        #expect(try keys("x/{file_id}/{{FILE_ID}}", of: ["a"]) == ["x/a/{FILE_ID}"])
        #expect(try keys("{file_id}-{id}", of: ["a"]) == ["a-a"])
        #expect(try keys("fixed", of: ["a"]) == ["fixed"])
    }

    @Test func propertiesOfTheObjectAreReplaced() throws {
        let source = CopyKeySource(
            fileID: "f", name: FileName("drive.mcap"), deviceID: "260427-000001", siteID: 3,
            createdAt: UnixTime(seconds: 1_796_000_000), tags: ["run": "../7"])
        func key(_ template: String) throws -> String { try KeyTemplate(template).keys(of: [source])[0] }
        #expect(try key("{device}/{date}/{name}") == "260427-000001/2026-11-30/drive.mcap")
        #expect(try key("{site}/{stem}-{id}.{ext}") == "3/drive-f.mcap")
        #expect(try key("{device}/{tag:run}/{name}").split(separator: "/").count == 3)
        let site = CopyKeySource(fileID: "f", name: FileName("a"), siteID: 3)
        #expect(try KeyTemplate("{device}/{name}").keys(of: [site]) == ["site-3/a"])
        for template in ["{ext}", "{tag:other}"] {
            let error = #expect(throws: RPCError.self) { try KeyTemplate(template).keys(of: [site]) }
            #expect(error?.detail == .invalidArgument)
        }
    }

    @Test func pathIsThatOfAFileInItsFolder() throws {
        func key(_ path: String?, of fileID: String = "f") -> CopyKeySource {
            CopyKeySource(
                fileID: fileID, name: FileName("metadata.yaml"), relativePath: path.flatMap { RelativePath($0) },
                siteID: 1)
        }
        let bags = [key("run_1/metadata.yaml"), key("run_2/.a:\\b", of: "g"), key(nil, of: "h")]
        let template = KeyTemplate("{device}/{path}")
        #expect(
            try template.keys(of: bags) == ["site-1/run_1/metadata.yaml", "site-1/run_2/.a:_b", "site-1/metadata.yaml"])
        #expect(
            try template.keys(of: [key("a/b.yaml"), key("a/b.yaml", of: "g")]) == [
                "site-1/a/b.yaml", "site-1/a/b.g.yaml",
            ])
    }

    @Test(arguments: ["..", "../../etc/passwd", "/etc/passwd", "a/../../b", "..\\x", ""])
    func hostileValuesStayBelowTheFolder(value: String) throws {
        let source = CopyKeySource(fileID: "f", name: FileName("a"), siteID: 1, tags: ["t": value])
        guard let key = try? KeyTemplate("x/{tag:t}/{name}").keys(of: [source])[0] else { return }
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        #expect(parts.count == 3 && parts[0] == "x" && parts[2] == "a")
        #expect(![".", "..", ""].contains(parts[1]))
    }

    @Test func nameOfAnotherFileGetsTheFileID() throws {
        let sources = ["a", "b", "c"].map { CopyKeySource(fileID: $0, name: FileName("metadata.yaml"), siteID: 1) }
        let keys = try KeyTemplate("k/{name}").keys(of: sources) { $0 == "k/metadata.yaml" && $1 == "a" }
        #expect(keys == ["k/metadata.a.yaml", "k/metadata.yaml", "k/metadata.c.yaml"])
    }

    @Test(arguments: [
        ("fixed", ["a", "b"]), ("/{file_id}", ["a"]), ("../{file_id}", ["a"]), ("x\\{file_id}", ["a"]),
        ("x\u{0}{file_id}", ["a"]), ("x/{FILE_ID}", ["a"]), ("{file_id", ["a"]), ("{file_id}}", ["a"]),
        ("{file_id}/.", ["a"]), (String(repeating: "x", count: 1024), ["a"]),
        (String(repeating: "{file_id}", count: 100), [String(repeating: "y", count: 12)]),
    ])
    func templateWithoutAKeyIsRefused(template: String, ids: [String]) {
        let error = #expect(throws: RPCError.self) { try keys(template, of: ids) }
        #expect(error?.detail == .invalidArgument)
        #expect(error?.message.contains("destination.key_template") == true)
    }
}
