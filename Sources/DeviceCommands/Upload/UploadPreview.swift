import Basics
import CommandLineInterface
import DeviceClient

extension UploadBatch {
    /// Prints what an upload would do with each file, and uploads nothing.
    func preview(_ files: [UploadSelection.File], unreadable: [FolderListing.Failure]) async throws -> ExitCode {
        var sent: [Int64] = []
        for item in try await items(files) {
            switch try await decision(item) {
            case .stored(let fileID): preview(item.file, .stored(fileID: fileID))
            case .deleted(let fileID): preview(item.file, .deleted(fileID: fileID))
            case .send, .startOver:
                sent.append(item.file.size)
                preview(item.file, continues: false)
            case .proceed:
                sent.append(item.file.size)
                preview(item.file, continues: !isRestarting)
            }
        }
        reporter.line("\(TextLayout.count(sent.count, "file")), \(ByteCount.text(sent.reduce(0, +)))")
        return unreadable.reduce(.success) { _, failure in
            reporter.fail(ClientFailure("\(failure)"), failure.path)
        }
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
