import Basics

/// How long tokens and the audit log hold, and how much callers may ask for.
package struct AccountsConfiguration: Sendable {
    /// How long an access token holds. Clients exchange again a minute before its end.
    package var accessTokenLifetime = Duration.minutes(15)
    /// How long a session holds that is not refreshed.
    package var refreshTokenLifetime = Duration.days(30)
    /// How long a refresh token that was used up may be shown again, for an answer that was lost.
    package var refreshGrace = Duration.seconds(30)
    /// Verified access tokens that are remembered.
    package var rememberedTokens = 8192
    /// Passwords of strangers, and of others, that may wait to be hashed, one at a time.
    package var waitingPasswords = 64
    /// Failed logins a minute for one account from one address, for one account, and from one address.
    package var failedLoginsOfAccountFromAddress = 10
    package var failedLoginsOfAccount = 100
    package var failedLoginsOfAddress = 60
    /// Wrong credentials a minute for one key that exists.
    package var wrongCredentialsOfKey = 20
    /// How long the audit log keeps a line, and how many of each organization at most: about 200 bytes each.
    package var auditRetention = Duration.days(400)
    package var auditLines: Int64 = 10_000_000
    /// For how long it keeps a line however many there are.
    package var minimumAuditRetention = Duration.days(30)
    /// Calls a minute of a caller who fills the audit log; see ``AuditPressure``.
    package var auditedCallsUnderPressure = 60
    /// Told when the organizations change that have more lines than that, none of which may go.
    package var onAuditOverfull: @Sendable ([OrganizationReference]) -> Void = { _ in }

    package init() {}
}
