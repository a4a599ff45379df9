import Basics
package import Capability
package import Settings

/// The lifetimes of tokens and audit lines, and the limits of callers.
package struct AccountsConfiguration: Sendable {
    /// The lifetime of an access token. Clients get a new one a minute before its end.
    package var accessTokenLifetime = Duration.minutes(15)
    /// The lifetime of a session that is not refreshed.
    package var refreshTokenLifetime = Duration.days(30)
    /// The time in which a used refresh token is accepted again, in case its response was lost.
    package var refreshGrace = Duration.seconds(30)
    /// The number of verified access tokens in the cache.
    package var rememberedTokens = 8192
    /// The number of passwords of unknown addresses, and of others, that may wait to be hashed one at a time.
    package var waitingPasswords = 64
    /// The limits of failed logins a minute: for one account from one address, for one account, and from one address.
    package var failedLoginsOfAccountFromAddress = 10
    package var failedLoginsOfAccount = 100
    package var failedLoginsOfAddress = 60
    /// The limit of wrong credentials a minute for one existing key.
    package var wrongCredentialsOfKey = 20
    /// The largest number of sessions of one user; another sign-in ends the one that was used least recently.
    package var maximumSessionsPerUser = 1000
    /// The limits of wrong codes of second factors for one user, a minute and an hour.
    package var wrongCodesOfUser = 5
    package var wrongCodesOfUserInHour = 20
    /// The largest number of API tokens of one user, and their longest lifetime.
    package var apiTokensOfUser = 100
    package var apiTokenLifetime = Duration.days(366)
    /// The console's URL for browsers, without a slash at its end, for links of invitations; `nil` = unknown.
    package var consoleURL: String?
    /// The retention of API tokens after their end, so that people see which ones have expired.
    package var expiredTokenRetention = Duration.days(30)
    /// The retention of audit lines, and the largest number for each organization; a line takes about 200 bytes.
    package var auditRetention = Duration.days(400)
    package var auditLines: Int64 = 10_000_000
    /// The age up to which lines are kept regardless of their number.
    package var minimumAuditRetention = Duration.days(30)
    /// The limit of calls a minute for a caller who fills the audit log; see ``AuditPressure``.
    package var auditedCallsUnderPressure = 60

    package init() {}
}

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
