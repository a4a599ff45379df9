import TestSupport
import Testing
import Wire

@testable import GRPCWire

@Suite(.timeLimited) struct RichStatusTests {
    @Test func statusComesFirstAndTheDetailAgainAsAny() {
        let detail: [UInt8] = [10, 1, 0x43, 18, 1, 0x6D]
        let any: [UInt8] = [10, 23] + Array("type.googleapis.com/a.B".utf8) + [18, 6] + detail
        let bytes = RichStatus.encode(.notFound, detail: detail, type: "a.B")
        #expect(bytes == [8, 5] + detail + [26, UInt8(any.count)] + any)
    }
}
