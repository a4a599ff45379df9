import Accounts
import Basics
import Crypto
import Database
package import GatewayAPI
import RPC

/// Events for webhooks: an outbox that capabilities write to, and a sender for each webhook.
package final class Webhooks: Sendable {
    /// The outbox for capabilities.
    package let outbox: Outbox
    let counts: EventMetrics
    let senders: [WebhookSender]
    let retention: EventRetention
    let service: EventService
    let configuration: WebhooksConfiguration
    let log: Logger
    let database: Database

    package init(_ environment: ModuleEnvironment, configuration: WebhooksConfiguration = WebhooksConfiguration()) {
        let (database, clock) = (environment.database, environment.clock)
        self.database = database
        self.configuration = configuration
        let log = environment.log
        self.log = log
        let webhooks = configuration.webhooks
        let metrics = EventMetrics(webhooks: webhooks.map(\.name), database: database, clock: clock)
        counts = metrics
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
}
