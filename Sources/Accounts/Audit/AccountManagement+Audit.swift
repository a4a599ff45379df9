package import Capability
import Database

/// The words of the audit log for accounts, sites and keys.
extension AccountManagement {
    package static var auditSentences: [AuditSentence] { signIns + ownAccount + accounts + gateway }

    private static let signIns = [
        AuditSentence(.signIn, "Login", "signed in"),
        AuditSentence(.signIn, "CompleteLogin", "signed in"),
        AuditSentence(.signIn, "RefreshToken", "continued a session"),
        AuditSentence(.signIn, "Logout", "signed out"),
        AuditSentence(.signIn, "ExchangeSystemCredential", "signed in with a system credential"),
        AuditSentence(.signIn, "RevokeSession", "ended a session"),
        AuditSentence(.signIn, "RevokeOtherSessions", "ended all other sessions"),
        AuditSentence(.signIn, "EndSessions", "ended the sessions of the user {target}"),
    ]

    private static let ownAccount = [
        AuditSentence(.access, "ChangePassword", "changed the own password"),
        AuditSentence(.access, "EnrollSecondFactor", "began to set up a second factor"),
        AuditSentence(.access, "ConfirmSecondFactor", "set up a second factor"),
        AuditSentence(.access, "ReplaceRecoveryCodes", "replaced the own recovery codes"),
        AuditSentence(.access, "RemoveSecondFactor", "removed the own second factor"),
        AuditSentence(.access, "CreateApiToken", "created the API token {target}"),
        AuditSentence(.access, "RevokeApiToken", "revoked the API token {target}"),
    ]

    private static let accounts = [
        AuditSentence(.access, "CreateSite", "created the site {target}"),
        AuditSentence(.access, "EnableSite", "enabled the site {target}"),
        AuditSentence(.access, "DisableSite", "disabled the site {target}"),
        AuditSentence(.access, "UpdateSite", "changed the site {target}"),
        AuditSentence(.access, "DeleteSite", "deleted the site {target}"),
        AuditSentence(.access, "CreateSiteApiKey", "created the API key {target}"),
        AuditSentence(.access, "CreateOrRotateDeviceApiKey", "created or rotated the API key {target}"),
        AuditSentence(.access, "UpdateApiKey", "changed the API key {target}"),
        AuditSentence(.access, "EnableApiKey", "enabled the API key {target}"),
        AuditSentence(.access, "DisableApiKey", "disabled the API key {target}"),
        AuditSentence(.access, "RotateApiKeySecret", "rotated the secret of the API key {target}"),
        AuditSentence(.access, "DeleteApiKey", "deleted the API key {target}"),
        AuditSentence(
            .access, "RotateCredential", "replaced the API key {target}", several: "replaced the API key {count} times"),
        AuditSentence(.access, "CreateOrganization", "created the organization {target}"),
        AuditSentence(.access, "UpdateOrganization", "changed the organization {target}"),
        AuditSentence(.access, "DeleteOrganization", "deleted the organization {target}"),
        AuditSentence(.access, "CreateUser", "created the user {target}"),
        AuditSentence(.access, "UpdateUser", "changed the user {target}"),
        AuditSentence(.access, "DeleteUser", "deleted the user {target}"),
        AuditSentence(.access, "CreateInvitation", "invited the user {target}"),
        AuditSentence(.access, "WithdrawInvitation", "withdrew the invitation of the user {target}"),
        AuditSentence(.access, "GetInvitation", "opened an invitation"),
        AuditSentence(.access, "AcceptInvitation", "accepted an invitation and became a user"),
        AuditSentence(.access, "ResetSecondFactor", "removed the second factor of the user {target}"),
        AuditSentence(.access, "SetSignInPolicy", "changed the rules for signing in to {target}"),
        AuditSentence(.access, "IssueSystemCredential", "issued a system credential for the user {target}"),
        AuditSentence(.device, "AnnounceAddresses", "announced new addresses to devices"),
        AuditSentence(.device, "WithdrawAddresses", "withdrew the addresses announced to devices"),
    ]

    private static let gateway = [
        AuditSentence(.gateway, "RotateSigningKey", "rotated the token-signing key"),
        AuditSentence(.gateway, "PurgeAuditLog", "removed {count} old lines of the audit log"),
    ]

    package static var targetKinds: [TargetKind] {
        [
            TargetKind(
                "users", ("user", "users"), from: "users", by: .number("id")
            ) { TargetName($0.text("name"), resource: "users/\($0.text("name"))") },
            TargetKind(
                "sites", ("site", "sites"), from: "sites", by: .number("id")),
            TargetKind(
                "apiKeys", ("API key", "API keys"), from: "api_keys"),
            TargetKind(
                "apiTokens", ("API token", "API tokens"), "t.name AS name",
                from: "api_tokens t JOIN users u ON u.id = t.user_id", by: .text("t.id")),
        ]
    }
}
