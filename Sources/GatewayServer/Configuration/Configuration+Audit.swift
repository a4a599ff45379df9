import Accounts
import Observability

extension Configuration {
    /// The section `audit`: how long the audit log keeps lines, and how many.
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
            throw ConfigurationError("audit.min_retention_days must be at most audit.retention_days")
        }
        accounts.onAuditOverfull = { [lines = accounts.auditLines, calls = accounts.auditedCallsUnderPressure] in
            warn(of: $0, lines: lines, calls: calls)
        }
    }

    private static func warn(of organizations: [OrganizationReference], lines: Int64, calls: Int) {
        guard !organizations.isEmpty else {
            return Log.write("no organization has more lines in the audit log than audit.max_lines any more")
        }
        Log.write(
            "organizations have more lines in the audit log than audit.max_lines, too young to be removed",
            [
                "organizations": organizations.map { $0.name.isEmpty ? "#\($0.id)" : $0.name }.joined(separator: " "),
                "max_lines": "\(lines)",
                "consequence":
                    "with twice as many, each of their callers may make \(calls) calls a minute that write more",
            ], level: .warning)
    }
}
