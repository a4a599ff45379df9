package import Capability
package import Database
import Proto
package import RPC

extension Webhooks: Capability {
    package static var migrations: [Migration] { EventSchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { WebhooksConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .user(.admin),
                [
                    EventServiceMethods.listDeadLetters, EventServiceMethods.redeliverEvent,
                    EventServiceMethods.listWebhooks, EventServiceMethods.listDeliveries,
                    EventServiceMethods.sendTestEvent, EventServiceMethods.retryWebhook,
                ]
            )
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .admin || listener == .web else { return }
        service.register(in: &router)
    }

    /// Removes deliveries beyond their retention or a maximum.
    package var sweeps: [Sweep] { [.always("events", run: retention.run)] }

    package var metrics: [any MetricSource] { [counts] }

    /// Sends events as they become due.
    package var background: [BackgroundWork] { [BackgroundWork("webhooks", run: deliver)] }

    @Sendable private func deliver() async throws {
        do {
            try await database.leases.holdOnce("webhooks") { [retention] in try await retention.giveUpUnknown() }
        } catch {
            log.writeDeliveryFailure(error)
        }
        try await withThrowingDiscardingTaskGroup { group in
            for sender in senders { group.addTask { try await self.deliver(sender) } }
        }
    }

    /// Sends the events of a webhook at one gateway at a time.
    private func deliver(_ sender: WebhookSender) async throws {
        // At different times, so that gateways share the webhooks of one that has stopped.
        if !database.isExclusive { try? await Task.sleep(for: .milliseconds(Int64.random(in: 0..<5000))) }
        try await database.leases.hold("webhook/\(sender.webhook.name)") { await sender.run() }
    }
}
