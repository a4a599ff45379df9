import AppProto
import Basics
import CommonProto
import Database
import GRPCWire
import RPC
import Synchronization

/// The import of an archive into a library, all of it or nothing.
///
/// The archive is received into a file. Then follow steps that depend on each other: unpacking, the four documents, the relations
/// between their records, and the writes, of which the last one makes the result visible.
struct ArchiveImport: Sendable {
    private enum Step: Sendable, Hashable {
        case unpack
        case document(LibraryDocument)
        case relate
        case store
    }

    /// The results of the steps.
    private struct Results: Sendable {
        var documents: [LibraryDocument: [UInt8]] = [:]
        var contents = LibraryContents()
        var relations: LibraryRelations?
    }

    private static let plan = StepPlan<Step>(
        [(.unpack, [])] + LibraryDocument.allCases.map { (.document($0), [.unpack]) } + [
            (.relate, LibraryDocument.allCases.map { .document($0) }), (.store, [.relate]),
        ], atOnce: LibraryDocument.allCases.count)

    let staging: LibraryStaging
    let files: LibraryFiles

    /// Receives an archive into a file.
    ///
    /// - Throws: INVALID_ARGUMENT for an archive above the limit.
    func receive(_ requests: RequestStream<HttpBody>) async throws -> LibraryFile {
        let file = try await storing { [files] in try files.make() }
        for try await request in requests {
            guard file.size + Int64(request.data.count) <= LibraryLimits.archive else {
                throw ArchiveFailure.archive("备份最大为 \(LibraryLimits.archive >> 20) MiB")
            }
            try await storing { try file.append(request.data) }
        }
        return file
    }

    /// Receives the rest of a body that is not needed.
    func discard(_ requests: RequestStream<HttpBody>) async {
        var count: Int64 = 0
        do {
            for try await request in requests {
                count += Int64(request.data.count)
                if count > LibraryLimits.archive { return }
            }
        } catch {
            // The client has gone: nobody reads the response.
        }
    }

    /// Stores what a received archive has.
    ///
    /// - Throws: INVALID_ARGUMENT for an archive that violates a rule.
    func store(_ file: LibraryFile, of owner: Int64) async throws {
        let results = Lock(Results())
        try await Self.plan.run { [staging] step in
            switch step {
            case .unpack:
                let documents = try await Worker.disk.run { try ReceivedArchive.documents(of: file) }
                results.withLock { $0.documents = documents }
            case .document(let document):
                let bytes = results.withLock { $0.documents.removeValue(forKey: document) } ?? []
                let read = try await Worker.disk.run { try document.read(bytes) }
                try results.withLock { results throws(ArchiveFailure) in
                    read(&results.contents)
                    try LibraryRules.checkTotals(results.contents)
                }
            case .relate:
                let contents = results.withLock { $0.contents }
                let relations = LibraryRelations(contents)
                results.withLock { $0.relations = relations }
            case .store:
                let (contents, relations) = results.withLock { ($0.contents, $0.relations) }
                try await Self.write(contents, relations ?? LibraryRelations(contents), of: owner, staging)
            }
        }
    }

    private static func write(
        _ contents: LibraryContents, _ relations: LibraryRelations, of owner: Int64, _ staging: LibraryStaging
    ) async throws {
        do {
            try await staging.add(contents, relations, toLibraryOf: owner)
        } catch let error as ArchiveFailure {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ArchiveFailure.storage(error)
        }
    }

    private func storing<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        do {
            return try await Worker.disk.run(body)
        } catch {
            throw ArchiveFailure.storage(error)
        }
    }
}
