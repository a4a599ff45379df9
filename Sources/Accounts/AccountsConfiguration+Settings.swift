import Basics
package import Capability
package import Settings

extension AccountsConfiguration: CapabilitySettings {
    /// Reads the sections `auth` and `audit`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        accessTokenLifetime = settings.section("auth").duration(
            "access_token_lifetime_seconds", default: accessTokenLifetime, in: 1...86_400)
        let audit = settings.section("audit")
        auditRetention = audit.duration("retention_days", default: auditRetention, in: 1...36_500, unit: .days)
        auditLines = audit.integer("max_lines", default: auditLines, in: 1000...1_000_000_000, unit: "lines")
        minimumAuditRetention = audit.duration(
            "min_retention_days", default: min(minimumAuditRetention, auditRetention), in: 0...36_500, unit: .days)
        if minimumAuditRetention > auditRetention {
            audit.reject("min_retention_days", "must be at most audit.retention_days")
        }
    }
}
