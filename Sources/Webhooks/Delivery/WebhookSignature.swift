import Basics
package import Crypto
import Foundation
import HTTPTypes

/// The signature that lets receivers verify that a request is authentic, unaltered and recent: the header fields of Standard
/// Webhooks 1.0 (standardwebhooks.com), with HMAC-SHA256 over the id, the time of sending and the body.
enum WebhookSignature {
    /// The prefix of a Base64-encoded key.
    private static let prefix = TokenPrefix.webhookKey.rawValue
    private static let shortestKey = 16
    private static let mostKeys = 4

    /// - Parameters:
    ///   - keys: each makes a signature; a receiver accepts any valid one.
    ///   - time: the time of this attempt. Receivers refuse requests that are older than some minutes.
    static func fields(id: String, body: [UInt8], keys: [Secret], at time: UnixTime) -> HTTPFields {
        let signed = Array("\(id).\(time.seconds).".utf8) + body
        let signatures = keys.map { "v1,\(Base64.encode(HMAC.sha256(key: $0.exposed, signed)))" }
        return [
            "webhook-id": id, "webhook-timestamp": "\(time.seconds)",
            "webhook-signature": signatures.joined(separator: " "),
        ]
    }

    /// Parses keys; see ``Webhook/keys(_:)``.
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
    /// Parses the configured keys, one for each line: `whsec_` and Base64 (Standard Webhooks), or the key itself.
    ///
    /// - Returns: `nil` if one has fewer than 16 bytes, or if they are not 1 to 4.
    package static func keys(_ text: String) -> [Secret]? { WebhookSignature.keys(text) }
}
