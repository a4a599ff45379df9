import Basics
package import Capability
import FoundationEssentials
package import Settings

/// The webhooks, their retries and limits, and the retention of deliveries.
package struct WebhooksConfiguration: Sendable {
    /// The largest number of parallel requests to all webhooks; each of them blocks a thread of the process.
    package static let maximumRequests = 128

    package var webhooks: [Webhook] = []
    /// The largest number of parallel requests to one webhook; see ``requestsOfWebhook``.
    package var concurrency = 8
    /// The time limit of one request, from its connection to the end of its response.
    package var timeout = Duration.seconds(30)
    /// The longest time between two attempts.
    package var longestRetry = Duration.hours(1)
    /// The time after the first failed attempt in which further attempts may begin; then the event becomes a dead letter.
    package var retryDuration = Duration.days(1)
    /// The largest number of events that wait for one webhook; beyond it, the oldest become dead letters.
    package var maximumPending: Int64 = 100_000
    /// The largest number of bytes of events that wait for one webhook, and of its dead letters; beyond it, the oldest events
    /// become dead letters, and the oldest dead letters are removed.
    package var maximumBytes: Int64 = 1 << 30
    /// The largest number of dead letters of one webhook; beyond it, the oldest are removed.
    package var maximumDeadLetters: Int64 = 10_000
    /// The retention of delivered events and of dead letters.
    package var deliveredRetention = Duration.days(7)
    package var deadLetterRetention = Duration.days(90)

    package init() {}

    /// The number of parallel requests to one webhook: at most an equal share of ``maximumRequests``, so that webhooks do not wait for
    /// each other.
    var requestsOfWebhook: Int { min(concurrency, max(1, Self.maximumRequests / max(1, webhooks.count))) }
}

extension WebhooksConfiguration: CapabilitySettings {
    private static let mostWebhooks = 16

    /// Reads the sections `events` and `webhooks`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("events")
        concurrency = section.integer("concurrency", default: concurrency, in: 1...64, unit: "requests to a webhook")
        timeout = section.duration("timeout_seconds", default: timeout, in: 1...300)
        longestRetry = section.duration("longest_retry_seconds", default: longestRetry, in: 1...86_400)
        retryDuration = section.duration("give_up_seconds", default: retryDuration, in: 1...2_592_000)
        maximumPending = section.integer("max_pending", default: maximumPending, in: 1...10_000_000, unit: "events")
        maximumBytes = section.integer("max_bytes", default: maximumBytes, in: (1 << 20)...(1 << 50), unit: "bytes")
        maximumDeadLetters = section.integer(
            "max_dead_letters", default: maximumDeadLetters, in: 1...1_000_000, unit: "events")
        deliveredRetention = section.duration(
            "delivered_days", default: deliveredRetention, in: 0...400, unit: .days)
        deadLetterRetention = section.duration(
            "dead_letter_days", default: deadLetterRetention, in: 1...400, unit: .days)
        webhooks = settings.named("webhooks") { name, webhook in Webhook(name, webhook, types: context.eventTypes) }
        if webhooks.count > Self.mostWebhooks {
            settings.reject("webhooks", "must have at most \(Self.mostWebhooks) entries, not \(webhooks.count)")
        }
    }
}

extension Webhook {
    /// Reads a member of `webhooks`; `nil` after a fault without which it cannot be read further.
    fileprivate init?(_ name: String, _ settings: SettingsReader, types known: [String]) {
        guard Self.isName(name) else {
            settings.report(
                ConfigurationError(
                    "\(settings.place): a webhook's name must be 1 to 32 of a-z, 0-9 and hyphens, and not begin with a hyphen",
                    key: settings.place))
            return nil
        }
        let url = settings.text("url", default: "", unit: "URL", bounds: "`http[s]://HOST[:PORT][/PATH][?QUERY]`")
        if !Self.isURL(url) {
            settings.reject("url", "must be http[s]://HOST[:PORT][/PATH][?QUERY], without a user or a fragment")
        }
        var types: Set<EventType> = []
        for text in settings.list("events", standard: "all", bounds: "types of events") ?? [] {
            guard known.contains(text) else {
                settings.reject("events", "may name \(known.joined(separator: ", ")), not \(text)")
                break
            }
            types.insert(EventType(text))
        }
        let organization = settings.text("organization", default: "")
        let authorities = settings.text("authorities", default: "", unit: "PEM file")
        let keys = settings.secret(
            "1 to 4 lines, each with at least 16 bytes, or whsec_ and at least 16 bytes in base64"
        ) { Webhook.keys(String(decoding: $0, as: UTF8.self)) }
        self.init(
            name: name, url: url, keys: keys ?? [], types: types,
            organization: organization.isEmpty ? nil : organization,
            authorities: authorities.isEmpty ? nil : authorities)
    }

    private static func isURL(_ text: String) -> Bool {
        guard let url = URLComponents(webAddress: text) else { return false }
        return ["http", "https"].contains(url.scheme) && url.host?.isEmpty == false && url.user == nil
            && url.password == nil && url.fragment == nil
    }

    private static func isName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.first != "-"
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
    }
}
