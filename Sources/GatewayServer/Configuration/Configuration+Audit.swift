import Accounts

extension Configuration {
    /// Reads the section `audit`: the retention and the maximum number of audit lines.
    static func audit(
        _ reader: inout ConfigurationReader, into accounts: inout AccountsConfiguration
    ) throws(ConfigurationError) {
        accounts.auditRetention = try reader.duration(
            "audit.retention_days", default: accounts.auditRetention, in: 1...36_500, unit: .days)
        accounts.auditLines = try reader.integer(
            "audit.max_lines", default: accounts.auditLines, in: 1000...1_000_000_000, unit: "lines")
        accounts.minimumAuditRetention = try reader.duration(
            "audit.min_retention_days", default: min(accounts.minimumAuditRetention, accounts.auditRetention),
            in: 0...36_500, unit: .days)
        guard accounts.minimumAuditRetention <= accounts.auditRetention else {
            throw ConfigurationError(
                "audit.min_retention_days must be at most audit.retention_days", key: "audit.min_retention_days")
        }
    }
}
