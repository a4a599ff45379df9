import Basics
import Database
import Synchronization
import Zip

/// The export of a library as an archive.
///
/// Steps that depend on each other: one snapshot of the library, the four documents, and the archive.
struct ArchiveExport: Sendable {
    /// A complete archive.
    struct Archive: Sendable {
        /// The name of the file for the client.
        let name: String
        let file: LibraryFile
    }

    private enum Step: Sendable, Hashable {
        case snapshot
        case document(LibraryDocument)
        case pack
    }

    /// The results of the steps.
    private struct Results: Sendable {
        var contents = LibraryContents()
        var documents: [LibraryDocument: LibraryFile] = [:]
        var archive: LibraryFile?
    }

    private static let plan = StepPlan<Step>(
        [(.snapshot, [])] + LibraryDocument.allCases.map { (.document($0), [.snapshot]) } + [
            (.pack, LibraryDocument.allCases.map { .document($0) })
        ], atOnce: 3)

    let reads: BackgroundReads
    let clock: any WallClock
    let files: LibraryFiles

    /// Makes the archive of a library.
    func make(of owner: Int64) async throws -> Archive {
        let now = clock.now()
        let results = Lock(Results())
        try await Self.plan.run { [reads, files] step in
            switch step {
            case .snapshot:
                let contents = try await reads.run {
                    try LibraryGenerations($0).records(of: owner)?.contents() ?? LibraryContents()
                }
                results.withLock { $0.contents = contents }
            case .document(let document):
                let contents = results.withLock { $0.contents }
                let file = try await Self.writing {
                    try DocumentWriter(try files.make()).write(document, of: contents)
                }
                results.withLock { $0.documents[document] = file }
            case .pack:
                let documents = results.withLock { $0.documents }
                let archive = try await Self.writing {
                    try ArchivePacker.pack(documents, at: now, into: try files.make())
                }
                results.withLock { $0.archive = archive }
            }
        }
        guard let file = results.withLock({ $0.archive }) else { preconditionFailure("the plan has the step pack") }
        return Archive(name: Self.name(at: now), file: file)
    }

    /// Returns e.g. `backup_2026-11-22_14:45:00.zip`.
    static func name(at time: UnixTime) -> String {
        let civil = CivilTime(time)
        return "backup_\(civil.date())_\(civil.clock()).zip"
    }

    private static func writing<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        do {
            return try await Worker.disk.run(body)
        } catch let failure as UnnamedFile.Failure {
            throw ArchiveFailure.file(failure)
        }
    }
}

/// Packs documents into an archive.
enum ArchivePacker {
    /// - Parameters:
    ///   - time: the time of all entries.
    ///   - archive: an empty file.
    static func pack(
        _ documents: [LibraryDocument: LibraryFile], at time: UnixTime, into archive: LibraryFile
    ) throws -> LibraryFile {
        var writer = ZipWriter()
        for document in LibraryDocument.allCases {
            guard let file = documents[document] else { continue }
            try archive.append(
                try writer.begin(document.fileName, time: time, method: .deflated, largestSize: file.size))
            var offset: Int64 = 0
            while offset < file.size {
                let piece = try file.piece(at: offset)
                offset += Int64(piece.count)
                try archive.append(piece.withUnsafeBytes { writer.compress($0) })
            }
            try archive.append(writer.end())
        }
        try archive.append(writer.finish())
        return archive
    }
}
