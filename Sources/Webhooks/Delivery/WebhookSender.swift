import Basics
package import Crypto
import Database
import Glibc
import HTTPClient
import HTTPTypes
import Synchronization

/// Sends one webhook's events as they become due, several in parallel, and records the results.
///
/// A request ends with its response, and the next one begins before the result is recorded. The next event of the same subject becomes
/// due by the record. Requests in progress are only in memory: after a crash their events are still due and are sent again.
actor WebhookSender {
    /// The pause after an error of the database.
    private static let pause = Duration.seconds(1)
    /// The number of bytes of a response that are received; they are not used.
    private static let maximumResponseBytes = 64 << 10
    /// The largest number of deliveries that are being sent or recorded, if the database is slower than the receiver.
    private static let mostInProgress = 256

    /// The times before which nothing begins.
    private struct Quiet {
        var receiverIsDownUntil = ContinuousClock.now
        /// Results cannot be recorded, so that events would be sent again.
        var recordsFailUntil = ContinuousClock.now

        var end: ContinuousClock.Instant { max(receiverIsDownUntil, recordsFailUntil) }
    }

    let webhook: Webhook
    nonisolated let signal = Signal()
    private let database: Database
    private let clock: any WallClock
    private let rules: DeliveryRules
    private let recorder: DeliveryRecorder
    private let log: Logger
    private let requests: Int
    private var pace: WebhookPace
    /// The connections without a request, the latest used one at the end.
    private var idle: [HTTPConnection]
    private var turns: OrganizationTurns
    private var quiet = Quiet()

    init(
        _ webhook: Webhook, database: Database, clock: any WallClock, recorder: DeliveryRecorder,
        configuration: WebhooksConfiguration, log: Logger
    ) {
        self.webhook = webhook
        self.database = database
        self.clock = clock
        self.recorder = recorder
        self.log = log
        rules = DeliveryRules(configuration)
        requests = configuration.requestsOfWebhook
        pace = WebhookPace(concurrency: requests)
        turns = OrganizationTurns(slots: requests, isShared: webhook.organization == nil)
        let options = Self.connectionOptions(webhook, configuration)
        idle = (0..<requests).map { _ in HTTPConnection(options) }
    }

    /// The limit of a request is the only one: a receiver may use all of it before it sends a byte.
    static func connectionOptions(
        _ webhook: Webhook, _ configuration: WebhooksConfiguration
    ) -> HTTPConnection.Options {
        var options = HTTPConnection.Options(authorities: webhook.authorities)
        options.connectTimeout = configuration.timeout
        options.stallTimeout = configuration.timeout
        options.totalTimeout = configuration.timeout
        return options
    }

    /// Sends events; returns when its task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                // Read first, so that later notifications are noticed.
                let notified = signal.count
                let (begun, wait) = await takeDue()
                for (delivery, connection) in begun {
                    group.addTask { await self.deliver(delivery, over: connection) }
                }
                await database.wait(for: signal, after: notified, atMost: wait)
            }
        }
    }

    /// Returns the deliveries to begin now, each with its own connection, and the time until there may be more; `nil` = until a
    /// notification.
    private func takeDue() async -> (begun: [(Delivery, HTTPConnection)], wait: Duration?) {
        if recorder.pauses.takeRetry(of: webhook.name) { quiet.receiverIsDownUntil = .now }
        let wait = quiet.end - .now
        if wait > .zero { return ([], wait) }
        // The end of an attempt, and of a record, notifies.
        let free = min(pace.slots - (requests - idle.count), Self.mostInProgress - turns.count)
        guard free > 0 else { return ([], nil) }
        let (name, now) = (webhook.name, clock.now())
        // Notifications come after the commit.
        let current = turns
        do {
            let due = try await database.read {
                try EventRecords($0).due(for: name, at: now, turns: current, limit: free)
            }
            let begun = due.deliveries.compactMap { delivery in idle.popLast().map { (delivery, $0) } }
            for (delivery, _) in begun { turns.begin(delivery) }
            return (begun, due.nextDueAt.map { $0.duration(since: now) })
        } catch {
            log.writeDeliveryFailure(error)
            return ([], Self.pause)
        }
    }

    private func deliver(_ delivery: Delivery, over connection: HTTPConnection) async {
        let result = await send(delivery, over: connection)
        idle.append(connection)
        turns.endRequest(delivery)
        // A request that was cancelled has no result: its event is still due at the next start.
        if let result { await record(result, of: delivery) }
        turns.end(delivery)
        signal.notify()
    }

    private func record(
        _ result: Result<(status: Int, retryAfter: Int64?), TransferFailure>, of delivery: Delivery
    ) async {
        let now = clock.now()
        let outcome = rules.outcome(of: result, for: delivery, at: now, random: .random(in: 0...1))
        pace(after: outcome)
        signal.notify()
        do {
            try await recorder.record(
                DeliveryResult(delivery: delivery, webhook: webhook.name, outcome: outcome, time: now))
            if case .dead(let reason) = outcome {
                log.writeDeadLetter(delivery.eventID, of: webhook.name, because: reason)
            }
        } catch {
            // The result could not be recorded, so the event is sent again.
            log.writeDeliveryFailure(error)
            quiet.recordsFailUntil = .now + Self.pause
        }
    }

    /// - Returns: `nil` if the task was cancelled.
    private func send(
        _ delivery: Delivery, over connection: HTTPConnection
    ) async -> Result<(status: Int, retryAfter: Int64?), TransferFailure>? {
        let body = Array(delivery.payload.utf8)
        var fields = WebhookSignature.fields(
            id: delivery.eventID, body: body, keys: webhook.keys, at: clock.now())
        fields.append("Content-Type", "application/json")
        if let traceparent = delivery.traceparent { fields.append("traceparent", traceparent) }
        do {
            let reply = try await connection.exchange(
                HTTPRequest("POST", webhook.url, fields: fields, body: .bytes(body)),
                receiver: .passingOver(atMost: Self.maximumResponseBytes))
            return .success((reply.status, reply.fields["retry-after"].flatMap { Int64($0) }))
        } catch is CancellationError {
            return nil
        } catch {
            return .failure(error as? TransferFailure ?? .connection("\(error)"))
        }
    }

    private func pace(after outcome: DeliveryOutcome) {
        switch outcome {
        case .delivered:
            pace.succeeded()
            recorder.pauses.noteSuccess(of: webhook.name)
        case .retry(_, let reason), .dead(let reason):
            pace.failed()
            recorder.pauses.noteFailure(
                of: webhook.name, because: reason,
                pausedUntil: pace.isDown ? clock.now().adding(pace.pause) : nil)
        }
        quiet.receiverIsDownUntil = .now + pace.pause
    }
}

extension HTTPReceiver {
    /// Returns a receiver that discards the response's body.
    fileprivate static func passingOver(atMost limit: Int) -> HTTPReceiver {
        let count = Lock(0)
        return HTTPReceiver(wants: { _, _ in true }) { bytes in
            let sum = count.withLock { count in
                count += bytes.count
                return count
            }
            guard sum <= limit else {
                throw TransferFailure.unusable("the webhook's response is longer than \(limit) bytes")
            }
        }
    }
}

/// The signature that lets receivers verify that a request is authentic, unaltered and recent: the header fields of Standard
/// Webhooks 1.0 (standardwebhooks.com), with HMAC-SHA256 over the id, the time of sending and the body.
enum WebhookSignature {
    /// The prefix of a Base64-encoded key.
    private static let prefix = TokenPrefix.webhookKey.rawValue
    private static let shortestKey = 16
    private static let mostKeys = 4

    /// - Parameters:
    ///   - keys: each makes a signature; a receiver accepts any valid one.
    ///   - time: the time of this attempt. Receivers refuse requests that are older than some minutes.
    static func fields(id: String, body: [UInt8], keys: [Secret], at time: UnixTime) -> HTTPFields {
        let signed = Array("\(id).\(time.seconds).".utf8) + body
        let signatures = keys.map { "v1,\(Base64.encode(HMAC.sha256(key: $0.exposed, signed)))" }
        return [
            "webhook-id": id, "webhook-timestamp": "\(time.seconds)",
            "webhook-signature": signatures.joined(separator: " "),
        ]
    }

    /// Parses keys; see ``Webhook/keys(_:)``.
    static func keys(_ text: String) -> [Secret]? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingSpaces() }
            .filter { !$0.isEmpty }
        let keys = lines.compactMap(key)
        return (1...mostKeys).contains(keys.count) && keys.count == lines.count ? keys : nil
    }

    private static func key(_ text: String) -> Secret? {
        let key = text.hasPrefix(prefix) ? Base64.decode(text.dropFirst(prefix.count)) : Array(text.utf8)
        guard let key, key.count >= shortestKey else { return nil }
        return Secret(key)
    }
}

extension Webhook {
    /// Parses the configured keys, one for each line: `whsec_` and Base64 (Standard Webhooks), or the key itself.
    ///
    /// - Returns: `nil` if one has fewer than 16 bytes, or if they are not 1 to 4.
    package static func keys(_ text: String) -> [Secret]? { WebhookSignature.keys(text) }
}

/// The rate of requests to a webhook: a receiver that accepts nothing gets one request at a time, and seldom, however many events
/// wait. Pure.
struct WebhookPace: Sendable, Hashable {
    /// The number of consecutive failed attempts, of any events, after which the receiver counts as down.
    private static let failureLimit = 10
    private static let longestPause = Duration.seconds(30)

    private let concurrency: Int
    private var failures = 0

    init(concurrency: Int) {
        self.concurrency = concurrency
    }

    mutating func succeeded() { failures = 0 }

    mutating func failed() { failures += 1 }

    var isDown: Bool { failures >= Self.failureLimit }

    /// The number of parallel requests.
    var slots: Int { isDown ? 1 : concurrency }

    /// The pause between the end of an attempt and the beginning of the next.
    var pause: Duration {
        isDown ? min(Self.longestPause, .seconds(1 << min(failures - Self.failureLimit, 8))) : .zero
    }
}
