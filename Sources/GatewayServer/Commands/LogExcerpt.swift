import Basics
import Foundation
import HTTPClient

/// The newest lines of a log, without secrets.
enum LogExcerpt {
    /// The number of bytes of a log that are read.
    private static let limit: Int64 = 1 << 20
    /// The beginnings of words that are secrets: credentials of keys and users, security tokens, and tokens in JWT form.
    private static let secrets = ["dgwk", "dgws", "eyJ", "STS."]
    /// The names before a secret.
    private static let names = [
        "password", "secret", "authorization", "bearer", "token", "signature", "credential", "passphrase", "api_key",
    ]

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

    /// Replaces what may be a secret: words that begin like one, values after a name of one, and query strings.
    static func scrubbed(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var isSecret = false
            return line.split(separator: " ", omittingEmptySubsequences: false).map { word in
                defer { isSecret = isName(word) }
                return isSecret && !word.isEmpty ? "***" : self.word(word)
            }.joined(separator: " ")
        }.joined(separator: "\n")
    }

    /// Whether the next word is the value of a name: `Bearer`, `password:`.
    private static func isName(_ word: Substring) -> Bool {
        let letters = word.lowercased().filter { $0.isLetter || $0 == "_" }
        return letters.hasSuffix("bearer") || (word.hasSuffix(":") || word.hasSuffix("=")) && names.contains(letters)
    }

    private static func word(_ word: Substring) -> String {
        // The parts of JSON, of key=value, and of URLs.
        var kept = ""
        var part = ""
        var isValue = false
        func end() {
            let isSecret = isValue && !part.isEmpty || secrets.contains(where: part.hasPrefix)
            kept += isSecret ? "***" : part
            part = ""
        }
        var name = ""
        for character in word {
            switch character {
            case "\"", ",", "{", "}", "&", "'", "(", ")", "[", "]", "<", ">":
                if !part.isEmpty { name = part.lowercased() }
                end()
                if character == "," || character == "&" || character == "}" { (isValue, name) = (false, "") }
                kept.append(character)
            case "=", ":", "?":
                if !part.isEmpty { name = part.lowercased() }
                end()
                isValue = character == "?" || names.contains { name.contains($0) }
                kept.append(character)
            default: part.append(character)
            }
        }
        end()
        return kept
    }
}
