package import Basics
import Checksums
import Crypto
package import Database
package import ObjectStore
package import StoreClient

/// The bucket of a stopped gateway, for repairs.
package final class OfflineBucket: OfflineObjects {
    private let bucket: SegmentBucket
    /// `nil` = nobody else uses the bucket.
    private let owner: PrefixOwner?
    private let register: UploadRegister
    private let clock: any WallClock

    /// - Parameters:
    ///   - report: of the examination of the bucket.
    ///   - owner: the right to the prefix; `nil` = nobody else uses the bucket.
    package init(
        _ configuration: S3EngineConfiguration, _ report: BucketReport, credentials: any CredentialSource,
        owner: PrefixOwner?, register: UploadRegister, clock: any WallClock
    ) {
        bucket = SegmentBucket(configuration, report, credentials: credentials, clock: clock)
        self.owner = owner
        self.register = register
        self.clock = clock
    }

    // MARK: Examination

    package func belongs(to connection: ReadConnection) throws -> Bool {
        guard let recorded = try bucket.identity() else { return true }
        guard let own = try StoreRecords(connection).history(), own.storeID == recorded.storeID else { return false }
        return !recorded.compare(own).removalsAreOff
    }

    /// An older database needs no other preparation, unlike that of another store.
    package func permitsReadoption(to connection: ReadConnection) throws -> Bool { try isStore(of: connection) }

    package func compare(
        with connection: ReadConnection, checksums: Bool, _ report: (StoreFinding) throws -> Void
    ) throws {
        let records = StoreRecords(connection)
        let storeID = try records.history()?.storeID ?? ""
        let judge = SegmentJudge(storeID: storeID, register: register)
        var incomplete: Set<String> = []
        var first = ""
        try bucket.forEachPage(of: SegmentBucket.data) { page, last in
            try incomplete.formUnion(Self.incompleteLayouts(page, after: first, through: last, records))
            let ids = page.map(\.id)
            let referred = try records.referredSegments(among: ids)
            let known = try referred.union(records.quarantinedIDs(after: first, through: last))
            for (id, object) in page where !known.contains(id) {
                guard let description = try bucket.head(id) else { continue }
                let label = UnreferredSegment(id, object, description).label
                switch try judge.judge(label, connection) {
                case .foreign: break
                case .inProgress, .ended: try report(.stray(fileID: id, size: object.size))
                case .uncertain: try report(.unknown(fileID: id, size: object.size))
                }
            }
            first = last ?? first
        }
        try reportMissing(incomplete, records, report)
        if checksums { try compareBytes(connection, without: incomplete, report) }
    }

    /// Returns the layouts with segments that a page lacks, or that have another size there.
    private static func incompleteLayouts(
        _ page: [(id: String, object: S3Listed)], after first: String, through last: String?,
        _ records: StoreRecords<ReadConnection>
    ) throws -> Set<String> {
        let sizes = Dictionary(page.map { ($0.id, $0.object.size) }) { size, _ in size }
        return Set(
            try records.segments(after: first, through: last).filter { sizes[$0.id] != $0.size }.map(\.layoutID))
    }

    private func reportMissing(
        _ layouts: Set<String>, _ records: StoreRecords<ReadConnection>, _ report: (StoreFinding) throws -> Void
    ) throws {
        for layoutID in layouts.sorted() {
            let objects = try records.objects(layout: layoutID)
            for file in objects { try report(.missing(file)) }
            if objects.isEmpty { try report(.uploadWithoutFile(fileID: layoutID)) }
        }
        for file in try records.objectsWithoutLayout() { try report(.missing(file)) }
    }

    private func compareBytes(
        _ connection: ReadConnection, without layouts: Set<String>, _ report: (StoreFinding) throws -> Void
    ) throws {
        let records = StoreRecords(connection)
        try StoredFile.forEach(in: connection) { file in
            guard let layoutID = try records.layout(of: file.fileID), !layouts.contains(layoutID) else { return }
            let segments = try records.segments(of: layoutID).map(\.segment)
            if try !holds(file, segments) { try report(.damaged(file)) }
        }
    }

    /// Whether segments are in the bucket with the stored bytes, all of which are read.
    private func holds(_ file: StoredFile, _ segments: [Segment]) throws -> Bool {
        let (_, reading) = try OpenSegments(longestReading: .zero).read { segments }
        let bytes = SegmentedBytes(segments, in: bucket, reading)
        guard bytes.size() == file.size else { return false }
        var crc64 = CRC64()
        do {
            try bytes.forEachPiece { crc64.update($0) }
        } catch StorageFailure.unreadable {
            return false
        } catch StorageFailure.missing {
            return false
        }
        return crc64.value == file.crc64
    }

    package func quarantined(_ connection: ReadConnection) throws -> [QuarantinedFile] {
        var found: [QuarantinedFile] = []
        try bucket.forEachPage(of: SegmentBucket.quarantine) { page, _ in
            for (id, object) in page {
                let size = try document(of: id)?.size ?? 0
                found.append(
                    QuarantinedFile(fileID: id, size: size, modifiedAt: object.modifiedAt ?? UnixTime(seconds: 0)))
            }
        }
        let files = Set(found.map(\.fileID))
        var last = ""
        while true {
            let page = try StoreRecords(connection).quarantined(after: last, limit: 1000)
            guard let end = page.last else { break }
            last = end.id
            for segment in page where try !files.contains(segment.id) && bucket.head(segment.id) != nil {
                found.append(
                    QuarantinedFile(fileID: segment.id, size: segment.size, modifiedAt: segment.writtenAt))
            }
        }
        return found.sorted { $0.fileID < $1.fileID }
    }

    package func lacking(_ connection: ReadConnection) throws -> [String] {
        var found: [String] = []
        try FactsComparison(bucket: bucket, register: register).forEachLacking(in: connection) { found += $0 }
        return found
    }

    package func facts(of fileID: String) -> [UInt8]? { (try? document(of: fileID))??.facts }

    package func holdsFile(_ fileID: String) throws -> Bool { try document(of: fileID) != nil }

    /// Returns the facts of a file in the list or in quarantine.
    private func document(of fileID: String) throws -> FactsDocument? {
        for kind in [SegmentBucket.facts, SegmentBucket.quarantine] {
            do {
                return try bucket.facts(of: fileID, kind: kind)
            } catch StorageFailure.missing {
                continue
            }
        }
        return nil
    }

    // MARK: Repairs

    package func reconcile(
        _ database: Database, isListed: (ReadConnection, String) throws -> Bool
    ) throws -> Int? {
        guard try isOfStore(database) else { return nil }
        let lacking = try database.readBlocking { try self.lacking($0) }
        for fileID in lacking {
            try requireOwnership()
            try bucket.write(try bucket.facts(of: fileID), of: fileID, kind: SegmentBucket.quarantine)
            try remove([bucket.factsKey(of: fileID)])
        }
        try accept(database)
        return lacking.count
    }

    package func readopt(
        _ file: StoredFile, isQuarantined: Bool, _ database: Database,
        _ body: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        guard let document = try document(of: file.fileID) else { throw StorageFailure.missing }
        guard try holds(file, document.segments.map(\.segment)) else { throw ReadoptionError.isDamaged }
        try requireOwnership()
        // Before the rows, so that the facts are in the list whenever the object is.
        if isQuarantined { try bucket.write(document, of: file.fileID) }
        try database.writeBlocking { connection in
            try StoreRecords(connection).adopt(file.fileID, document.segments)
            try body(connection)
        }
        if isQuarantined { try remove([bucket.key(SegmentBucket.quarantine, of: file.fileID)]) }
    }

    package func finishReadoption(_ database: Database) throws {
        guard try isOfStore(database), try database.readBlocking({ try lacking($0) }).isEmpty else { return }
        try restoreLayouts(database)
        try accept(database)
    }

    /// Gives objects whose segments are gone the layout in their facts: it was merged after an older database was made.
    private func restoreLayouts(_ database: Database) throws {
        var incomplete: Set<String> = []
        var first = ""
        try bucket.forEachPage(of: SegmentBucket.data) { page, last in
            try incomplete.formUnion(
                database.readBlocking { [first] in
                    try Self.incompleteLayouts(page, after: first, through: last, StoreRecords($0))
                })
            first = last ?? first
        }
        for layoutID in incomplete.sorted() {
            for file in try database.readBlocking({ try StoreRecords($0).objects(layout: layoutID) }) {
                guard let segments = try document(of: file.fileID)?.segments,
                    try holds(file, segments.map(\.segment))
                else { continue }
                try database.writeBlocking { try StoreRecords($0).adopt(file.fileID, segments) }
            }
        }
    }

    package func deleteQuarantined(_ fileID: String, _ database: () throws -> Database) throws -> Bool {
        let database = try database()
        let isQuarantined = try database.readBlocking { connection in
            try StoreRecords(connection).isQuarantined(fileID) && !StoreRecords(connection).isSegment(fileID)
        }
        var segmentIDs = isQuarantined ? [fileID] : []
        let key = bucket.key(SegmentBucket.quarantine, of: fileID)
        let facts = try? bucket.facts(of: fileID, kind: SegmentBucket.quarantine)
        if let facts {
            let ids = facts.segments.map(\.segment.id)
            let referred = try database.readBlocking { connection in
                try ids.filter { try StoreRecords(connection).isSegment($0) }
            }
            segmentIDs = Array(Set(segmentIDs + ids).subtracting(referred))
        }
        guard facts != nil || isQuarantined else { return false }
        try requireOwnership()
        for start in stride(from: 0, to: segmentIDs.count, by: S3Client.maximumDeletions) {
            try remove(segmentIDs[start...].prefix(S3Client.maximumDeletions).map(bucket.key))
        }
        if facts != nil { try remove([key]) }
        try database.writeBlocking { [segmentIDs] connection in
            for id in segmentIDs { try StoreRecords(connection).leaveQuarantine(id) }
        }
        return true
    }

    private func isOfStore(_ database: Database) throws -> Bool {
        try database.readBlocking { try isStore(of: $0) }
    }

    private func isStore(of connection: ReadConnection) throws -> Bool {
        guard let own = try StoreRecords(connection).history() else { return false }
        return try bucket.identity().map { $0.storeID == own.storeID } ?? true
    }

    /// Records that the database and the bucket belong together from now on.
    private func accept(_ database: Database) throws {
        let own = try database.writeBlocking { connection in
            let records = StoreRecords(connection)
            try records.setHistory(BucketIdentity.newID())
            try records.advancePosition()
            return try records.history()
        }
        guard let own, let history = own.id else { throw StorageFailure.missing }
        try requireOwnership()
        try bucket.write(
            BucketIdentity(
                storeID: own.storeID, history: history, position: own.position, at: clock.now(), isClean: false))
    }

    private func remove(_ keys: [String]) throws {
        guard try bucket.remove(keys).isEmpty else {
            throw StorageFailure.engine("the object engine removed not all keys")
        }
    }

    private func requireOwnership() throws {
        guard let owner else { return }
        guard try BlockingCall.run({ await owner.confirm() }) else {
            throw StorageFailure.engine("the prefix of the bucket is no longer this process's")
        }
    }
}
