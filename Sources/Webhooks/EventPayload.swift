import Basics
import FoundationEssentials

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
