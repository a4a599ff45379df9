import Basics
import FoundationEssentials

/// The type of events for webhooks. This file lists the types of the gateway; an app declares types of its own.
package struct EventType: Sendable, Hashable {
    package let rawValue: String

    /// - Parameter rawValue: the subject and what happened to it, e.g. `object.verified`.
    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// CompleteUpload succeeded for the first time: the object is in ListObjects.
    package static let objectVerified = EventType("object.verified")
    /// AbortUpload succeeded for the first time.
    package static let uploadAborted = EventType("upload.aborted")
    /// An upload ended without an object: its device aborted it, or sent nothing until the end of its session.
    package static let uploadFailed = EventType("upload.failed")
    /// A device received a key from InitDevice or ReinitDevice.
    package static let deviceInitialized = EventType("device.initialized")
    /// A device was not heard of for longer than its limit.
    package static let deviceSilent = EventType("device.silent")
    /// A device that was reported as silent called again.
    package static let deviceReturned = EventType("device.returned")
    /// UpdateObject changed an object's tags.
    package static let objectUpdated = EventType("object.updated")
    /// An object was moved to the trash.
    package static let objectTrashed = EventType("object.trashed")
    /// An object left the trash for the lists.
    package static let objectRestored = EventType("object.restored")
    /// An object was deleted permanently.
    package static let objectDeleted = EventType("object.deleted")
    /// The stored bytes come near a quota, or the free disk near the minimum.
    package static let storageNearlyFull = EventType("storage.nearly_full")
    /// A scheduled backup is complete.
    package static let backupCompleted = EventType("backup.completed")
    /// A scheduled backup failed, and is tried again later.
    package static let backupFailed = EventType("backup.failed")
    /// SendTestEvent asked for an event to one webhook.
    package static let webhookTest = EventType("webhook.test")

    /// The types of the gateway.
    package static let gateway: [EventType] = [
        .objectVerified, .uploadAborted, .uploadFailed, .storageNearlyFull, .deviceInitialized, .deviceSilent,
        .deviceReturned, .objectUpdated, .objectTrashed, .objectRestored, .objectDeleted, .backupCompleted,
        .backupFailed, .webhookTest,
    ]
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

/// The body of a webhook's request. It is made once, with the event, so that each attempt sends the same bytes.
struct EventPayload: Encodable {
    let id: String
    let type: String
    /// The time of the event in RFC 3339, UTC, to the millisecond.
    let timestamp: String
    let subject: String
    /// The organization's name.
    let organization: String
    let data: any Encodable & Sendable

    private enum CodingKeys: CodingKey {
        case id, type, timestamp, subject, organization, data
    }

    init(_ event: Event, id: String, organization: String, at time: UnixTime) {
        self.id = id
        self.organization = organization
        type = event.type.rawValue
        let milliseconds = (time.microseconds - time.seconds * 1_000_000) / 1000
        timestamp = "\(CivilTime(time).date())T\(CivilTime(time).clock()).\(milliseconds.padded(to: 3))Z"
        subject = event.subject
        data = event.data
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(type, forKey: .type)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encode(subject, forKey: .subject)
        try container.encode(organization, forKey: .organization)
        try container.encode(data, forKey: .data)
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // Applies to members, not to keys of dictionaries, so tags are unchanged.
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
