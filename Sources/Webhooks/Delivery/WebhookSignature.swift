import Basics
import Crypto
import Foundation
import HTTPTypes

/// How a receiver knows that a request is ours, whole and fresh: the header fields of Standard Webhooks 1.0
/// (standardwebhooks.com), HMAC-SHA256 over the id, the time of sending and the body.
enum WebhookSignature {
    /// What the text of a key in base64 begins with.
    private static let prefix = "whsec_"
    private static let shortestKey = 16
    private static let mostKeys = 4

    /// - Parameters:
    ///   - keys: each makes a signature; a receiver takes any that is right.
    ///   - time: of this attempt. Receivers refuse what is older than some minutes.
    static func fields(id: String, body: [UInt8], keys: [Secret], at time: UnixTime) -> HTTPFields {
        let signed = Array("\(id).\(time.seconds).".utf8) + body
        let signatures = keys.map { "v1,\(Base64.encode(HMAC.sha256(key: $0.exposed, signed)))" }
        return [
            "webhook-id": id, "webhook-timestamp": "\(time.seconds)",
            "webhook-signature": signatures.joined(separator: " "),
        ]
    }

    /// See ``Webhook/keys(_:)``.
    static func keys(_ text: String) -> [Secret]? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        let keys = lines.compactMap(key)
        return (1...mostKeys).contains(keys.count) && keys.count == lines.count ? keys : nil
    }

    private static func key(_ text: String) -> Secret? {
        let key = text.hasPrefix(prefix) ? Base64.decode(text.dropFirst(prefix.count)) : Array(text.utf8)
        guard let key, key.count >= shortestKey else { return nil }
        return Secret(key)
    }
}

extension Webhook {
    /// The keys that a configured text stands for, one a line: `whsec_` and base64 (Standard Webhooks), or the key itself.
    ///
    /// - Returns: `nil` where one has fewer than 16 bytes, or there are none or more than 4.
    package static func keys(_ text: String) -> [Secret]? { WebhookSignature.keys(text) }
}
