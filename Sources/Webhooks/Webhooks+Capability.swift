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
                    EventServiceMethods.sendTestEvent,
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
    package var background: [BackgroundWork] { [BackgroundWork("webhooks", under: leases, run: deliver)] }

    @Sendable private func deliver() async {
        do {
            try await retention.giveUpUnknown()
        } catch {
            log.writeDeliveryFailure(error)
        }
        await withDiscardingTaskGroup { group in
            for sender in senders { group.addTask { await sender.run() } }
        }
    }
}
