import Basics
import Crypto
import ObjectStore
import StoreClient
import StoreProtocol
import Synchronization

/// A new data file of this process without a row.
final class PendingFile: Sendable {
    enum Origin: Sendable {
        /// A body.
        case body(FilePurpose, storeID: String)
        /// A body that follows the bytes of another file. The removal of each segment is scheduled before it is stored, and the
        /// transaction that makes it one of the file cancels it.
        case `extension`(FilePurpose, storeID: String, SegmentReservations)
        /// The bytes of another file.
        case duplicate(of: String)
        /// A multipart upload, which has no bytes yet.
        case multipart
    }

    let id: String
    let origin: Origin
    private let clock: any WallClock
    /// The ids of the segments that were begun. The last one has the bytes.
    private let attempts = Lock<[String]>([])
    /// Keep segments whose removal is scheduled until the file has a row, or gets none.
    private let reservations = Lock<[OpenSegments.Reading]>([])

    init(_ id: String, _ origin: Origin, clock: any WallClock) {
        self.id = id
        self.origin = origin
        self.clock = clock
    }

    /// The id of the segment with the bytes; `nil` if none was begun.
    var segmentID: String? { attempts.withLock { $0.last } }

    /// The segments that may be in the bucket.
    var begunSegments: [String] { attempts.withLock { $0 } }

    /// The segments that may be in the bucket beside the one with the bytes.
    var failedSegments: [String] { attempts.withLock { $0.dropLast() } }

    func endReservations() { reservations.withLock { $0 = [] } }

    /// Returns the key and the properties of a further segment.
    func nextAttempt(_ md5: [UInt8]?, _ bucket: SegmentBucket) throws -> (key: String, S3Properties) {
        var segmentID = segmentID == nil ? id : Random.hex(16)
        if case .extension(_, _, let reserving) = origin {
            // Not that of the file: the removal of an attempt that failed must not be the file's.
            segmentID = Random.hex(16)
            let reserved = try reserving.reserve([segmentID])
            reservations.withLock { $0 += reserved }
        }
        attempts.withLock { [segmentID] in $0.append(segmentID) }
        var properties = bucket.configuration.properties
        properties.isNew = bucket.report.honorsConditions
        properties.md5 = md5
        switch origin {
        case .body(let purpose, let storeID), .extension(let purpose, let storeID, _):
            properties.metadata = SegmentLabel(purpose, storeID: storeID, at: clock.now()).metadata
        case .duplicate, .multipart: break
        }
        return (bucket.key(of: segmentID), properties)
    }
}

/// The properties of a segment in the metadata of its key: they say what its bytes are if no row does.
struct SegmentLabel: Equatable {
    let storeID: String
    let uploadID: String
    let bucket: String
    let key: String
    /// `nil` for the bytes of a whole object.
    let part: SegmentPart?
    let writtenAt: UnixTime

    init(_ purpose: FilePurpose, storeID: String, at time: UnixTime) {
        self.storeID = storeID
        uploadID = purpose.place.uploadID
        bucket = purpose.place.bucket
        key = purpose.place.key
        part = purpose.part.map { SegmentPart(multipartID: $0.multipartID, number: $0.number) }
        writtenAt = time
    }

    /// Returns `nil` if the key was not written by this engine.
    init?(_ metadata: [String: String]) {
        guard let storeID = metadata["store"], let uploadID = metadata["upload"], let bucket = metadata["bucket"],
            let key = metadata["key"].flatMap({ Base64.decode($0) }),
            let time = metadata["written"].flatMap({ Int64($0) })
        else { return nil }
        self.storeID = storeID
        self.uploadID = uploadID
        self.bucket = bucket
        self.key = String(decoding: key, as: UTF8.self)
        writtenAt = UnixTime(microseconds: time)
        part = metadata["multipart"].flatMap { id in
            metadata["part"].flatMap { Int($0) }.map { SegmentPart(multipartID: id, number: $0) }
        }
    }

    var place: StoredObject.Place { StoredObject.Place(bucket: bucket, key: key, uploadID: uploadID) }

    /// Values by name. The object's key is in Base64, since it may have characters that a header field cannot have.
    var metadata: [(name: String, value: String)] {
        [
            ("store", storeID), ("upload", uploadID), ("bucket", bucket), ("key", Base64.encode(Array(key.utf8))),
            ("written", String(writtenAt.microseconds)),
        ] + (part.map { [("multipart", $0.multipartID), ("part", String($0.number))] } ?? [])
    }
}
