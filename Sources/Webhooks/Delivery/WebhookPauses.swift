import Basics

/// The failures of webhooks since their last success, and requests to end a pause; any thread may use them at any time.
final class WebhookPauses: Sendable {
    /// The failures of one webhook.
    struct Failing: Sendable, Hashable {
        /// The number of failed attempts in a row.
        var attempts = 0
        /// The reason of the latest one.
        var lastError = ""
        /// The time before which no attempt begins; `nil` = the webhook is not paused.
        var pausedUntil: UnixTime?
    }

    private struct State {
        var failing: [String: Failing] = [:]
        /// The webhooks whose next attempt shall not wait for the end of its pause.
        var retried: Set<String> = []
    }

    private let state = Lock(State())

    /// The failures of a webhook; `nil` if its last attempt succeeded, or another gateway sends to it.
    func failing(_ webhook: String) -> Failing? { state.withLock { $0.failing[webhook] } }

    func noteSuccess(of webhook: String) { state.withLock { $0.failing[webhook] = nil } }

    func noteFailure(of webhook: String, because reason: String, pausedUntil: UnixTime?) {
        state.withLock { state in
            let attempts = (state.failing[webhook]?.attempts ?? 0) + 1
            state.failing[webhook] = Failing(attempts: attempts, lastError: reason, pausedUntil: pausedUntil)
        }
    }

    /// Ends the pause of a webhook; its sender notices it with its next notification.
    func requestRetry(of webhook: String) {
        state.withLock { state in
            state.retried.insert(webhook)
            state.failing[webhook]?.pausedUntil = nil
        }
    }

    /// Whether the end of a pause was requested since the last call.
    func takeRetry(of webhook: String) -> Bool { state.withLock { $0.retried.remove(webhook) != nil } }
}
