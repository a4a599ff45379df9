import Synchronization
import TestSupport
import Testing

@testable import Basics
@testable import Crypto

/// W3C Trace Context, sections 2.2.2 (format) and 4.3 (propagation).
@Suite(.timeLimited) struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    @Test func goesOnWithAStepOfItsOwn() throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.parent)-01".utf8))
        #expect(context.traceID == Self.trace && context.parentID == Self.parent && context.isSampled)
        #expect(context.spanID != Self.parent && context.spanID.count == 16)
        #expect(context.traceparent == "00-\(Self.trace)-\(context.spanID)-01")
        let next = try #require(TraceContext(traceparent: context.traceparent.utf8))
        #expect(next.traceID == Self.trace && next.parentID == context.spanID)
    }

    @Test(arguments: [
        ("00-\(trace)-\(parent)-00", false), ("00-\(trace)-\(parent)-03", true), ("00-\(trace)-\(parent)-fe", false),
        // In a later version, more fields may follow.
        ("01-\(trace)-\(parent)-01", true), ("cc-\(trace)-\(parent)-01-what-the-future-will-be-like", true),
    ])
    func validTraceparentIsAccepted(field: String, isSampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: field.utf8))
        #expect(context.isSampled == isSampled)
        #expect(context.traceparent.hasSuffix(isSampled ? "-01" : "-00"))
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-", "00-\(trace)-\(parent)-1",
        "00-\(trace)-\(parent)-01-", "00-\(trace)-\(parent)-01-more", "00-\(trace)-\(parent)-011",
        "ff-\(trace)-\(parent)-01", "01-\(trace)-\(parent)-01x", "0x-\(trace)-\(parent)-01", "0-\(trace)-\(parent)-01",
        "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01", "00-\(trace)-\(parent)-0A",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "00_\(trace)-\(parent)-01", "00-\(trace)_\(parent)-01", "00-\(trace)-\(parent)_01", " 00-\(trace)-\(parent)-01",
        "00-0af7651916cd43dd8448eb211c80319-\(parent)-01x", "00-\(trace)-b7ad6b716920333g-01",
    ])
    func invalidCountsAsNone(field: String) {
        #expect(TraceContext(traceparent: field.utf8) == nil)
    }
}

@Suite(.timeLimited) struct RequestIDTests {
    @Test(arguments: ["a", "req-1_2.3:4/5+6=", String(repeating: "x", count: 128)])
    func wellFormedRequestIDIsAccepted(field: String) {
        #expect(RequestID.accepted(field.utf8)?.description == field)
    }

    @Test(arguments: ["", " ", "a b", "a\nb", "a\"b", "é", "a,b", String(repeating: "x", count: 129)])
    func malformedRequestIDIsIgnored(field: String) {
        #expect(RequestID.accepted(field.utf8) == nil)
    }

    @Test func oursAreWrittenAlikeEverywhere() {
        for _ in 0..<1000 {
            let id = RequestID.make()
            let lines = Lock<[String]>([])
            Logger { line in lines.withLock { $0.append(line) } }.scoped { $0.add("id") { id.write(to: &$0) } }.write(
                "x")
            #expect(lines.withLock { $0 } == ["info    x id=\(id)"])
        }
    }

    @Test func oursAreNobodyElses() {
        let made = Set((0..<1000).map { _ in RequestID.make().description })
        #expect(made.count == 1000)
        #expect(made.allSatisfy { $0.count == 32 && Hex.decode($0) != nil && $0 == $0.lowercased() })
    }
}
