import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import RPC

/// Events for webhooks: an outbox that capabilities write to, and a sender for each webhook.
package final class Webhooks: Sendable {
    package static var migrations: [Migration] { EventSchema.migrations }

    /// The outbox for capabilities.
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
        let recorder = DeliveryRecorder(database, metrics: metrics)
        senders = webhooks.map {
            WebhookSender(
                $0, database: database, clock: clock, recorder: recorder, configuration: configuration, log: log)
        }
        outbox = Outbox(webhooks: webhooks, identifiers: environment.identifiers, signals: senders.map(\.signal))
        retention = EventRetention(database: database, clock: clock, configuration: configuration, log: log)
        service = EventService(
            letters: DeadLetters(
                database: database, clock: clock, webhooks: Set(webhooks.map(\.name)), signals: senders.map(\.signal)),
            directory: WebhookDirectory(database: database, clock: clock, outbox: outbox, metrics: metrics),
            tokens: PageTokens(keyring: environment.keyring))
    }

    /// Registers EventService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        service.register(in: &router)
    }

    /// Sends events as they become due; returns when its task is cancelled.
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

    /// Removes deliveries beyond their retention or a maximum; called every few minutes.
    ///
    /// - Parameter permit: `nil` = nothing is removed by its age.
    /// - Returns: the number of removed deliveries.
    package func tidy(_ permit: DeletionPermit?) async throws -> Int {
        try await retention.run(permit)
    }
}
