package import Accounts
package import Basics
import Crypto
package import Database

/// The table of events for webhooks. Capabilities write an event in the transaction of the change, so that both are committed or
/// neither.
package struct Outbox: Sendable {
    /// The outbox without webhooks, which stores nothing.
    package static let closed = Outbox(webhooks: [], identifiers: Identifiers(clock: SystemClock()), signals: [])

    let webhooks: [Webhook]
    let identifiers: Identifiers
    /// The signals of the senders, one for each webhook.
    let signals: [Signal]

    /// Records an event. A webhook that does not subscribe to it costs nothing; without any subscriber no row is written.
    ///
    /// - Parameter organization: the event's organization; `nil` if it has to be read.
    package func record(
        _ event: Event, organization: OrganizationReference? = nil, at now: UnixTime, in connection: Connection
    ) throws {
        guard !webhooks.isEmpty else { return }
        let organization =
            try (organization ?? Accounts.organization(event.organizationID, in: connection))?.name ?? ""
        let receivers = try webhooks.filter {
            try $0.wants(event.type) && $0.isFor(event.organizationID, in: connection)
        }
        guard !receivers.isEmpty else { return }
        // Made inside the transaction, so that ids increase in the order of commits.
        let id = identifiers.uuid()
        let payload = try EventPayload(event, id: id, organization: organization, at: now).json
        try EventRecords(connection).insert(
            event, id: id, organization: organization, payload: payload, for: receivers.map(\.name), at: now)
        connection.afterCommit { [signals] in
            for signal in signals { signal.notify() }
        }
    }
}
