import Basics

/// The types of events for webhooks.
package enum EventType: String, Sendable, Hashable, CaseIterable {
    /// CompleteUpload succeeded for the first time: the object is in ListObjects.
    case objectVerified = "object.verified"
    /// AbortUpload succeeded for the first time.
    case uploadAborted = "upload.aborted"
    /// A device received a key from InitDevice or ReinitDevice.
    case deviceInitialized = "device.initialized"
    /// UpdateObject changed an object's tags.
    case objectUpdated = "object.updated"
    /// An object was moved to the trash.
    case objectTrashed = "object.trashed"
    /// An object left the trash for the lists.
    case objectRestored = "object.restored"
    /// An object was deleted permanently.
    case objectDeleted = "object.deleted"
    /// A scheduled backup is complete.
    case backupCompleted = "backup.completed"
    /// A scheduled backup failed, and is tried again later.
    case backupFailed = "backup.failed"
    /// SendTestEvent asked for an event to one webhook.
    case webhookTest = "webhook.test"
}

/// An event, as a capability reports it.
package struct Event: Sendable {
    package let type: EventType
    /// The resource concerned, e.g. `objects/FILE_ID`: events of one subject are delivered in order.
    package let subject: String
    package let organizationID: Int64
    /// The data, encoded as JSON with members in snake case like the fields of the `.proto` files.
    package let data: any Encodable & Sendable
    /// The trace of the causing call (W3C Trace Context, section 3.2); sent as a header field.
    package let traceparent: String?

    package init(
        _ type: EventType, subject: String, organizationID: Int64, data: any Encodable & Sendable,
        traceparent: String? = nil
    ) {
        self.type = type
        self.subject = subject
        self.organizationID = organizationID
        self.data = data
        // Only characters that cannot end the header field.
        self.traceparent = traceparent.flatMap { text in
            !text.isEmpty && text.utf8.allSatisfy(\.isASCIIVisible) ? text : nil
        }
    }
}
