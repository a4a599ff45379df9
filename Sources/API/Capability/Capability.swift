package import Database
package import RPC

/// A part of the gateway that plugs into it: a capability of its own, or an app while it is enabled.
///
/// The gateway makes capabilities in the order in which they need each other. All else that it does with them are loops over a
/// list: it knows the tables, methods, sweeps, metrics and background work of none of them.
package protocol Capability: Sendable {
    /// The capability's tables; by default none.
    static var migrations: [Migration] { get }

    /// The callers for the methods that ``register(for:in:)`` registers; by default none.
    static var access: AccessTable { get }

    /// The type of the capability's settings; by default it has none.
    static var settings: (any CapabilitySettings.Type)? { get }

    /// The words of the audit log for the actions of the capability; by default none.
    static var auditSentences: [AuditSentence] { get }

    /// The targets of audit lines that the capability can name; by default none.
    static var targetKinds: [TargetKind] { get }

    /// Registers the services that a listener offers; by default none. Services of a listener for gRPC that people use, and not
    /// devices, are offered by ``ListenerName/web`` as well.
    func register(for listener: ListenerName, in router: inout Router)

    /// The removals of data beyond their retention, which run once a minute; by default none.
    var sweeps: [Sweep] { get }

    /// The metrics for operators; by default none.
    var metrics: [any MetricSource] { get }

    /// The work that runs while the gateway serves; by default none.
    var background: [BackgroundWork] { get }
}

extension Capability {
    package static var migrations: [Migration] { [] }

    package static var access: AccessTable { AccessTable([]) }

    package static var settings: (any CapabilitySettings.Type)? { nil }

    package static var auditSentences: [AuditSentence] { [] }

    package static var targetKinds: [TargetKind] { [] }

    package func register(for listener: ListenerName, in router: inout Router) {}

    package var sweeps: [Sweep] { [] }

    package var metrics: [any MetricSource] { [] }

    package var background: [BackgroundWork] { [] }
}

/// Work in a task of its own, from the start of the gateway to its stop.
package struct BackgroundWork: Sendable {
    /// The name in the log.
    package let name: String
    /// Makes ``run`` return; `nil` = its task is cancelled instead.
    package let interrupt: (@Sendable () -> Void)?
    /// An error that it throws before the stop ends the gateway.
    package let run: @Sendable () async throws -> Void

    package init(
        _ name: String, interrupt: (@Sendable () -> Void)? = nil, run: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.interrupt = interrupt
        self.run = run
    }

    /// Returns work that one of all gateways with the same database does at a time, under a lease of its name.
    package init(_ name: String, under leases: Leases, run: @escaping @Sendable () async throws -> Void) {
        self.init(name) { try await leases.hold(name, run) }
    }
}
