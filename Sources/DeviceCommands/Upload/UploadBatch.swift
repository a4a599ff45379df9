import Basics
import CommandLineInterface
import DeviceClient
import HTTPClient
import JSON

/// Uploads files, several at once, and reports the result of each and of all.
struct UploadBatch: Sendable {
    let uploader: Uploader
    /// Decides which files are sent; `nil` = every file is sent, or its upload is continued.
    let decisions: UploadDecisions?
    /// Whether unfinished uploads are aborted, and their files sent from the beginning.
    let isRestarting: Bool
    let tags: [String: String]
    let templates: TagTemplates
    let options: TransferOptions
    let reporter: TransferReporter
    /// The name of standard input, whose file in the device's folder is no name for people.
    var inputName: String?

    /// Whether the files are those of all unfinished uploads.
    var continuesAll: Bool { decisions == nil && inputName == nil }

    /// A selected file, and what is known of it.
    struct Item: Sendable {
        let file: UploadSelection.File
        let prepared: PreparedUpload?
        /// Whether a line is written for the file if it is not sent: in a folder with others it is only counted.
        let isReported: Bool
    }

    /// Finds out what is known of the files, in their order.
    func items(_ files: [UploadSelection.File]) async throws -> [Item] {
        guard let decisions else { return files.map { Item(file: $0, prepared: nil, isReported: true) } }
        let prepared = try await decisions.prepare(files.map(\.candidate))
        return zip(files, prepared).map {
            Item(file: $0, prepared: $1, isReported: files.count == 1 || !$0.isInFolder)
        }
    }

    /// Decides about a file.
    func decision(_ item: Item) async throws -> UploadDecision {
        guard let decisions, let prepared = item.prepared else { return .proceed }
        return try await decisions.decide(prepared)
    }

    /// - Parameter unreadable: directories below the selected ones with files that cannot be uploaded.
    func run(
        _ files: [UploadSelection.File], unreadable: [FolderListing.Failure] = []
    ) async throws -> ExitCode {
        let start = ContinuousClock.now
        var rest = try await items(files)[...]
        reporter.expect(files: files.count, bytes: files.reduce(0) { $0 + $1.size })
        let tally = await withTaskGroup(of: UploadTally.Result.self) { group in
            var tally = UploadTally()
            for failure in unreadable {
                _ = reporter.fail(ClientFailure("\(failure)"), failure.path)
                tally.count(unreadable: failure)
            }
            func begin() {
                guard !tally.isOver, let item = rest.popFirst() else { return }
                group.addTask { await result(of: item) }
            }
            for _ in 0..<min(Int(options.fileCount), files.count) { begin() }
            while let result = await group.next() {
                tally.count(result)
                // An error that concerns all files ends the batch.
                if tally.worst == .unreachable || Task.isCancelled { tally.isOver = true }
                begin()
            }
            return tally
        }
        let unread = unreadable.reduce(0) { $0 + max(1, $1.names.count) }
        if files.count + unread > 1 {
            tally.report(of: files.count, unreadable: unread, in: ContinuousClock.now - start, reporter)
        }
        return tally.worst
    }

    private func result(of item: Item) async -> UploadTally.Result {
        let file = item.file
        do {
            switch try await decision(item) {
            case .stored(let fileID):
                skip(item, .stored(fileID: fileID))
                if options.deletesDelivered { try await deleteStored(file) }
                return .stored
            case .deleted(let fileID):
                skip(item, .deleted(fileID: fileID))
                return .deleted
            case .startOver:
                reporter.warning("\(file.path) changed after its upload began: sending it from the beginning")
                return .uploaded(bytes: try await upload(file, .restarting))
            case .proceed:
                return .uploaded(bytes: try await finish(file))
            case .send:
                return .uploaded(bytes: try await upload(file, isRestarting ? .restarting : .resuming))
            }
        } catch let failure as DeviceFolder.Failure where failure.isOfAnotherProcess && file.isInFolder {
            reporter.end(file.path)
            skip(item, .busy)
            return .busy
        } catch {
            reporter.end(file.path)
            let failure = await failure(error, of: file)
            return .failed(reporter.fail(failure, file.path), message: failure.message)
        }
    }

    /// Returns what people get to know of an error. Where all unfinished uploads are continued, that of a removed file is given up:
    /// it would fail each time.
    private func failure(_ error: any Error, of file: UploadSelection.File) async -> ClientFailure {
        do {
            if continuesAll, (error as? FileReader.Failure)?.isMissing == true,
                try await uploader.giveUpIfRemoved(file.candidate.path)
            {
                return ClientFailure("\(file.path) was removed before it was uploaded, and its upload was aborted")
            }
            throw error
        } catch {
            let command = inputName == nil ? "the same command" : "data-gateway upload --resume"
            return ClientFailure(error, file: file.path, hint: "\(command) continues the upload")
        }
    }

    /// Continues an unfinished upload. What was written to the file after all its bytes were stored is sent as another file.
    private func finish(_ file: UploadSelection.File) async throws -> Int64 {
        let former = try? SourceIdentity(FileReader(file.candidate.path))
        let bytes = try await upload(file, isRestarting ? .restarting : .resuming) { outcome in
            guard let former, !isRestarting else { return true }
            return outcome.source.change(to: former) == nil
        }
        guard let bytes else { return try await upload(file, .resuming) }
        return bytes
    }

    private func upload(_ file: UploadSelection.File, _ beginning: Uploader.Beginning) async throws -> Int64 {
        try await upload(file, beginning) { _ in true } ?? 0
    }

    /// - Parameter isCurrent: whether the outcome is that of the file as it is now.
    /// - Returns: the file's size; `nil` if it is not current.
    private func upload(
        _ file: UploadSelection.File, _ beginning: Uploader.Beginning, isCurrent: (Uploader.Outcome) -> Bool
    ) async throws -> Int64? {
        let start = ContinuousClock.now
        let own = templates.tags(of: file.relativePath, size: file.size, modified: file.modified)
        let outcome = try await uploader.upload(
            file.path, relativePath: file.isInFolder ? file.relativePath : nil, tags: tags.merging(own) { $1 },
            beginning, notice: { reporter.report($0, of: file.path) })
        reporter.report(outcome, of: file.path, shownAs: inputName, in: ContinuousClock.now - start)
        if let change = FileLabels.change(of: inputName ?? file.path, relativePath: file.candidate.relativePath) {
            reporter.line(change)
        }
        guard isCurrent(outcome) else { return nil }
        if options.deletesDelivered { try delete(outcome.source, named: file.path) }
        return outcome.source.size
    }

    private func skip(_ item: Item, _ reason: SkipReason) {
        reporter.skip(item.file.size)
        reporter.report(item.file, reason, asLine: item.isReported)
    }

    /// Deletes a file that an earlier run uploaded, if its bytes are those that the gateway has.
    private func deleteStored(_ file: UploadSelection.File) async throws {
        guard let source = try await decisions?.confirmedSource(at: file.candidate.path) else { return }
        try delete(source, named: file.path)
    }

    private func delete(_ source: SourceIdentity, named file: String) throws {
        try source.deleteFile()
        reporter.event("deleted", [("file", .string(source.path))])
        reporter.line("deleted \(file)")
    }
}
