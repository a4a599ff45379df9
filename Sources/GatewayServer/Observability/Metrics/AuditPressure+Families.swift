import Accounts

extension AuditPressure: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_audit_overfull_organizations",
                "Organizations that exceed audit.max_lines with audit lines that are too young to be deleted.",
                [([], overfullCount)]),
            .counter(
                "data_gateway_audit_refused_calls_total",
                "Calls that were refused because they would write more audit lines.", [([], refusedCount)]),
        ]
    }
}
