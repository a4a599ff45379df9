import Accounts

extension AuditPressure: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_audit_overfull_organizations",
                "Organizations with more lines of the audit log than audit.max_lines, all too young to be removed.",
                [([], overfullCount)]),
            .counter(
                "data_gateway_audit_refused_calls_total",
                "Calls that were refused because they would write more lines.", [([], refusedCount)]),
        ]
    }
}
