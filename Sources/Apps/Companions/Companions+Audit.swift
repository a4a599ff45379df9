import Capability

/// The words of the audit log for companions.
extension RunningCompanions {
    static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.signIn, "LogInCompanion", "signed in to the app for companions"),
            // The published app signs in by asking for the document with the password.
            AuditSentence(.signIn, "GetCompanion", "signed in to the app for companions"),
            AuditSentence(.gateway, "Announce", "sent an announcement to all companions"),
        ]
    }
}
