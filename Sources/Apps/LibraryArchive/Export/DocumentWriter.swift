import AppProto
import Basics
import Protobuf
import ProtobufJSON

/// Writes a document into a file, record by record.
struct DocumentWriter {
    private static let bufferSize = 64 << 10

    private let file: LibraryFile
    private var buffer: [UInt8] = []

    init(_ file: LibraryFile) {
        self.file = file
    }

    /// Returns the file with the complete document.
    consuming func write(_ document: LibraryDocument, of contents: LibraryContents) throws -> LibraryFile {
        switch document {
        case .books: try write(contents.books, as: document)
        case .creators: try write(contents.creators, as: document)
        case .tags: try write(contents.tags, as: document)
        case .digests: try write(contents.digests, as: document)
        }
        return file
    }

    private mutating func write<Record: Message>(_ records: [Record], as document: LibraryDocument) throws {
        buffer += Array("{\"\(document.rawValue)\":[".utf8)
        for (index, record) in records.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            // Clients expect every member.
            buffer += try LibraryJSON.mapping.text(record, includesInitialValues: true)
            if buffer.count >= Self.bufferSize { try flush() }
        }
        buffer += Array("]}".utf8)
        try flush()
    }

    private mutating func flush() throws(UnnamedFile.Failure) {
        try file.append(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
