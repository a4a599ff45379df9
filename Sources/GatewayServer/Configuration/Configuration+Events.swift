import Basics
import Foundation
import Observability
import Webhooks

extension Configuration {
    private static let mostWebhooks = 16

    /// Reads the sections `events` and `webhooks`: the receivers of events, and the rules for attempts.
    static func events(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> WebhooksConfiguration {
        var events = WebhooksConfiguration()
        events.concurrency = Int(
            try reader.integer(
                "events.concurrency", default: Int64(events.concurrency), in: 1...64, unit: "requests to a webhook"))
        events.timeout = try reader.duration("events.timeout_seconds", default: events.timeout, in: 1...300)
        events.longestRetry = try reader.duration(
            "events.longest_retry_seconds", default: events.longestRetry, in: 1...86_400)
        events.patience = try reader.duration("events.give_up_seconds", default: events.patience, in: 1...2_592_000)
        events.maximumPending = try reader.integer(
            "events.max_pending", default: events.maximumPending, in: 1...10_000_000, unit: "events")
        events.maximumBytes = try reader.integer(
            "events.max_bytes", default: events.maximumBytes, in: (1 << 20)...(1 << 50), unit: "bytes")
        events.maximumDeadLetters = try reader.integer(
            "events.max_dead_letters", default: events.maximumDeadLetters, in: 1...1_000_000, unit: "events")
        events.deliveredRetention = try reader.duration(
            "events.delivered_days", default: events.deliveredRetention, in: 0...400, unit: .days)
        events.deadLetterRetention = try reader.duration(
            "events.dead_letter_days", default: events.deadLetterRetention, in: 1...400, unit: .days)
        let names = try reader.names(in: "webhooks")
        guard names.count <= mostWebhooks else {
            throw ConfigurationError("webhooks must have at most \(mostWebhooks) entries, not \(names.count)")
        }
        for name in names { events.webhooks.append(try webhook(name, &reader)) }
        return events
    }

    private static func webhook(
        _ name: String, _ reader: inout ConfigurationReader
    ) throws(ConfigurationError) -> Webhook {
        let section = "webhooks.\(name)"
        guard isWebhookName(name) else {
            throw ConfigurationError(
                "\(section): a webhook's name must be 1 to 32 of a-z, 0-9 and hyphens, and not begin with a hyphen")
        }
        let url = try reader.text("\(section).url", default: "")
        guard let parsed = URLComponents(string: url), ["http", "https"].contains(parsed.scheme),
            parsed.host?.isEmpty == false, parsed.user == nil, parsed.password == nil, parsed.fragment == nil
        else {
            throw ConfigurationError(
                "\(section).url must be http[s]://HOST[:PORT][/PATH][?QUERY], without a user or a fragment")
        }
        var types: Set<EventType> = []
        for text in try reader.list("\(section).events") ?? [] {
            let known = EventType.gateway + AppsConfiguration.known.flatMap { $0.eventTypes }
            guard let type = known.first(where: { $0.rawValue == text }) else {
                let list = known.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError("\(section).events may name \(list), not \(text)")
            }
            types.insert(type)
        }
        let organization = try reader.text("\(section).organization", default: "")
        let authorities = try reader.text("\(section).authorities", default: "")
        let source = try reader.secretSource(of: section)
        guard let keys = Webhook.keys(String(decoding: try source.bytes(), as: UTF8.self)) else {
            throw source.wrong("1 to 4 lines, each with at least 16 bytes, or whsec_ and at least 16 bytes in base64")
        }
        return Webhook(
            name: name, url: url, keys: keys, types: types,
            organization: organization.isEmpty ? nil : organization,
            authorities: authorities.isEmpty ? nil : authorities)
    }

    private static func isWebhookName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.first != "-"
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
    }
}
