package import Capability

/// The words of the audit log for events.
extension Webhooks {
    package static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.gateway, "SendTestEvent", "sent a test event to the webhook {target}"),
            AuditSentence(.gateway, "RetryWebhook", "tried the waiting events of the webhook {target} at once"),
            AuditSentence(.gateway, "RedeliverEvent", "requested another delivery of the event {target}"),
        ]
    }
}
