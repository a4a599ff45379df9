import Basics
import HTTPClient
import StoreClient
package import StoreProtocol

/// The location of a bucket.
package struct BucketLocation: Sendable {
    package let endpoint: StoreEndpoint
    package let bucket: String
    /// The region in the signature's scope.
    package let region: String

    package init(endpoint: StoreEndpoint, bucket: String, region: String) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
    }

    var name: String { "\(endpoint.text)/\(bucket)" }
}

/// A bucket of an object store as a destination.
package struct BucketTarget: DestinationTarget {
    package let location: BucketLocation
    package let dialect: ClientRequest.Dialect
    package let credentials: SigningCredentials
    /// The size of a part in bytes; objects up to that size are sent in one request.
    package let partSize: Int64
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
    package let authorities: String?

    package init(
        _ location: BucketLocation, dialect: ClientRequest.Dialect, credentials: SigningCredentials, partSize: Int64,
        authorities: String?
    ) {
        self.location = location
        self.dialect = dialect
        self.credentials = credentials
        self.partSize = partSize
        self.authorities = authorities
    }

    var name: String { location.name }
    var place: CopyPlace {
        CopyPlace(endpoint: location.endpoint.text, bucket: location.bucket, region: location.region)
    }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        guard (try? StoreEndpoint(place.endpoint)) == location.endpoint, place.bucket == location.bucket,
            place.region.isEmpty || place.region == location.region
        else { return nil }
        return BucketWriter(self, clock: environment.clock)
    }
}

extension CopyTarget {
    /// - Parameter organizations: the names of the organizations that may copy there; `nil` = all.
    package static func bucket(_ target: BucketTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}

/// Copies into a bucket of an object store: small objects in one request, larger ones in parts, each verified by the store.
struct BucketWriter: DestinationWriter {
    private let target: BucketTarget
    private let clock: any WallClock
    /// The connection for the requests of one item at a time.
    private let connection: HTTPConnection

    init(_ target: BucketTarget, clock: any WallClock) {
        self.target = target
        self.clock = clock
        connection = HTTPConnection(HTTPConnection.Options(authorities: target.authorities))
    }

    func objection(to key: String) -> String? { nil }

    func path(of key: String) -> String {
        "\(target.location.name)/\(key)"
    }

    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent {
        let found: (size: Int64, etag: String, crc64: UInt64?)?
        do {
            found = try await store(item).head()
        } catch let refusal as StoreRefusal where refusal.status == 403 {
            // The key may only write.
            return .unknown
        }
        guard let found else { return .nothing }
        guard found.size == source.size else { return .another }
        if let crc64 = found.crc64 { return crc64 == source.crc64 ? .same : .another }
        return ETag.matches(found.etag, try await etag(of: item, source)) ? .same : .another
    }

    /// Returns the ETag that the store would give the object.
    private func etag(of item: CopyItem, _ source: CopySource) async throws -> String {
        let size = partSize(of: item)
        guard source.size > size else {
            return ETag.whole(md5: try await piece(0..<source.size, of: source).md5, .s3)
        }
        var digests: [[UInt8]] = []
        for part in PartRange.all(size: source.size, partSize: size) {
            try Task.checkCancellation()
            digests.append(try await piece(part.bytes, of: source).md5)
        }
        return ETag.multipart(partMD5s: digests, .s3)
    }

    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws {
        // If the store can say what exists, that is known by now; and not every store supports the condition.
        let replaces = replaces || found != .unknown
        let store = try store(item)
        if source.size <= partSize(of: item) {
            let piece = try await piece(0..<source.size, of: source)
            guard piece.crc64 == source.crc64 else { throw Self.damaged }
            _ = try await store.put(piece, replaces: replaces) { _ in }
            return try await progress.reached(source.size)
        }
        do {
            try await sendParts(item, source, store, replaces: replaces, progress)
        } catch let refusal as StoreRefusal where refusal.code == "NoSuchUpload" {
            // The next attempt begins another multipart upload.
            try await progress.began(nil)
            throw refusal
        }
    }

    private func sendParts(
        _ item: CopyItem, _ source: CopySource, _ store: StoreClient, replaces: Bool, _ progress: CopyProgress
    ) async throws {
        let multipart: CopyItem.Multipart
        var held: [Int: StorePart] = [:]
        if let begun = item.multipart {
            multipart = begun
            for part in try await store.parts(of: begun.id) { held[part.number] = part }
        } else {
            multipart = CopyItem.Multipart(id: try await store.initiateMultipart(), partSize: partSize(of: item))
            try await progress.began(multipart)
        }
        var parts: [StorePart] = []
        for range in PartRange.all(size: source.size, partSize: multipart.partSize) {
            try Task.checkCancellation()
            let piece = try await piece(range.bytes, of: source)
            if let part = held[range.number], part.size == Int64(range.bytes.count),
                part.crc64 == piece.crc64 || ETag.matches(part.etag, Hex.lower(piece.md5))
            {
                parts.append(StorePart(number: part.number, size: part.size, etag: part.etag, crc64: piece.crc64))
            } else {
                parts.append(try await store.put(part: range.number, of: multipart.id, piece) { _ in })
            }
            try await progress.reached(range.bytes.upperBound)
        }
        let whole = ContentDigest.crc64(of: parts.map { ($0.crc64 ?? 0, $0.size) })
        guard whole == source.crc64 else { throw Self.damaged }
        _ = try await store.complete(multipart.id, parts: parts, replaces: replaces)
    }

    func abandon(_ item: CopyItem) async throws {
        guard let multipart = item.multipart else { return }
        try await store(item).abort(multipart.id)
    }

    private func store(_ item: CopyItem) throws -> StoreClient {
        StoreClient(
            StoreObject(
                endpoint: target.location.endpoint, region: target.location.region, bucket: target.location.bucket,
                key: item.key,
                dialect: target.dialect),
            credentials: target.credentials, over: connection, clock: clock)
    }

    /// Returns the configured part size, or a larger one in whole MiB that keeps the object within the limit of parts.
    private func partSize(of item: CopyItem) -> Int64 {
        let needed = (item.size - 1) / PartRange.maximumCount + 1
        return max(item.multipart?.partSize ?? target.partSize, (needed + 0xF_FFFF) & ~0xF_FFFF)
    }

    private func piece(_ range: Range<Int64>, of source: CopySource) async throws -> StoreClient.Piece {
        guard let piece = try await StoreClient.Piece(reading: range, of: source.bytes) else { throw Self.damaged }
        return piece
    }

    private static let damaged = CopyFailure(
        .sourceDamaged, "the object is corrupted: its bytes no longer match its checksum", .permanent)
}
