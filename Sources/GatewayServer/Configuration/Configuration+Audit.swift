import Accounts
import Observability

extension Configuration {
    /// The section `audit`: how long the audit log keeps lines, and how many.
    static func audit(
        _ reader: inout ConfigurationReader, into accounts: inout Accounts.Configuration
    ) throws(ConfigurationError) {
        accounts.auditDays = try reader.integer(
            "audit.retention_days", default: accounts.auditDays, in: 1...36_500, unit: "days")
        accounts.auditLines = try reader.integer(
            "audit.max_lines", default: accounts.auditLines, in: 1000...1_000_000_000, unit: "lines")
        accounts.auditMinimumDays = try reader.integer(
            "audit.min_retention_days", default: min(accounts.auditMinimumDays, accounts.auditDays), in: 0...36_500,
            unit: "days")
        guard accounts.auditMinimumDays <= accounts.auditDays else {
            throw ConfigurationError("audit.min_retention_days must be at most audit.retention_days")
        }
        accounts.onAuditOverfull = { [lines = accounts.auditLines, calls = accounts.auditedCallsUnderPressure] in
            warn(of: $0, lines: lines, calls: calls)
        }
    }

    private static func warn(of organizations: [OrganizationReference], lines: Int64, calls: Int) {
        guard !organizations.isEmpty else {
            return Log.write("no organization exceeds audit.max_lines any more")
        }
        Log.write(
            "organizations exceed audit.max_lines with audit lines that are too young to be deleted",
            [
                "organizations": organizations.map { $0.name.isEmpty ? "#\($0.id)" : $0.name }.joined(separator: " "),
                "max_lines": "\(lines)",
                "consequence":
                    "above twice the limit, each of their callers may make \(calls) calls a minute that write audit lines",
            ], level: .warning)
    }
}
