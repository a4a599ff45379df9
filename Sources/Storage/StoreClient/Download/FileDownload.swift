import Basics
import Foundation
import HTTPClient
import HTTPTypes

/// Brings an object into a file: first into `PATH.part`, from where a broken one goes on, then, whole and compared with
/// the store's checksum, to its name.
package struct FileDownload: Sendable {
    /// Where the object is to be had for now.
    package struct Location: Sendable {
        package let url: String
        package let fields: HTTPFields

        package init(url: String, fields: HTTPFields) {
            self.url = url
            self.fields = fields
        }
    }

    /// What the store has is not what was received, twice.
    package struct Corrupted: Error, Sendable, Hashable {}

    /// Why the file cannot be written here: a sentence without a full stop.
    package struct LocalFailure: Error, Sendable, Hashable {
        package let message: String
        /// The same for whom the path is not meant.
        package let messageWithoutPath: String

        init(_ what: String, _ path: String, _ reason: String? = nil) {
            let suffix = reason.map { ": \($0)" } ?? ""
            message = "\(what) \(path)\(suffix)"
            messageWithoutPath = "\(what) the file\(suffix)"
        }

        static func last(_ what: String, _ path: String) -> LocalFailure {
            LocalFailure("cannot \(what)", path, String(cString: strerror(errno)))
        }
    }

    private let path: String
    private let connection: HTTPConnection
    private let retrying: Retrying
    private let location: @Sendable () async throws -> Location
    private let progress: @Sendable (_ received: Int64, _ size: Int64?) -> Void

    /// - Parameters:
    ///   - location: asked again for each attempt, since a location is good for minutes.
    ///   - progress: bytes that are in the file, and the object's size once it is known.
    package init(
        to path: String, over connection: HTTPConnection, retrying: Retrying,
        location: @escaping @Sendable () async throws -> Location,
        progress: @escaping @Sendable (_ received: Int64, _ size: Int64?) -> Void
    ) {
        self.path = path
        self.connection = connection
        self.retrying = retrying
        self.location = location
        self.progress = progress
    }

    /// - Returns: the object's size in bytes.
    /// - Throws: `LocalFailure`, `StoreRefusal`, `TransferFailure`, `Corrupted`, what `location` throws.
    package func run() async throws -> Int64 {
        let file = try PartialFile(path + ".part")
        for isLast in [false, true] {
            let object: Description
            do {
                object = try await fetch(file)
            } catch {
                file.removeIfEmpty()
                throw error
            }
            guard let crc64 = object.crc64, crc64 != file.crc64 else {
                try file.finish(as: path)
                return object.size
            }
            // What an earlier run left may be another program's: once more, from the beginning.
            try file.truncate()
            if isLast { throw Corrupted() }
        }
        throw Corrupted()
    }

    /// What the store says of the object.
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

    /// One request, for all that is missing.
    ///
    /// - Returns: `nil` where the connection broke after some bytes had come: then the next leg begins at once.
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
            // There is nothing behind the end: all is here, or what is here is not of this object.
            let object = try await describe(place)
            if object.size != start { try file.truncate() }
            return object
        } catch let failure as TransferFailure {
            guard case .connection = failure, file.size > start else { throw failure }
            return nil
        }
    }

    /// Asks for the first byte, for what else comes with it.
    private func describe(_ place: Location) async throws -> Description {
        var fields = place.fields
        fields.append("Range", "bytes=0-0")
        let reply = try await connection.exchange(HTTPRequest("GET", place.url, fields: fields))
        guard let object = try Self.object(reply.status, reply.fields, from: 0) else { throw StoreRefusal(reply) }
        return object
    }

    /// - Returns: `nil` for an answer without the object's bytes.
    /// - Throws: where they are not those that were asked for.
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

    /// The total size in a Content-Range (RFC 9110, section 14.4).
    private static func total(_ range: String) -> Int64? {
        range.split(separator: "/").last.flatMap { Int64($0) }
    }
}

/// What the reply's header section said; written before its body is received, on the same thread, and read after.
private final class Arrival: @unchecked Sendable {  // written before it is read, on one thread
    var object: FileDownload.Description?
}
