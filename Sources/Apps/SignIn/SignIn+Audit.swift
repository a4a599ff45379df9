import Capability

/// The words of the audit log for sign-ins of phone apps' users.
extension RunningSignIn {
    static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.signIn, "DevLogin", "signed in to the app with the secret for development"),
            AuditSentence(.signIn, "SignInWithApple", "signed in to the app with Apple"),
            AuditSentence(.access, "SetStatus", "enabled or disabled the app's user {target}"),
        ]
    }
}
