import JSON
import Protobuf
import ProtobufJSON

/// Reads the records of a document, `{"books":[…]}`, one by one: each is checked before the next is read, so that no document makes
/// the gateway hold more than the limits allow.
struct DocumentReader {
    private let document: LibraryDocument
    private let json: [UInt8]

    init(_ document: LibraryDocument, _ json: [UInt8]) {
        self.document = document
        self.json = json
    }

    /// - Throws: ``ArchiveFailure/document(_:)``.
    func records<Record: ArchivedRecord>() throws -> [Record] {
        do {
            var scanner = JSONScanner(json, .stored)
            var records: [Record]?
            try scanner.beginObject()
            var isFirst = true
            while let name = try scanner.nextMember(&isFirst) {
                if name != document.rawValue {
                    try scanner.skip()
                } else if records == nil {
                    records = try elements(&scanner)
                } else {
                    throw failure("the member \(name) occurs twice")
                }
            }
            try scanner.expectEnd()
            guard let records else { throw failure("the member \(document.rawValue) is missing") }
            return records
        } catch let error as JSONError {
            let problem = error.reason == .invalidText ? error.problem : nil
            throw failure("byte \(error.offset): \(problem ?? "the text is not valid JSON")")
        }
    }

    private func elements<Record: ArchivedRecord>(_ scanner: inout JSONScanner) throws -> [Record] {
        var records: [Record] = []
        var relations = 0
        var isFirst = true
        try scanner.beginArray()
        while try scanner.nextElement(&isFirst) {
            guard records.count < LibraryLimits.records else {
                throw failure("a library can have at most \(LibraryLimits.records) records")
            }
            let record: Record = try element(&scanner, at: "\(document.rawValue)[\(records.count)]")
            relations += record.relationCount
            guard relations <= LibraryLimits.relations else {
                throw failure("a library can have at most \(LibraryLimits.relations) relations between records")
            }
            records.append(record)
        }
        return records
    }

    private func element<Record: ArchivedRecord>(_ scanner: inout JSONScanner, at place: String) throws -> Record {
        _ = scanner.peek()
        let start = scanner.offset
        try scanner.skip()
        guard scanner.offset - start <= LibraryLimits.record else {
            throw failure("\(place): a record can have at most \(LibraryLimits.record) bytes")
        }
        let text = json[start..<scanner.offset]
        guard Self.separators(in: text) < LibraryLimits.values else {
            throw failure("\(place): a record can have at most \(LibraryLimits.values) values")
        }
        var record: Record
        do {
            record = try LibraryJSON.mapping.message(from: Array(text), ignoresUnknownFields: true)
        } catch {
            throw failure("\(place): \(error.field.map { "\($0) has" } ?? "the record has") a value of the wrong type")
        }
        record.dropDerived()
        if let problem = record.problem { throw failure("\(place): \(problem)") }
        return record
    }

    /// Returns the number of commas between the values of a valid JSON text.
    private static func separators(in text: ArraySlice<UInt8>) -> Int {
        var (count, isQuoted, isEscaped) = (0, false, false)
        for byte in text {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                count += 1
            }
        }
        return count
    }

    private func failure(_ problem: String) -> ArchiveFailure { .document("\(document.fileName): \(problem)") }
}
