import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimited) struct TransferRuleTests {
    private let start = ContinuousClock.now

    private func rule(headerTimeout: Duration? = nil) -> TransferRule {
        TransferRule(minimumRate: 100, grace: .seconds(10), headerTimeout: headerTimeout, now: start)
    }

    /// Feeds samples a second apart; returns the second in which the connection was cut off.
    private func cut(
        _ rule: TransferRule, seconds: Int, _ sample: (Int) -> TransferRule.Sample
    ) -> Int? {
        var rule = rule
        return (0..<seconds).first { rule.isTooSlow(sample($0), at: start + .seconds($0)) }
    }

    private func sample(
        _ activity: TransferRule.Activity, stage: Int = 1, hasBegun: Bool = false, received: Int = 0,
        acknowledged: Int = 0
    ) -> TransferRule.Sample {
        .init(
            activity: activity, stage: stage, hasBegun: hasBegun, received: UInt64(received),
            acknowledged: UInt64(acknowledged))
    }

    @Test func aBodyHasToMove() {
        #expect(cut(rule(), seconds: 100) { sample(.moving, received: $0 * 100) } == nil)
        #expect(cut(rule(), seconds: 100) { sample(.moving, received: $0 * 99) } == 10)
        // Fast at first, but not later.
        #expect(cut(rule(), seconds: 100) { sample(.moving, received: min($0, 12) * 1000) } == 30)
    }

    @Test func anAnswerHasToMove() {
        #expect(cut(rule(), seconds: 100) { sample(.moving, acknowledged: $0 * 100) } == nil)
        #expect(cut(rule(), seconds: 100) { _ in sample(.moving) } == 10)
    }

    @Test func noTimePassesWhileTheServerWorks() {
        #expect(cut(rule(), seconds: 100) { _ in sample(.busy) } == nil)
        #expect(cut(rule(), seconds: 100) { sample($0 < 50 ? .busy : .moving) } == 59)
    }

    @Test func silenceBetweenRequestsIsAnothersToEnd() {
        #expect(cut(rule(), seconds: 100) { _ in sample(.waiting, received: 5000) } == nil)
        // Acknowledgements of the last response are not part of a request.
        #expect(cut(rule(), seconds: 100) { sample(.waiting, received: 7, acknowledged: $0) } == nil)
    }

    @Test func aHeaderHasToComeToItsEnd() {
        // Independent of its rate.
        #expect(cut(rule(), seconds: 100) { sample(.waiting, hasBegun: $0 > 20, received: $0 * 1000) } == 30)
        #expect(cut(rule(), seconds: 100) { sample(.waiting, stage: $0 / 9, hasBegun: true, received: $0) } == nil)
    }

    @Test func aHeaderHasATimeOfItsOwn() {
        #expect(cut(rule(headerTimeout: .seconds(3)), seconds: 100) { sample(.waiting, hasBegun: $0 > 20) } == 23)
        #expect(cut(rule(headerTimeout: .seconds(3)), seconds: 100) { _ in sample(.moving) } == 10)
    }

    @Test func eachStageHasItsGrace() {
        #expect(cut(rule(), seconds: 100) { sample(.moving, stage: $0 / 10) } == nil)
        #expect(cut(rule(), seconds: 100) { sample(.moving, stage: $0 / 11) } == 10)
    }
}
