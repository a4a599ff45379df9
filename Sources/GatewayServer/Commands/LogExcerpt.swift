import Basics
import Foundation
import HTTPClient

/// The newest lines of a log, without secrets.
enum LogExcerpt {
    /// The number of bytes of a log that are read.
    private static let limit: Int64 = 1 << 20
    /// Returns the end of a file.
    static func file(_ path: String) -> String {
        do {
            let file = try FileReader(path)
            let size = Int64(try file.status().st_size)
            var bytes: [UInt8] = []
            try file.forEachBlock(of: max(0, size - limit)..<size) { bytes += $0 }
            return scrubbed(whole(bytes, isCut: size > limit))
        } catch {
            return "not available: cannot read \(path)"
        }
    }

    /// Returns the newest lines of a service in the journal of systemd.
    static func journal(of unit: String) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["journalctl", "--unit", unit, "--lines", "2000", "--no-pager", "--output", "short-iso"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return "not available: journalctl cannot be run; name a file with --log"
        }
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        guard process.terminationStatus == 0, !bytes.starts(with: Array("-- No entries --".utf8)) else {
            return "not available: there is no journal of \(unit) that this user can read; name a file with --log"
        }
        return scrubbed(whole(Array(bytes.suffix(Int(limit))), isCut: bytes.count > Int(limit)))
    }

    /// Drops the part of a line at the beginning.
    private static func whole(_ bytes: [UInt8], isCut: Bool) -> String {
        let rest = isCut ? bytes.drop { $0 != 0x0A }.dropFirst() : bytes[...]
        return String(decoding: rest, as: UTF8.self)
    }

    /// Replaces what may be a secret: passwords in URLs, query strings, the values of header fields that sign in, values after a name of
    /// a secret, and words that begin like one.
    static func scrubbed(_ text: String) -> String {
        rules.reduce(text) { text, rule in
            rule.pattern.stringByReplacingMatches(
                in: text, range: NSRange(text.startIndex..., in: text), withTemplate: rule.replacement)
        }
    }

    /// The patterns of secrets, and what is left of their matches, in the order of their use.
    private static let rules: [(pattern: NSRegularExpression, replacement: String)] = {
        // A value in quotes with escapes, as in JSON, or one without spaces.
        let quoted = #""(?:[^"\\\r\n]|\\.)*"?"#
        let prefixes = TokenPrefix.allCases.map { NSRegularExpression.escapedPattern(for: $0.rawValue) }
        return [
            // scheme://user:password@host
            (#"([a-z][a-z0-9+.-]*://)[^\s/@"'<>]+@"#, "$1***@"),
            (#"(?<=\S)\?[^\s"'<>]+"#, "?***"),
            // The values of these fields have spaces: they end with the quote or the line.
            (#"((?:cookie|authorization)"[ \t]*[:=][ \t]*)\#(quoted)"#, #"$1"***""#),
            (#"((?:cookie|authorization)[ \t]*[:=][ \t]*)[^"\s][^"\r\n]*"#, "$1***"),
            (#"(\#(secretName)"?'?[ \t]*[:=][ \t]*)\#(quoted)"#, #"$1"***""#),
            (#"(\#(secretName)"?'?[ \t]*[:=][ \t]*)[^\s"',;&(){}\[\]<>]+"#, "$1***"),
            (#"(bearer[ \t]+)[^\s"',;]+"#, "$1***"),
            (#"(?<![a-z0-9])(?-i:\#(prefixes.joined(separator: "|")))[a-z0-9+/=_.-]*"#, "***"),
        ].map { pattern, replacement in
            guard let expression = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive) else {
                preconditionFailure("the pattern \(pattern) is malformed")
            }
            return (expression, replacement)
        }
    }()

    /// A name whose value is a secret, such as `password` or `secret_access_key`.
    private static let secretName =
        "[a-z0-9_.-]*"
        + "(?:password|passwd|passphrase|secret|token|signature|credential|api[_-]?key|access[_-]?key|private[_-]?key)"
        + "[a-z0-9_.-]*"
}
