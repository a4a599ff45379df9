import TestSupport
import Testing

@testable import RPC

@Suite(.timeLimited) struct MessageInboxTests {
    @Test func messagesKeepTheirOrderHoweverTheyAreRead() async throws {
        let inbox = MessageInbox<Int>()
        var sent = 0
        var received: [Int?] = []
        for (count, reads) in [(10, 3), (1, 7), (500, 20), (0, 400), (30, 111)] {
            for _ in 0..<count {
                inbox.deliver(sent, size: 1)
                sent += 1
            }
            for _ in 0..<reads { received.append(try await inbox.next()) }
        }
        inbox.end()
        #expect(received == Array(0..<541))
        #expect(try await inbox.next() == nil)
    }

    @Test func itIsFullWhileTooMuchWaits() async throws {
        let inbox = MessageInbox<Int>()
        inbox.deliver(1, size: MessageInbox<Int>.highWater - 1)
        #expect(!inbox.isFull)
        inbox.deliver(2, size: 1)
        #expect(inbox.isFull)
        _ = try await inbox.next()
        #expect(!inbox.isFull)
    }
}
