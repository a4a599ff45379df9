import Basics
import CLinux
import GRPCWire
import Glibc
import HTTPClient
import Proto
import RPC

/// Decides which files are sent, from the device's own record and the gateway's answers. An upload and its dry run use the same
/// decisions.
///
/// Few files are read for that: the record has the checksum of each file that did not change, and a file that the gateway has not under
/// this path and size is sent.
package struct UploadDecisions: Sendable {
    /// The number of files in one call, at most what the gateway accepts.
    private static let filesInCall = 1000

    let uploader: Uploader
    let delivered: DeliveredFiles
    /// Whether files are sent that were deleted at the gateway.
    let sendsDeleted: Bool

    package init(_ uploader: Uploader, _ delivered: DeliveredFiles, sendsDeleted: Bool) {
        self.uploader = uploader
        self.delivered = delivered
        self.sendsDeleted = sendsDeleted
    }

    /// Finds out what is known of the files without reading them, in their order.
    package func prepare(_ candidates: [UploadCandidate]) async throws -> [PreparedUpload] {
        let unfinished = Dictionary(try uploader.unfinishedSources().map { ($0.path, $0) }) { $1 }
        let confirmed = try delivered.confirmed(at: Set(candidates.map(\.path)))
        var files = candidates.map { local($0, unfinished[$0.path], confirmed[$0.path]) }
        let open = files.indices.filter { if case .lookup = files[$0].knowledge { true } else { false } }
        let lookups = try await lookups(open.map { files[$0] })
        let elsewhere = try sourcesElsewhere(of: zip(open, lookups).filter { files[$0].confirmed?.fileID != $1.fileID })
        for (index, lookup) in zip(open, lookups) {
            let others = elsewhere[lookup.fileID]?.subtracting([files[index].candidate.path]) ?? []
            files[index] = files[index].with(others.contains(where: Self.exists) ? .missing : lookup)
        }
        return files
    }

    /// Decides about a file, and reads it where its bytes decide.
    package func decide(_ file: PreparedUpload) async throws -> UploadDecision {
        switch file.knowledge {
        case .decided(let decision): return decision
        case .lookup(let lookup):
            // Another process may have uploaded it since.
            if let source = file.source, file.match != .same, delivered.match(source) == .same, lookup.state == .missing
            {
                return .stored(fileID: "")
            }
            guard lookup.state != .missing, let source = file.source else { return .send }
            if file.crc64 != nil || (lookup.crc64 == nil && file.match == .same) { return decision(lookup) }
            return try await compared(file, source, lookup)
        }
    }

    /// Returns the file at the absolute path if its bytes are those that the gateway confirmed.
    ///
    /// - Throws: `SourceKept` if they are not.
    package func confirmedSource(at path: String) async throws -> SourceIdentity {
        let source = try SourceIdentity(FileReader(path))
        guard let crc64 = await source.contentChecksum(followsLinks: true), delivered.contains(source, crc64: crc64)
        else { throw SourceKept(message: "\(path) was not deleted: its bytes are not those that the gateway has") }
        return source
    }

    // MARK: Steps

    /// Returns the file with the knowledge of the device itself.
    private func local(
        _ candidate: UploadCandidate, _ unfinished: SourceIdentity?, _ confirmed: DeliveredFiles.Confirmed?
    ) -> PreparedUpload {
        var status = stat()
        let isFile = stat(candidate.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let source = isFile ? SourceIdentity(path: candidate.path, status) : nil
        let decision: UploadDecision? =
            if let unfinished {
                isOutdated(unfinished, source) ? .startOver : .proceed
            } else {
                source == nil ? .send : nil
            }
        return PreparedUpload(
            candidate: candidate, source: source, confirmed: confirmed,
            knowledge: decision.map { .decided($0) } ?? .lookup(.missing))
    }

    /// Whether an unfinished upload can never be completed, because its file changed before all bytes were stored.
    private func isOutdated(_ unfinished: SourceIdentity, _ source: SourceIdentity?) -> Bool {
        guard let source, unfinished.change(to: source) != nil else { return false }
        return !uploader.hasStored(unfinished.path)
    }

    /// Asks the gateway for files.
    private func lookups(_ files: [PreparedUpload]) async throws -> [StoredLookup] {
        var lookups: [StoredLookup] = []
        for start in stride(from: 0, to: files.count, by: Self.filesInCall) {
            let some = files[start..<min(start + Self.filesInCall, files.count)]
            guard let reply = try await uploader.find(some.map { LocalFile($0, crc64: $0.crc64) }) else {
                // A gateway of an earlier version: only the record of this device is known.
                return files.map(Self.recorded)
            }
            guard reply.files.count == some.count else {
                throw TransferFailure.unusable("the gateway's reply to FindStoredFiles has another number of files")
            }
            lookups += zip(reply.files, some).map {
                Self.lookup($0, about: $1, deletionsSince: reply.deletionsKnownSinceUnix)
            }
        }
        return lookups
    }

    /// The paths of this device's files that the gateway named, by file id: a file of equal bytes at another path is another file.
    private func sourcesElsewhere(of lookups: [(Int, StoredLookup)]) throws -> [String: Set<String>] {
        try delivered.paths(ofFiles: Set(lookups.filter { $1.state != .missing }.map(\.1.fileID)).subtracting([""]))
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private static func recorded(_ file: PreparedUpload) -> StoredLookup {
        StoredLookup(
            state: file.match == .none ? .missing : .stored, fileID: file.confirmed?.fileID ?? "",
            crc64: file.confirmed?.crc64, verifiedAt: file.confirmed?.at ?? 0)
    }

    private static func lookup(
        _ found: StoredFileInfo, about file: PreparedUpload, deletionsSince: Int64
    ) -> StoredLookup {
        switch found.status {
        case .stored, .deleted:
            return StoredLookup(
                state: found.status == .stored ? .stored : .deleted, fileID: found.fileID,
                crc64: UInt64(found.crc64Ecma), verifiedAt: found.verifiedAtUnix)
        case .unknown where file.match != .none:
            // Confirmed, and deleted so long ago that the gateway does not know it any more. What it confirmed later than that is lost.
            guard let confirmed = file.confirmed, confirmed.at < deletionsSince else { fallthrough }
            return StoredLookup(
                state: .deleted, fileID: confirmed.fileID, crc64: confirmed.crc64, verifiedAt: confirmed.at)
        default: return .missing
        }
    }

    /// Decides by the bytes of the file.
    private func compared(
        _ file: PreparedUpload, _ source: SourceIdentity, _ lookup: StoredLookup
    ) async throws -> UploadDecision {
        // A file that changes meanwhile is reported by its upload.
        guard let crc64 = await source.contentChecksum(followsLinks: true) else { return .send }
        var lookup = lookup
        if lookup.crc64 != crc64 {
            // The newest file of this path has other bytes; an older one may have these.
            let questions = [LocalFile(file, crc64: crc64)]
            guard let found = try await uploader.find(questions)?.files.first else { return .send }
            lookup = Self.lookup(found, about: file, deletionsSince: .min)
        }
        guard lookup.state != .missing else { return .send }
        // From now on it is known without being read.
        try delivered.add(
            source, crc64: crc64, fileID: lookup.fileID, at: UnixTime(seconds: lookup.verifiedAt))
        return decision(lookup)
    }

    private func decision(_ lookup: StoredLookup) -> UploadDecision {
        switch lookup.state {
        case .stored: .stored(fileID: lookup.fileID)
        case .deleted: sendsDeleted ? .send : .deleted(fileID: lookup.fileID)
        case .missing: .send
        }
    }
}

extension PreparedUpload {
    fileprivate func with(_ lookup: StoredLookup) -> PreparedUpload {
        PreparedUpload(candidate: candidate, source: source, confirmed: confirmed, knowledge: .lookup(lookup))
    }
}

extension LocalFile {
    fileprivate init(_ file: PreparedUpload, crc64: UInt64?) {
        self.init(
            sizeBytes: file.source?.size ?? 0, crc64Ecma: crc64.map { String($0) } ?? "",
            fileName: FileLabels.escaped(Path.name(of: file.candidate.path)),
            relativePath: file.candidate.relativePath.flatMap(FileLabels.path) ?? "",
            fileID: file.match == .none ? "" : file.confirmed?.fileID ?? "")
    }
}

extension Uploader {
    /// Asks the gateway for files of this device.
    ///
    /// - Returns: `nil` if the gateway is of a version without this call.
    func find(_ files: [LocalFile]) async throws -> FindStoredFilesResponse? {
        do {
            return try await service.findStoredFiles(FindStoredFilesRequest(files: files))
        } catch let failure as CallFailure where failure.status.code == .unimplemented {
            return nil
        }
    }
}
