import Basics
import Glibc
package import HTTPClient
package import HTTPTypes

/// Downloads an object into a file: first into a partial file, which an interrupted download continues, and after a comparison
/// with the store's checksum to its final name.
package struct FileDownload: Sendable {
    /// The paths of the file of a download.
    package struct Target: Sendable {
        /// The path of the complete file.
        let path: String
        /// The path of the incomplete file.
        let partialPath: String
        /// The path of the complete file for people.
        let shown: String

        /// - Parameters:
        ///   - path: makes the path of a name in the file's folder.
        ///   - id: the object's id.
        package init(_ name: String, of id: String, shownAs shown: String, path: (_ name: String) -> String) {
            self.path = path(name)
            self.shown = shown
            partialPath = path(PartialFile.name(for: name, of: id))
        }
    }

    /// The current URL of the object.
    package struct Location: Sendable {
        package let url: String
        package let fields: HTTPFields

        package init(url: String, fields: HTTPFields) {
            self.url = url
            self.fields = fields
        }
    }

    /// Twice, the received bytes differed from the store's.
    package struct Corrupted: Error, Sendable, Hashable, CustomStringConvertible {
        package var description: String { "the received bytes do not match the object's checksum (CRC-64)" }
    }

    private let target: Target
    private let connection: HTTPConnection
    private let retrying: Retrying
    private let location: @Sendable () async throws -> Location
    private let progress: @Sendable (_ received: Int64, _ size: Int64?) -> Void

    /// - Parameters:
    ///   - location: called for each attempt, since a location is valid for minutes.
    ///   - progress: called with the bytes in the file, and the object's size once it is known.
    package init(
        to target: Target, over connection: HTTPConnection, retrying: Retrying,
        location: @escaping @Sendable () async throws -> Location,
        progress: @escaping @Sendable (_ received: Int64, _ size: Int64?) -> Void
    ) {
        self.target = target
        self.connection = connection
        self.retrying = retrying
        self.location = location
        self.progress = progress
    }

    /// - Returns: the object's size in bytes.
    /// - Throws: `LocalFailure`, `StoreRefusal`, `TransferFailure`, `Corrupted`, the error of `location`.
    package func run() async throws -> Int64 {
        let file = try PartialFile(target.partialPath, shownAs: target.shown)
        for isLast in [false, true] {
            let object: Description
            do {
                object = try await fetch(file)
            } catch {
                file.removeIfEmpty()
                throw error
            }
            guard let crc64 = object.crc64, crc64 != file.crc64 else {
                try file.finish(as: target.path)
                return object.size
            }
            // The rest of an earlier run may belong to another program: once more, from the beginning.
            try file.truncate()
            if isLast { throw Corrupted() }
        }
        throw Corrupted()
    }

    /// The store's description of the object.
    struct Description: Sendable, Equatable {
        let size: Int64
        let crc64: UInt64?
    }

    private func fetch(_ file: PartialFile) async throws -> Description {
        while true {
            let object = try await retrying.run("download") { try await leg(file) }
            if let object, object.size == file.size { return object }
        }
    }

    /// Makes one request, for all missing bytes.
    ///
    /// - Returns: `nil` if the connection broke after some bytes had arrived; then the next leg begins at once.
    private func leg(_ file: PartialFile) async throws -> Description? {
        let start = file.size
        let place = try await location()
        var fields = place.fields
        if start > 0 { fields.append("Range", "bytes=\(start)-") }
        let arrival = Arrival()
        do {
            let reply = try await connection.exchange(
                HTTPRequest("GET", place.url, fields: fields),
                receiver: HTTPReceiver { status, fields in
                    guard let object = try Self.object(status, fields, from: start) else { return false }
                    arrival.object = object
                    progress(start, object.size)
                    return true
                } receive: { bytes in
                    try file.append(bytes)
                    progress(file.size, arrival.object?.size)
                })
            if let object = arrival.object { return object }
            guard reply.status == 416, start > 0 else { throw StoreRefusal(reply) }
            // Nothing follows the end: the file is complete, or its bytes belong to another object.
            let object = try await describe(place)
            if object.size != start { try file.truncate() }
            return object
        } catch let failure as TransferFailure {
            guard case .connection = failure, file.size > start else { throw failure }
            return nil
        }
    }

    /// Requests the first byte, for the header fields of the response.
    private func describe(_ place: Location) async throws -> Description {
        var fields = place.fields
        fields.append("Range", "bytes=0-0")
        let reply = try await connection.exchange(HTTPRequest("GET", place.url, fields: fields))
        guard let object = try Self.object(reply.status, reply.fields, from: 0) else { throw StoreRefusal(reply) }
        return object
    }

    /// - Returns: `nil` for a response without the object's bytes.
    /// - Throws: if they are not the requested ones.
    static func object(_ status: Int, _ fields: HTTPFields, from start: Int64) throws(TransferFailure) -> Description? {
        let crc64 = fields["x-oss-hash-crc64ecma"].flatMap { UInt64($0) }
        switch status {
        case 200 where start == 0:
            guard let size = fields["content-length"].flatMap({ Int64($0) }) else { break }
            return Description(size: size, crc64: crc64)
        case 206:
            let range = fields["content-range"] ?? ""
            guard range.hasPrefix("bytes \(start)-"), let size = total(range) else { break }
            return Description(size: size, crc64: crc64)
        case 200: break
        default: return nil
        }
        throw .unusable("the object store did not answer with the bytes from \(start)")
    }

    /// Returns the total size in a Content-Range (RFC 9110, section 14.4).
    private static func total(_ range: String) -> Int64? {
        range.split(separator: "/").last.flatMap { Int64($0) }
    }
}

/// The header section of the reply; written before its body is received, and read afterwards.
private final class Arrival: @unchecked Sendable {  // written before it is read, never at the same time
    var object: FileDownload.Description?
}

extension FileDownload {
    /// The reason why the file cannot be written on this machine: a sentence without a full stop.
    package struct LocalFailure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The errors of a folder, a file system or this process, which other files would have, too.
        private static let common: Set<Int32> = [
            EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM,
        ]

        package let message: String

        package var description: String { message }

        /// The same without the path, for readers who must not see it.
        package let messageWithoutPath: String

        /// Whether other files would fail for the same reason, as on a full disk. Otherwise it concerns the file's name only.
        package let concernsAll: Bool

        init(_ what: String, _ path: String, _ reason: String? = nil, concernsAll: Bool = false) {
            let suffix = reason.map { ": \($0)" } ?? ""
            message = "\(what) \(path)\(suffix)"
            messageWithoutPath = "\(what) the file\(suffix)"
            self.concernsAll = concernsAll
        }

        /// The failure of the latest call, from `errno`.
        ///
        /// - Parameter exists: whether the file exists, so that a missing permission concerns this file.
        static func last(_ what: String, _ path: String, exists: @autoclosure () -> Bool = false) -> LocalFailure {
            let code = errno
            let isOfFile = [EACCES, EPERM].contains(code) && exists()
            return LocalFailure(
                "cannot \(what)", path, String(cString: strerror(code)),
                concernsAll: common.contains(code) && !isOfFile)
        }
    }
}
