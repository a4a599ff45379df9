import Basics
package import HTTPTypes
import Multipart

/// Reads a form with a file as it arrives: the fields in front of the file, then the bytes of the file, of which it keeps no more
/// than a boundary has. What follows the file is passed over.
package struct FormParser {
    package enum Event {
        /// The file's part begins; all fields are known. Names in lower case.
        case file(fields: HTTPFields, name: String, contentType: String?)
        case bytes([UInt8])
        /// The file's last byte was passed on.
        case end
    }

    private enum State {
        /// Between the fields.
        case fields
        case value(name: String)
        case file
        case done
    }

    /// Bytes of all fields in front of the file; a policy and its signature are a few KiB.
    static let maximumFields = 64 << 10

    private var reader: MultipartReader
    private var state = State.fields
    /// The bytes of the field that is being read.
    private var value: [UInt8] = []
    private var fields: HTTPFields = [:]
    private var fieldBytes = 0
    /// Bytes that arrived before the form began.
    private var preamble = 0

    /// - Returns: `nil` where the request has no such body.
    package init?(_ head: HTTPFields) {
        guard let boundary = head["content-type"].flatMap(MultipartReader.boundary) else { return nil }
        reader = MultipartReader(boundary: boundary, headerLimit: Self.maximumFields)
    }

    package var isDone: Bool {
        if case .done = state { true } else { false }
    }

    /// - Throws: `invalidArgument` for what is no form, or has too much in front of its file.
    package mutating func read(_ piece: UnsafeRawBufferPointer) throws(StoreError) -> [Event] {
        guard !isDone else { return [] }
        if !reader.hasBegun { preamble += piece.count }
        reader.append(piece)
        var events: [Event] = []
        while !isDone, let event = try next() { try take(event, &events) }
        guard reader.hasBegun || preamble <= Self.maximumFields else { throw Self.tooLong }
        return events
    }

    private mutating func next() throws(StoreError) -> MultipartReader.Event? {
        do throws(MultipartError) {
            return try reader.next()
        } catch {
            switch error {
            case .boundary: throw Self.malformed("has a malformed boundary")
            case .headerTooLong: throw Self.tooLong
            case .notUTF8: throw Self.malformed("has headers that are not valid UTF-8")
            case .header: throw Self.malformed("has a malformed header")
            case .unnamed: throw Self.malformed("has a part without a name")
            case .encoding(let name): throw Self.malformed("has a part with the transfer encoding \(name)")
            }
        }
    }

    private mutating func take(_ event: MultipartReader.Event, _ events: inout [Event]) throws(StoreError) {
        switch (event, state) {
        case (.part(let part), _):
            let name = part.name.lowercased()
            guard !name.isEmpty else { throw Self.malformed("has a part without a name") }
            for text in [part.name, part.fileName, part.contentType] where text?.utf8.contains(0) == true {
                throw Self.malformed("has a part whose header contains the character U+0000")
            }
            guard name == "file" else {
                state = .value(name: name)
                return
            }
            state = .file
            events.append(.file(fields: fields, name: part.fileName ?? "", contentType: part.contentType))
        case (.bytes(let bytes), .value):
            guard value.count + bytes.count <= Self.maximumFields else { throw Self.tooLong }
            value += bytes
        case (.bytes(let bytes), _): events.append(.bytes(bytes))
        case (.endOfPart, .value(let name)):
            try add(name, value)
            (state, value) = (.fields, [])
        case (.endOfPart, _):
            events.append(.end)
            state = .done
        case (.end, _): throw Self.malformed("has no file")
        }
    }

    private mutating func add(_ name: String, _ value: [UInt8]) throws(StoreError) {
        guard let text = String(validating: value, as: UTF8.self) else {
            throw Self.malformed("has a field that is not valid UTF-8: \(name)")
        }
        guard !value.contains(0) else { throw Self.malformed("has the character U+0000 in the field \(name)") }
        fieldBytes += value.count + name.utf8.count
        guard fieldBytes <= Self.maximumFields, fields.fields.count < 100 else {
            throw Self.malformed("has too many fields before its file")
        }
        guard fields[name] == nil else { throw Self.malformed("has a field twice: \(name)") }
        fields.append(name, text)
    }

    private static var tooLong: StoreError { malformed("has more than \(maximumFields) bytes before its file") }

    static func malformed(_ what: String) -> StoreError {
        StoreError(.invalidArgument, "PostObject: the form is malformed: it \(what).")
    }
}
