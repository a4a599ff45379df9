import Accounts
import Basics
import Capability
import Database
import GatewayFormats
import Observability
import Proto
import RPC
import Settings

/// The gRPC service ClockService, which converts messages and calls the rules.
struct ClockService: ClockServiceHandler {
    let keeper: ClockKeeper

    func getClock(_ request: GetClockRequest, context: CallContext) async throws -> GetClockResponse {
        let status = keeper.clockGuard.status
        return GetClockResponse(
            now: Timestamp(status.now), isConfirmed: status.isConfirmed, stepSeconds: status.stepSeconds,
            remainingSeconds: status.remainingSeconds)
    }

    func confirmClock(_ request: ConfirmClockRequest, context: CallContext) async throws -> ConfirmClockResponse {
        guard try await keeper.confirm(step: request.stepSeconds, by: try Caller(context), log: context.log) else {
            throw RPCError.failedPrecondition(
                "step_seconds is \(request.stepSeconds), but the clock's step is \(keeper.clockGuard.status.stepSeconds) seconds"
            )
        }
        return ConfirmClockResponse()
    }
}

extension ClockKeeper: Capability {
    static var auditSentences: [AuditSentence] {
        [AuditSentence(.gateway, "ConfirmClock", "confirmed the clock of the gateway")]
    }

    static var migrations: [Migration] { ClockSchema.migrations }

    static var settings: (any CapabilitySettings.Type)? { ClockConfiguration.self }

    static var access: AccessTable {
        AccessTable([(.systemAdmin, [ClockServiceMethods.getClock, ClockServiceMethods.confirmClock])])
    }

    func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .admin || listener == .web else { return }
        ClockService(keeper: self).register(in: &router)
    }

    var metrics: [any MetricSource] { [ClockMetrics(clockGuard: clockGuard)] }
}

struct ClockConfiguration: CapabilitySettings {
    /// The time for which a clock that stepped has to keep pace to be confirmed.
    let confirmation: Duration

    init(_ settings: SettingsReader, _ context: SettingsContext) {
        confirmation = settings.section("clock").duration(
            "confirmation_hours", default: ClockGuard.defaultConfirmation, in: 1...720, unit: .hours)
    }
}
