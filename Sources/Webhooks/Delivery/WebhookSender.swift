import Basics
import Database
import HTTPClient

/// Sends one webhook's events as they become due, several in parallel, and records the results.
///
/// Requests in progress are only in memory: after a crash their events are still due and are sent again.
actor WebhookSender {
    /// The pause after an error of the database.
    private static let pause = Duration.seconds(1)
    /// The number of bytes of a response that are received; they are not used.
    private static let longestAnswer = 64 << 10

    let webhook: Webhook
    nonisolated let signal = Signal()
    private let database: Database
    private let clock: any WallClock
    private let rules: DeliveryRules
    private let metrics: EventMetrics
    private let configuration: WebhooksConfiguration
    private let log: Logger
    private var pace: WebhookPace
    private var idle: [HTTPConnection]
    /// The positions of the events in progress.
    private var underWay: Set<Int64> = []
    /// The time before which nothing begins, whatever is due.
    private var quietUntil = ContinuousClock.now

    init(
        _ webhook: Webhook, database: Database, clock: any WallClock, metrics: EventMetrics,
        configuration: WebhooksConfiguration, log: Logger
    ) {
        self.webhook = webhook
        self.database = database
        self.clock = clock
        self.metrics = metrics
        self.configuration = configuration
        self.log = log
        rules = DeliveryRules(configuration)
        pace = WebhookPace(concurrency: configuration.concurrency)
        var options = HTTPConnection.Options(authorities: webhook.authorities)
        options.totalTimeout = configuration.timeout
        idle = (0..<configuration.concurrency).map { _ in HTTPConnection(options) }
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
                await signal.wait(after: notified, atMost: wait)
            }
        }
    }

    /// Returns the deliveries to begin now, each with its own connection, and the time until there may be more; `nil` = until a
    /// notification.
    private func takeDue() async -> (begun: [(Delivery, HTTPConnection)], wait: Duration?) {
        let quiet = quietUntil - .now
        if quiet > .zero { return ([], quiet) }
        let free = pace.slots - underWay.count
        // The end of an attempt notifies.
        guard free > 0 else { return ([], nil) }
        let now = clock.now()
        let (name, limit) = (webhook.name, underWay.count + free)
        // Deliveries that end during the query may still be in its result.
        let known = underWay
        do {
            // Notifications come after the commit.
            let (due, next) = try await database.read { connection in
                let records = EventRecords(connection)
                return (
                    try records.due(for: name, at: now, limit: limit), try records.nextDue(for: name, after: now)
                )
            }
            let begun = due.filter { !known.contains($0.position) }.prefix(free).compactMap { delivery in
                idle.popLast().map { (delivery, $0) }
            }
            for (delivery, _) in begun { underWay.insert(delivery.position) }
            return (begun, next.map { $0.duration(since: now) })
        } catch {
            log.writeDeliveryFailure(error)
            return ([], Self.pause)
        }
    }

    private func deliver(_ delivery: Delivery, over connection: HTTPConnection) async {
        do {
            let answer = try await send(delivery, over: connection)
            let now = clock.now()
            let outcome = rules.outcome(of: answer, for: delivery, at: now, random: .random(in: 0...1))
            let name = webhook.name
            try await database.write { try EventRecords($0).settle(delivery, to: name, outcome, at: now) }
            note(outcome, of: delivery)
        } catch is CancellationError {
            // The event is still due at the next start.
        } catch {
            // The result could not be recorded, so the event is sent again.
            log.writeDeliveryFailure(error)
            try? await Task.sleep(for: Self.pause)
        }
        underWay.remove(delivery.position)
        idle.append(connection)
        signal.notify()
    }

    private func send(
        _ delivery: Delivery, over connection: HTTPConnection
    ) async throws -> Result<(status: Int, retryAfter: Int64?), TransferFailure> {
        let body = Array(delivery.payload.utf8)
        var fields = WebhookSignature.fields(
            id: delivery.eventID, body: body, keys: webhook.keys, at: clock.now())
        fields.append("Content-Type", "application/json")
        if let traceparent = delivery.traceparent { fields.append("traceparent", traceparent) }
        do {
            let reply = try await connection.exchange(
                HTTPRequest("POST", webhook.url, fields: fields, body: .bytes(body)),
                receiver: .passingOver(atMost: Self.longestAnswer))
            return .success((reply.status, reply.fields["retry-after"].flatMap { Int64($0) }))
        } catch let failure as TransferFailure {
            return .failure(failure)
        }
    }

    private func note(_ outcome: DeliveryOutcome, of delivery: Delivery) {
        metrics.note(outcome, of: webhook.name)
        switch outcome {
        case .delivered: pace.succeeded()
        case .retry: pace.failed()
        case .dead(let reason):
            pace.failed()
            log.writeDeadLetter(delivery.eventID, of: webhook.name, because: reason)
        }
        quietUntil = .now + pace.pause
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
