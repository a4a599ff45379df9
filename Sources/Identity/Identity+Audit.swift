package import Capability

/// The words of the audit log for identity providers.
extension Identity {
    package static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.signIn, "CompleteSignIn", "signed in with an identity provider"),
            AuditSentence(.signIn, "SignInWithIdentityToken", "signed in with an identity provider"),
            AuditSentence(.signIn, "ExchangeWorkloadToken", "signed in as a workload"),
            AuditSentence(.access, "FindUsersByEmail", "searched for users by an e-mail address"),
            AuditSentence(.access, "Unlink", "removed an identity of the user {target}"),
        ]
    }
}
