import Basics
import HTTPTypes

/// Reads a body in the form `multipart/form-data` (RFC 7578) as it arrives: the fields in front of the file, then the bytes of
/// the file, of which it keeps no more than a boundary has. What follows the file is passed over.
package struct FormParser {
    package enum Event {
        /// The file's part begins; all fields are known. Names in lower case.
        case file(fields: HTTPFields, name: String, contentType: String?)
        case bytes([UInt8])
        /// The file's last byte was passed on.
        case end
    }

    private enum State {
        case preamble
        case headers
        case value(name: String)
        case file
        case done
    }

    /// Bytes of all fields in front of the file with their headers; a policy and its signature are a few KiB.
    static let maximumFields = 64 << 10

    private let delimiter: [UInt8]
    private var state = State.preamble
    private var waiting: [UInt8]
    /// The number of waiting bytes that were already searched, so that a body in small pieces is not searched again and again.
    private var searched = 0
    private var fields: HTTPFields = [:]
    private var fieldBytes = 0

    /// - Returns: `nil` where the request has no such body.
    package init?(_ head: HTTPFields) {
        guard let type = head["content-type"], type.lowercased().hasPrefix("multipart/form-data") else { return nil }
        let boundary = type.split(separator: ";").dropFirst().compactMap { parameter -> String? in
            let text = String(parameter).trimming { $0 == " " }
            guard text.lowercased().hasPrefix("boundary=") else { return nil }
            return String(text.dropFirst("boundary=".count)).trimming { $0 == "\"" }
        }.first
        guard let boundary, (1...70).contains(boundary.utf8.count) else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may be the first line.
        waiting = [0x0D, 0x0A]
    }

    package var isDone: Bool {
        if case .done = state { true } else { false }
    }

    /// - Throws: `invalidArgument` for what is no form, or has too much in front of its file.
    package mutating func read(_ piece: UnsafeRawBufferPointer) throws(StoreError) -> [Event] {
        guard !isDone else { return [] }
        waiting += piece
        var events: [Event] = []
        while try advance(&events) {}
        if case .file = state {
        } else if waiting.count > Self.maximumFields {
            throw Self.malformed("has more than \(Self.maximumFields) bytes before its file")
        }
        return events
    }

    /// - Returns: whether more may be read of what is there.
    private mutating func advance(_ events: inout [Event]) throws(StoreError) -> Bool {
        switch state {
        case .preamble:
            guard try pass() != nil else { return false }
        case .headers:
            guard let end = find(Self.endOfHeaders) else { return false }
            let part = try Part(waiting[..<end.lowerBound])
            // The line break that ends the headers may begin the boundary behind an empty value.
            drop(end.upperBound)
            state = .value(name: part.name)
            if part.name == "file" {
                events.append(.file(fields: fields, name: part.fileName, contentType: part.contentType))
                state = .file
            }
        case .value(let name):
            guard let value = try pass() else { return false }
            guard let text = String(validating: value, as: UTF8.self) else {
                throw Self.malformed("has a field that is not valid UTF-8: \(name)")
            }
            fieldBytes += value.count + name.utf8.count
            guard fieldBytes <= Self.maximumFields, fields.fields.count < 100 else {
                throw Self.malformed("has too many fields before its file")
            }
            guard fields[name] == nil else { throw Self.malformed("has a field twice: \(name)") }
            fields.append(name, text)
        case .file:
            if let range = find(delimiter) {
                if range.lowerBound > 0 { events.append(.bytes(Array(waiting[..<range.lowerBound]))) }
                events.append(.end)
                waiting = []
                state = .done
                return false
            }
            // Bytes that may begin a boundary wait for the rest.
            let sure = waiting.count - delimiter.count + 1
            if sure > 0 {
                events.append(.bytes(Array(waiting[..<sure])))
                drop(sure)
            }
            return false
        case .done: return false
        }
        return true
    }

    /// Passes a boundary line.
    ///
    /// - Returns: the bytes before it; `nil` until it arrives.
    private mutating func pass() throws(StoreError) -> [UInt8]? {
        guard let range = find(delimiter) else { return nil }
        let rest = waiting[range.upperBound...]
        guard rest.count >= 2 else { return nil }
        guard rest.starts(with: [0x0D, 0x0A]) else {
            throw Self.malformed(rest.starts(with: "--".utf8) ? "has no file" : "has a malformed boundary")
        }
        let before = Array(waiting[..<range.lowerBound])
        drop(range.upperBound + 2)
        state = .headers
        return before
    }

    private static let endOfHeaders: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    /// The first place of `pattern`, which begins with a carriage return.
    private mutating func find(_ pattern: [UInt8]) -> Range<Int>? {
        var place = searched
        let found = waiting.withUnsafeBufferPointer { bytes -> Int? in
            while place + pattern.count <= bytes.count {
                if bytes[place] == 0x0D, bytes[place..<place + pattern.count].elementsEqual(pattern) { return place }
                place += 1
            }
            return nil
        }
        searched = found ?? place
        return found.map { $0..<$0 + pattern.count }
    }

    private mutating func drop(_ count: Int) {
        waiting.removeFirst(count)
        searched = 0
    }

    static func malformed(_ what: String) -> StoreError {
        StoreError(.invalidArgument, "PostObject: the form is malformed: it \(what).")
    }

    /// The headers of one part.
    private struct Part {
        let name: String
        let fileName: String
        let contentType: String?

        init(_ bytes: ArraySlice<UInt8>) throws(StoreError) {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw FormParser.malformed("has headers that are not valid UTF-8")
            }
            var fields: HTTPFields = [:]
            for line in text.split(separator: "\r\n") {
                guard let colon = line.firstIndex(of: ":") else { throw FormParser.malformed("has a malformed header") }
                fields.append(
                    String(line[..<colon]), String(line[line.index(after: colon)...]).trimming { $0 == " " })
            }
            let disposition = fields["content-disposition"] ?? ""
            guard let name = Self.parameter("name", of: disposition), !name.isEmpty else {
                throw FormParser.malformed("has a part without a name")
            }
            self.name = name.lowercased()
            fileName = Self.parameter("filename", of: disposition) ?? ""
            contentType = fields["content-type"]
        }

        /// Returns a parameter's value. In quotes it may contain semicolons. Browsers write `%22` for a quote, older clients `\"`;
        /// other backslashes are part of the name.
        private static func parameter(_ name: String, of disposition: String) -> String? {
            for item in items(of: disposition).dropFirst() {
                let halves = item.split(separator: "=", maxSplits: 1)
                guard halves.count == 2, String(halves[0]).trimming({ $0 == " " }).lowercased() == name else {
                    continue
                }
                var value = String(halves[1]).trimming { $0 == " " }
                if value.utf8.count >= 2, value.utf8.first == quote, value.utf8.last == quote {
                    value = String(value.unicodeScalars.dropFirst().dropLast())
                }
                return value.replacing("\\\"", with: "\"").replacing("%22", with: "\"")
            }
            return nil
        }

        private static let quote = UInt8(ascii: "\"")

        /// Splits a field's value at the semicolons outside of quotes.
        private static func items(of field: String) -> [String] {
            var items: [[UInt8]] = [[]]
            var isQuoted = false
            for byte in field.utf8 {
                if byte == quote, items[items.count - 1].last != UInt8(ascii: "\\") { isQuoted.toggle() }
                if byte == UInt8(ascii: ";"), !isQuoted {
                    items.append([])
                } else {
                    items[items.count - 1].append(byte)
                }
            }
            return items.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
