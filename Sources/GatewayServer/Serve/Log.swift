import Foundation

/// Standard error: one line of JSON an event. No secret is ever given to it.
enum Log {
    private struct Line: Encodable {
        let time: String
        let event: String
        let details: [String: String]
    }

    static func write(_ event: String, _ details: [String: String]) {
        let line = Line(time: Date.now.formatted(.iso8601), event: event, details: details)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(line) else { return }
        // A full disk or a reader that is gone loses the line, never the gateway: `write(_:)` would end the process.
        try? FileHandle.standardError.write(contentsOf: text + Data([0x0A]))
    }
}
