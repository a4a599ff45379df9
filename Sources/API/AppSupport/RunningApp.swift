import Observability
import RPC

/// An app while the gateway serves.
package protocol RunningApp: Sendable {
    /// Registers the app's services for the listener `apps`.
    func register(in router: inout Router)

    /// The removals that run once a minute.
    var sweeps: [AppSweep] { get }

    var metrics: [any MetricSource] { get }
}

extension RunningApp {
    package var sweeps: [AppSweep] { [] }

    package var metrics: [any MetricSource] { [] }
}
