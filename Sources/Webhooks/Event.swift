/// What webhooks can be told of.
package enum EventType: String, Sendable, Hashable, CaseIterable {
    /// CompleteUpload was answered for the first time: the object is in ListObjects.
    case objectVerified = "object.verified"
    /// AbortUpload was answered for the first time.
    case uploadAborted = "upload.aborted"
    /// A device was given a key, by InitDevice or ReinitDevice.
    case deviceInitialized = "device.initialized"
    /// UpdateObject changed an object's tags.
    case objectUpdated = "object.updated"
    /// An object was moved to the trash.
    case objectTrashed = "object.trashed"
    /// An object left the trash for the lists.
    case objectRestored = "object.restored"
    /// An object was deleted permanently.
    case objectDeleted = "object.deleted"
}

/// Something that happened, as a capability tells of it.
package struct Event: Sendable {
    package let type: EventType
    /// What it happened to, e.g. `objects/FILE_ID`: events of one subject are delivered in their order.
    package let subject: String
    package let organizationID: Int64
    /// Written as JSON, its members in snake case as the fields of the `.proto` files are.
    package let data: any Encodable & Sendable
    /// The trace of the call that made it happen (W3C Trace Context, section 3.2); sent as a header field.
    package let traceparent: String?

    package init(
        _ type: EventType, subject: String, organizationID: Int64, data: any Encodable & Sendable,
        traceparent: String? = nil
    ) {
        self.type = type
        self.subject = subject
        self.organizationID = organizationID
        self.data = data
        // Nothing that could end the field it is sent in.
        self.traceparent = traceparent.flatMap { text in
            !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
    }
}
