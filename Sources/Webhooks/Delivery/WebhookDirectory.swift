import Accounts
import Basics
import Crypto
import Database
import RPC

/// The rules of ListWebhooks, ListDeliveries, SendTestEvent and RetryWebhook. An organization's admin sees the webhooks that the configuration
/// assigns to that organization, an admin of SYSTEM sees all.
struct WebhookDirectory: Sendable {
    let database: Database
    let clock: any WallClock
    let outbox: Outbox
    let metrics: EventMetrics

    /// The number of deliveries that one RetryWebhook makes due, during which other writes wait.
    static let mostRetried = 500

    /// The data of an event that only tests a webhook.
    private struct TestData: Encodable {
        let webhook: String
        let requestedBy: String
    }

    /// Returns the webhooks by name, with their counters.
    func webhooks(for caller: Caller) async throws -> [(webhook: Webhook, counts: EventMetrics.Counts?)] {
        let visible = try await database.read { connection in
            try outbox.webhooks.filter { try Self.isVisible($0, to: caller, in: connection) }
        }
        guard !visible.isEmpty else { return [] }
        let queues = try await database.readInBackground { connection in
            try visible.map { try EventRecords(connection).queueLength(of: $0.name) }
        }
        let now = clock.now()
        return zip(visible, queues).map { webhook, length in
            var counts = metrics.counts(of: webhook.name)
            counts?.queue = EventMetrics.Queue(length, at: now)
            return (webhook, counts)
        }.sorted { $0.webhook.name < $1.webhook.name }
    }

    /// Returns deliveries, newest event first.
    ///
    /// - Parameter position: the event's position after which the list continues; `nil` = from the newest on.
    func deliveries(
        to name: String, before position: Int64?, limit: PageLimit, for caller: Caller
    ) async throws -> PageRows<DeliveryRecord> {
        // In the background, because a webhook may have few of many events.
        try await database.readInBackground { connection in
            _ = try find(name, for: caller, in: connection)
            return try EventRecords(connection).deliveries(
                webhook: name, scope: caller.user.objectScope, before: position ?? .max, limit: limit)
        }
    }

    /// - Returns: the id of the event, which is sent once this returns.
    func sendTest(to name: String, by caller: Caller) async throws -> String {
        let now = clock.now()
        return try await database.write { connection in
            let webhook = try find(name, for: caller, in: connection)
            // Made inside the transaction, so that ids increase in the order of commits.
            let id = outbox.identifiers.uuid()
            let entry = caller.did(to: "webhooks/\(name)")
            let event = Event(
                .webhookTest, subject: "webhooks/\(name)", organizationID: caller.organization.id,
                data: TestData(webhook: name, requestedBy: entry.actor))
            let payload = try EventPayload(event, id: id, organization: caller.organization.name, at: now).json
            try EventRecords(connection).insert(
                event, id: id, organization: caller.organization.name, payload: payload, for: [webhook.name], at: now)
            try Audit.record(entry, at: now, in: connection)
            connection.afterCommit { [signals = outbox.signals] in
                for signal in signals { signal.notify() }
            }
            return id
        }
    }

    /// Ends a pause, and makes waiting deliveries due now.
    ///
    /// - Returns: the number of deliveries that waited for a later time, at most ``mostRetried``.
    func retry(_ name: String, by caller: Caller) async throws -> Int {
        let now = clock.now()
        return try await database.write { connection in
            _ = try find(name, for: caller, in: connection)
            let count = try EventRecords(connection).makeDue(webhook: name, at: now, limit: Self.mostRetried)
            try Audit.record(caller.did(to: "webhooks/\(name)"), at: now, in: connection)
            connection.afterCommit { [signals = outbox.signals, pauses = metrics.pauses] in
                pauses.requestRetry(of: name)
                for signal in signals { signal.notify() }
            }
            return count
        }
    }

    private func find(_ name: String, for caller: Caller, in connection: ReadConnection) throws -> Webhook {
        let webhook = try outbox.webhooks.first {
            try $0.name == name && Self.isVisible($0, to: caller, in: connection)
        }
        guard let webhook else { throw RPCError.notFound("webhook \(name) is not configured") }
        return webhook
    }

    private static func isVisible(_ webhook: Webhook, to caller: Caller, in connection: ReadConnection) throws -> Bool {
        guard let scope = caller.user.objectScope else { return true }
        return try webhook.configuredOrganization?.id(in: connection) == scope
    }
}
