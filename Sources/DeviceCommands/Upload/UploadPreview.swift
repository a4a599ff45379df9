import Basics
import CommandLineInterface
import DeviceClient
import HTTPClient
import JSON

extension UploadBatch {
    /// Prints what an upload would do with each file, and uploads nothing.
    func preview(_ files: [UploadSelection.File], unreadable: [FolderListing.Failure]) async throws -> ExitCode {
        var tally = UploadTally()
        for item in try await items(files) { tally.count(try await preview(item)) }
        for failure in unreadable {
            _ = reporter.fail(ClientFailure("\(failure)"), failure.path)
            tally.count(unreadable: failure)
        }
        reporter.line(tally.plan)
        return tally.worst
    }

    /// - Returns: the result that the upload would have.
    private func preview(_ item: Item) async throws -> UploadTally.Result {
        let file = item.file
        switch try await decision(item) {
        case .stored(let fileID):
            preview(file, .stored(fileID: fileID))
            if options.deletesDelivered { previewDeletion(file) }
            return .stored
        case .deleted(let fileID):
            preview(file, .deleted(fileID: fileID))
            return .deleted
        case .proceed:
            if continuesAll, try uploader.isLost(file.candidate.path) {
                return previewFailure(ClientFailure("\(file.path) was removed: its upload would be aborted"), of: file)
            }
            preview(file, continues: !isRestarting)
        case .startOver: preview(file, continues: false)
        case .send:
            do {
                _ = try SourceIdentity(FileReader(file.candidate.path))
            } catch {
                return previewFailure(ClientFailure(error, file: file.path, hint: "try again later"), of: file)
            }
            preview(file, continues: false)
        }
        if options.deletesDelivered { previewDeletion(file) }
        return .uploaded(bytes: file.size)
    }

    private func previewFailure(_ failure: ClientFailure, of file: UploadSelection.File) -> UploadTally.Result {
        .failed(reporter.fail(failure, file.path), message: failure.message)
    }

    private func previewDeletion(_ file: UploadSelection.File) {
        reporter.event("deletion_planned", [("file", .string(file.path))])
        reporter.line("would delete \(file.path) after the gateway verified it")
    }

    private func preview(_ file: UploadSelection.File, continues: Bool) {
        let own = templates.tags(of: file.relativePath, size: file.size, modified: file.modified)
        let all = tags.merging(own) { $1 }
        reporter.event(
            "planned",
            [
                ("file", .string(file.path)), ("size_bytes", .number(file.size)),
                (
                    "tags",
                    .object(
                        all.sorted { $0.key < $1.key }.map {
                            JSONValue.Member(name: $0.key, value: .string($0.value))
                        })
                ), ("is_continued", .bool(continues)),
                ("stored_name", .string(FileLabels.storedName(ofFile: file.path) ?? "")),
            ])
        let shown = all.isEmpty ? "" : ", " + TagTemplates.text(of: all)
        reporter.line(
            "would \(continues ? "continue" : "upload") \(file.path): \(ByteCount.text(file.size))\(shown)")
        if let change = FileLabels.change(of: file.path, relativePath: file.candidate.relativePath) {
            reporter.line("  \(change)")
        }
    }

    private func preview(_ file: UploadSelection.File, _ reason: SkipReason) {
        reporter.report(file, reason, asLine: false)
        reporter.line("would skip \(file.path): \(reason.text)")
    }
}
