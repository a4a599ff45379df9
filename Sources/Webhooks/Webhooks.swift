import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import RPC

/// Events for webhooks: an outbox that capabilities write to, and the senders of what is in it.
package final class Webhooks: Sendable {
    package static var migrations: [Migration] { EventRecords.migrations }

    /// For the capabilities where something happens.
    package let outbox: Outbox
    package let metrics: EventMetrics
    private let senders: [WebhookSender]
    private let retention: EventRetention
    private let service: EventService
    private let configuration: WebhooksConfiguration
    private let log: Logger

    package init(_ environment: ModuleEnvironment, configuration: WebhooksConfiguration = WebhooksConfiguration()) {
        let (database, clock) = (environment.database, environment.clock)
        self.configuration = configuration
        let log = environment.log
        self.log = log
        let webhooks = configuration.webhooks
        let metrics = EventMetrics(webhooks: webhooks.map(\.name), database: database, clock: clock)
        self.metrics = metrics
        senders = webhooks.map {
            WebhookSender(
                $0, database: database, clock: clock, metrics: metrics, configuration: configuration, log: log)
        }
        outbox = Outbox(webhooks: webhooks, identifiers: environment.identifiers, signals: senders.map(\.signal))
        retention = EventRetention(database: database, clock: clock, configuration: configuration, log: log)
        service = EventService(
            letters: DeadLetters(
                database: database, clock: clock, webhooks: Set(webhooks.map(\.name)), signals: senders.map(\.signal)),
            tokens: PageTokens(keyring: environment.keyring))
    }

    /// Enters EventService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        service.register(in: &router)
    }

    /// Sends what is due and what comes; returns when its task is cancelled.
    package func run() async {
        do {
            try await retention.giveUpUnknown()
        } catch {
            log.writeDeliveryFailure(error)
        }
        await withDiscardingTaskGroup { group in
            for sender in senders { group.addTask { await sender.run() } }
        }
    }

    /// Removes what was kept long enough, or is too much; to be called every few minutes.
    ///
    /// - Parameter permit: `nil` = only what is too much goes.
    /// - Returns: how many deliveries it removed.
    package func tidy(_ permit: DeletionPermit?) async throws -> Int {
        try await retention.run(permit)
    }
}
