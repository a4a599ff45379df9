import Basics
import Database
package import StoreProtocol

/// One PUT of a part, from its header to its acknowledgement.
///
/// The order that makes an acknowledged part durable: the data file's name was synced when the multipart upload began; bytes are
/// written at their place; `fdatasync`; the row commits; the response is sent. An acknowledged part is never overwritten: other
/// bytes for it go to a file of their own, whose row replaces the old one in one commit, and Complete copies them into place. Of an
/// engine without places, all bytes do, and the commit gives them their place.
package final class PartUpload {
    private enum Destination {
        /// At its place in the multipart upload's file.
        case place
        /// In a file of its own, because the place has an acknowledged part, another connection writes there, or parts have no
        /// places.
        case ownFile(NewFile)
        /// Not stored, because the client announced the acknowledged bytes again.
        case nowhere
    }

    private let store: ObjectStore
    private let multipart: MultipartRecord
    private let number: Int
    private let permit: WritePermit
    private let start: PartStart
    private var destination: Destination
    private let body: BodyPipeline
    private var failure: (any Error)?
    /// Whether the activity of the upload is still to be recorded.
    private var activityIsDue: Bool

    /// - Parameters:
    ///   - start: what was read with the decision that `permit` is of.
    ///   - length: of the body in bytes, where `start` could not know it.
    package init(
        _ store: ObjectStore, permit: WritePermit, start: PartStart, checks: BodyChecks, length: Int64? = nil
    ) throws {
        let (number, length) = (start.number, length ?? start.length)
        guard let multipart = start.openMultipart(permit.claims) else { throw ObjectStoreError.noSuchUpload }
        guard (1...10_000).contains(number) else {
            throw ObjectStoreError.invalidPartNumber
        }
        try Self.checkSize(length ?? 0, of: multipart)
        try Self.follow(multipart.checksum, checks)
        try store.space.requireForBody()
        let share = try store.share(length: length, for: permit.owner)
        if let excess = start.excess { throw ObjectStoreError.quotaExceeded(excess) }
        self.store = store
        self.permit = permit
        self.multipart = multipart
        self.number = number
        self.start = start
        activityIsDue = permit.recordsActivity
        let claim = start.claim
        var sink: (any BodySink)?
        if let earlier = start.earlier, checks.contentMD5 == earlier.md5, length == earlier.size {
            destination = .nowhere
        } else if start.earlier == nil, claim.ownsPlace, multipart.hasPlaces,
            try store.engine.hasPlaces(multipart.fileID)
        {
            let position = Int64(number - 1) * multipart.partSize
            sink = try store.engine.receivePart(at: position, of: multipart.fileID)
            destination = .place
        } else {
            let part = FilePurpose.Part(number, of: multipart.id, fileID: multipart.fileID)
            let new = try store.engine.create(FilePurpose(permit.claims.place, part: part), length: length)
            sink = new.sink
            destination = .ownFile(new)
        }
        body = store.pipeline(checks, into: sink, share: share) { try claim.holding($0) }
        if let sink, sink.mayBlock { claim.onRevoke { sink.cancel() } }
    }

    deinit {
        abandon()
    }

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do { try append(bytes) } catch { failure = error }
    }

    /// Takes bytes that come from the store itself, and of which none are needed after a failure.
    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        try Self.checkSize(body.count + Int64(bytes.count), of: multipart)
        try body.append(bytes)
    }

    /// Makes the part durable.
    package func finish() throws -> PartRecord {
        defer { abandon() }
        if let failure { throw failure }
        // Before holding the claim, since each write holds it on its own, and a sink may wait for long.
        let stored = try body.finish()
        if case .ownFile = destination { try body.synchronizeAndClose() }
        let committed = try start.claim.holding {
            try start.claim.committing { replaced in
                if start.earlier != nil || replaced != 0, let same = try acknowledged(as: stored, replaced) {
                    return same
                }
                switch destination {
                case .place:
                    try body.synchronizeAndClose()
                    return try commit(stored, fileID: nil, replaced)
                case .ownFile(let new):
                    let part = try new.commit { try commit(stored, fileID: new.id, replaced) }
                    store.engine.keep(new.id)
                    return part
                case .nowhere:
                    // Another connection replaced the part that this one should equal; its bytes are gone.
                    throw WritesInFlight.Revoked()
                }
            }
        }
        // A connection that began later was faster: this part was stored, and replaced at once.
        return committed ?? record(stored, fileID: nil)
    }

    /// Ends the request without a row, unless ``finish()`` has made one, or may have. Bytes at the part's place stay: they have no
    /// row, and the next writer of the part overwrites them.
    package func abandon() {
        // Another writer owns the place once the claim has ended, so no write may be in flight then.
        body.cancel()
        if case .ownFile(let new) = destination { new.abandon() }
        destination = .nowhere
        start.end()
        if activityIsDue { store.recordActivity(of: permit) }
        activityIsDue = false
    }

    /// Returns the stored part, if it has the same bytes. For writers in other gateways that began before, its row shows that it was
    /// acknowledged again.
    private func acknowledged(as stored: BodyDigest.Stored, _ replaced: Int64) throws -> PartRecord? {
        let (number, id) = (number, multipart.id)
        guard store.configuration.hasReplicas else {
            return try store.database.readBlocking { try StoreRecords($0).part(number, of: id, equalTo: stored) }
        }
        let base = base
        return try store.database.writeBlocking(for: permit.owner) { connection in
            let records = StoreRecords(connection)
            guard try records.multipart(id)?.isOpen == true,
                var part = try records.part(number, of: id, equalTo: stored)
            else { return nil }
            guard part.order.version == replaced || part.order.precedes(writerFrom: base) else { return part }
            part.order = part.order.replaced(from: base)
            try records.put(part, of: id)
            return part
        }
    }

    /// The version of the part when this began.
    private var base: Int64 { start.earlier?.order.version ?? 0 }

    private func record(_ stored: BodyDigest.Stored, fileID: String?) -> PartRecord {
        PartRecord(
            number: number, size: stored.size, md5: stored.md5, crc64: stored.crc64, crc32: stored.crc32,
            fileID: fileID, storedAt: store.clock.now(), checksum: stored.checksum)
    }

    /// Stores the part's row.
    ///
    /// - Parameter replaced: the version of an earlier writer of this process, see ``WritesInFlight/Claim/committing(_:)``.
    /// - Throws: ``WritesInFlight/Revoked`` if another process has stored the part since this began, and may have begun later.
    private func commit(_ stored: BodyDigest.Stored, fileID: String?, _ replaced: Int64) throws -> PartRecord {
        let new = record(stored, fileID: fileID)
        let (multipartID, base) = (multipart.id, base)
        let part = try store.database.writeBlocking(for: permit.owner) { [permit, store] connection in
            var part = new
            let records = StoreRecords(connection)
            try connection.together {
                _ = try records.multipart(multipartID)
                _ = try records.part(part.number, of: multipartID)
            }
            guard let multipart = try records.multipart(multipartID), multipart.isOpen else {
                throw ObjectStoreError.noSuchUpload
            }
            let earlier = try records.part(part.number, of: multipartID)
            let order = earlier?.order ?? .none
            guard order.version == replaced || order.precedes(writerFrom: base) else { throw WritesInFlight.Revoked() }
            part.order = order.replaced(from: base)
            try permit.admit(bytes: part.size - (earlier?.size ?? 0), in: connection)
            try permit.recordActivity(in: connection)
            let placed = try store.placed(part, of: multipart, in: connection)
            try records.put(placed == nil ? part : part.atItsPlace, of: multipartID)
            let removed = (placed ?? []) + (earlier?.fileID.map { [$0] } ?? [])
            try store.work.removals.schedule(removed, in: connection)
            return part
        }
        activityIsDue = false
        return part
    }

    private static func checkSize(_ size: Int64, of multipart: MultipartRecord) throws(ObjectStoreError) {
        guard size > multipart.maximumPartSize else { return }
        throw .partTooLarge(limit: multipart.maximumPartSize, isIssued: multipart.hasPlaces)
    }

    private static func follow(_ upload: MultipartChecksum?, _ checks: BodyChecks) throws(ObjectStoreError) {
        guard let upload, !checks.follow(upload) else { return }
        throw .checksumNotOfUpload(upload.algorithm)
    }
}

extension ObjectStore {
    /// Moves the bytes of a part's own file to their place, if the engine can; see ``ObjectEngine/place(_:in:_:)``.
    fileprivate func placed(
        _ part: PartRecord, of multipart: MultipartRecord, in connection: Connection
    ) throws -> [String]? {
        guard part.fileID != nil else { return nil }
        return try engine.place(part.enginePart, in: multipart.fileID, connection)
    }
}

extension StoreRecords {
    /// Returns a stored part, if it has these bytes.
    fileprivate func part(
        _ number: Int, of multipartID: String, equalTo stored: BodyDigest.Stored
    ) throws -> PartRecord? {
        try part(number, of: multipartID).flatMap { $0.size == stored.size && $0.md5 == stored.md5 ? $0 : nil }
    }
}

extension PartRecord {
    /// The same part without a file of its own.
    fileprivate var atItsPlace: PartRecord {
        PartRecord(
            number: number, size: size, md5: md5, crc64: crc64, crc32: crc32, fileID: nil, storedAt: storedAt,
            checksum: checksum, order: order)
    }

    var enginePart: EnginePart {
        EnginePart(number: number, FileContent(size: size, crc64: crc64), fileID: fileID)
    }
}

extension MultipartRecord {
    var isOpen: Bool { !isCompleted && !isLost }

    /// Whether each part has a place in the file, which requires that all have the issued size. Parts of static keys may have any
    /// size, and are moved to their places by Complete.
    var hasPlaces: Bool { partSize > 0 }

    /// The limit in bytes; without an issued size, S3's own limit.
    var maximumPartSize: Int64 { hasPlaces ? partSize : 5 << 30 }
}

/// The beginning of a part's PUT: its place among the writers of the part, and the result of all reads for it.
///
/// It gets its place before anything is read: a faster Complete or Abort shows in the reads, and a later one revokes the place. The
/// place ends with this object.
package final class PartStart {
    private let writes: WritesInFlight
    let multipartID: String
    let number: Int
    /// The length of the body in bytes; `nil` if it is not declared.
    let length: Int64?
    let claim: WritesInFlight.Claim
    /// The multipart upload; `nil` before it was read, and if it does not exist.
    private var multipart: MultipartRecord?
    /// The stored part with that number.
    private(set) var earlier: PartRecord?
    /// The quota that the upload's owner would exceed; see ``AccessPolicy/excess(_:bytes:in:)``.
    private(set) var excess: String?
    private var hasEnded = false

    init(_ writes: WritesInFlight, part number: Int, of multipartID: String, length: Int64?) {
        self.writes = writes
        self.number = number
        self.multipartID = multipartID
        self.length = length
        claim = writes.begin(part: number, of: multipartID)
    }

    deinit {
        end()
    }

    /// Ends the place; nothing is written there any more.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        writes.end(claim, part: number, of: multipartID)
    }

    /// Returns the multipart upload of the part, if it is open and belongs to `claims`.
    func openMultipart(_ claims: CredentialClaims) -> MultipartRecord? {
        multipart.flatMap { $0.isOpen && $0.belongs(to: claims) ? $0 : nil }
    }

    /// Runs the statements of ``read(_:_:in:)`` that do not depend on a result.
    func readAhead(in connection: ReadConnection) throws {
        let records = StoreRecords(connection)
        _ = try records.multipart(multipartID)
        _ = try records.part(number, of: multipartID)
    }

    func read(_ claims: CredentialClaims, _ policy: any AccessPolicy, in connection: ReadConnection) throws {
        let records = StoreRecords(connection)
        multipart = try records.multipart(multipartID)
        guard openMultipart(claims) != nil else { return }
        earlier = try records.part(number, of: multipartID)
        // A client may declare any length; one that no part may have is refused for that later.
        let bytes = min(length ?? 0, multipart?.maximumPartSize ?? 0) - (earlier?.size ?? 0)
        excess = bytes > 0 ? try policy.excess(claims, bytes: bytes, in: connection) : nil
    }
}
