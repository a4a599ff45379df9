import Accounts
import Basics
import Crypto
import Database

/// The table where capabilities write what webhooks are to be told, in the transaction of what happened: either both are there or neither.
package struct Outbox: Sendable {
    /// Takes nothing: nobody is to be told.
    package static let closed = Outbox(webhooks: [], identifiers: Identifiers(clock: SystemClock()), signals: [])

    let webhooks: [Webhook]
    let identifiers: Identifiers
    /// The signals of the senders, one for each webhook.
    let signals: [Signal]

    /// A webhook that does not want the event costs nothing; where none does, no row is written.
    ///
    /// - Parameter organization: the event's; `nil` where it is to be read.
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
        // Made here, by the one writer: ids rise in the order of the commits.
        let id = identifiers.uuid()
        let payload = try EventPayload(event, id: id, organization: organization, at: now).json
        try EventRecords(connection).insert(
            event, id: id, organization: organization, payload: payload, for: receivers.map(\.name), at: now)
        connection.afterCommit { [signals] in
            for signal in signals { signal.notify() }
        }
    }
}
