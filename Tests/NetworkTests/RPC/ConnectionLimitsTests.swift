import TestSupport
import Testing

@testable import Sockets

@Suite(.timeLimited) struct ConnectionLimitsTests {
    @Test func oneAddressAndAllHaveTheirLimits() throws {
        let limits = ConnectionLimits(total: 3, perAddress: 2)
        try limits.enter("192.0.2.1")
        try limits.enter("192.0.2.1")
        #expect(throws: ConnectionLimits.Limit.connectionsPerAddress) { try limits.enter("192.0.2.1") }
        try limits.enter("192.0.2.2")
        #expect(throws: ConnectionLimits.Limit.connections) { try limits.enter("192.0.2.3") }
        limits.leave("192.0.2.1")
        try limits.enter("192.0.2.3")
    }

    @Test func aShortageIsToldOncePerEpisode() {
        let reports = Reports()
        let shortage = DescriptorShortage { reports.count += 1 }
        let start = ContinuousClock.now
        for second in [0, 1, 50, 100] { shortage.noted(at: start + .seconds(second)) }
        #expect(reports.count == 1)
        shortage.noted(at: start + .seconds(161))
        #expect(reports.count == 2)
    }

    /// Counts notifications. Sendable: used by one thread.
    private final class Reports: @unchecked Sendable {
        var count = 0
    }
}
