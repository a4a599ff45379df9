import Basics
import HTTPClient
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct DeliveryRulesTests {
    private let now = UnixTime(seconds: 1_800_000_000)
    private let rules: DeliveryRules = {
        var configuration = WebhooksConfiguration()
        configuration.longestRetry = .seconds(60)
        configuration.retryDuration = .seconds(600)
        return DeliveryRules(configuration)
    }()

    private func delivery(attempts: Int = 0, failingSeconds: Int64? = nil) -> Delivery {
        Delivery(
            position: 1, organizationID: 1, eventID: "e", subject: "s", payload: "{}", traceparent: nil,
            attempts: attempts, firstFailedAt: failingSeconds.map { now.adding(seconds: -$0) })
    }

    private func outcome(
        _ status: Int, retryAfter: Int64? = nil, attempts: Int = 0, failingSeconds: Int64? = nil, random: Double = 1
    ) -> DeliveryOutcome {
        rules.outcome(
            of: .success((status, retryAfter)), for: delivery(attempts: attempts, failingSeconds: failingSeconds),
            at: now, random: random)
    }

    private func delay(_ outcome: DeliveryOutcome) -> Double? {
        guard case .retry(let due, _) = outcome else { return nil }
        return Double(due.microseconds - now.microseconds) / 1e6
    }

    @Test(arguments: [200, 201, 204, 299]) func successStatusIsDelivered(status: Int) {
        #expect(outcome(status) == .delivered)
    }

    @Test(arguments: [100, 199, 301, 302, 308, 400, 404, 410, 429, 500, 503, 0]) func otherStatusIsRetried(status: Int)
    {
        #expect(delay(outcome(status)) == 1)
    }

    @Test func waitsTwiceAsLongEachTimeUpToABound() {
        #expect((0..<8).map { delay(outcome(500, attempts: $0)) } == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(delay(outcome(500, attempts: .max - 1)) == 60)
    }

    @Test func halfOfAWaitIsDrawnByLot() {
        #expect(delay(outcome(500, attempts: 3, random: 0)) == 4)
        #expect(delay(outcome(500, attempts: 3, random: 0.5)) == 6)
    }

    @Test func heedsWhatTheReceiverAsksFor() {
        #expect(delay(outcome(503, retryAfter: 120)) == 120)
        #expect(delay(outcome(503, retryAfter: -5)) == 1)
        #expect(delay(outcome(503, retryAfter: .max)) == 600)
    }

    @Test func givesUpWhenTheTimeIsOver() {
        #expect(delay(outcome(500, attempts: 20, failingSeconds: 540)) == 60)
        #expect(
            outcome(500, attempts: 20, failingSeconds: 541)
                == .dead(reason: "the webhook answered with HTTP status 500"))
        // However long it took, the first failure is followed by another attempt.
        #expect(delay(outcome(500, attempts: 0, failingSeconds: nil)) == 1)
    }

    @Test func failureReasonIsShortAndSaysWhy() {
        let redirect = outcome(302)
        let long = rules.outcome(
            of: .failure(.connection(String(repeating: "x", count: 1000))), for: delivery(), at: now, random: 1)
        guard case .retry(_, let first) = redirect, case .retry(_, let second) = long else {
            Issue.record("\(redirect), \(long)")
            return
        }
        #expect(first == "the webhook answered with a redirect, which the gateway does not follow")
        #expect(second.count == 256)
    }
}

@Suite(.timeLimited) struct WebhookPaceTests {
    @Test func aReceiverThatTakesNothingIsAskedSeldom() {
        var pace = WebhookPace(concurrency: 4)
        for _ in 0..<9 { pace.failed() }
        #expect((pace.slots, pace.pause) == (4, .zero))
        var pauses: [Duration] = []
        for _ in 0..<8 {
            pace.failed()
            pauses.append(pace.pause)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(pace.slots == 1)
        pace.succeeded()
        #expect((pace.slots, pace.pause) == (4, .zero))
    }

    @Test func oneEventThatFailsAmongOthersSlowsNothing() {
        var pace = WebhookPace(concurrency: 4)
        for _ in 0..<100 {
            for _ in 0..<9 { pace.failed() }
            pace.succeeded()
            #expect(!pace.isDown)
        }
    }
}
