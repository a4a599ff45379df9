import Capability

/// The words of the audit log for archives.
extension RunningArchive {
    static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.signIn, "OpenArchiveSession", "signed in to the archive"),
            AuditSentence(.access, "ChangeArchivePassword", "changed the own password of the archive"),
        ]
    }
}
