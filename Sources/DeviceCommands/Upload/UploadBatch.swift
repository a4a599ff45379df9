import Basics
import CommandLineInterface
import DeviceClient
import Foundation
import HTTPClient
import StoreClient

/// Uploads files, several at once, and reports the result of each and of all.
struct UploadBatch: Sendable {
    let uploader: Uploader
    let beginning: Uploader.Beginning
    let tags: [String: String]
    let templates: TagTemplates
    let options: TransferOptions
    let reporter: TransferReporter
    /// The name of standard input, whose file in the device's folder is no name for people.
    var inputName: String?

    /// The results so far.
    struct Tally {
        var worst = ExitCode.success
        var uploaded = 0
        /// The uploaded files that had been uploaded before in the same state.
        var repeated = 0
        var bytes: Int64 = 0
        var skipped = 0
        var failed = 0
        /// Whether no further upload is begun.
        var isOver = false
    }

    enum Result: Sendable {
        case uploaded(bytes: Int64, isRepeated: Bool)
        case skipped
        case failed(ExitCode)
    }

    /// - Parameter delivered: the record in which files are looked up that are to be skipped.
    func run(_ files: [UploadSelection.File], delivered: DeliveredFiles?) async -> ExitCode {
        let start = ContinuousClock.now
        reporter.expect(files: files.count, bytes: files.reduce(0) { $0 + $1.size })
        var rest = files[...]
        let tally = await withTaskGroup(of: Result.self) { group in
            var tally = Tally()
            func begin() {
                guard !tally.isOver, let file = rest.popFirst() else { return }
                group.addTask { await upload(file, delivered) }
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
        if files.count > 1 { summarize(tally, of: files.count, in: ContinuousClock.now - start) }
        if tally.repeated > 0 {
            reporter.line(
                """
                \(TextLayout.count(tally.repeated, "file")) had been uploaded before; --skip-existing leaves such files out
                """)
        }
        return tally.worst
    }

    private func upload(_ file: UploadSelection.File, _ delivered: DeliveredFiles?) async -> Result {
        let start = ContinuousClock.now
        do {
            if let delivered, try await isDelivered(file, in: delivered) {
                reporter.skip(file.size)
                reporter.event("skipped", [("file", .string(file.path)), ("size_bytes", .number(file.size))])
                reporter.line("skipped \(file.path): this device uploaded it before")
                return .skipped
            }
            let isRepeated = isKnown(file)
            let own = templates.tags(of: file.relativePath, size: file.size, modified: file.modified)
            let outcome = try await uploader.upload(
                file.path, relativePath: file.isInFolder ? file.relativePath : nil, tags: tags.merging(own) { $1 },
                beginning, notice: { reporter.report($0, of: file.path) })
            reporter.report(outcome, of: file.path, shownAs: inputName, in: ContinuousClock.now - start)
            if options.deletesDelivered { try delete(outcome.source, named: file.path) }
            return .uploaded(bytes: outcome.source.size, isRepeated: isRepeated)
        } catch {
            reporter.end(file.path)
            let hint = "data-gateway upload --resume continues the upload"
            let failure = ClientFailure(error, file: file.path, hint: hint)
            return .failed(reporter.fail(failure, file.path))
        }
    }

    /// Whether the device uploaded the file before, as far as the record tells without its bytes.
    private func isKnown(_ file: UploadSelection.File) -> Bool {
        var status = stat()
        let path = URL(fileURLWithPath: file.path).standardizedFileURL.path
        return stat(path, &status) == 0 && uploader.delivered?.contains(SourceIdentity(path: path, status)) == true
    }

    private func isDelivered(_ file: UploadSelection.File, in delivered: DeliveredFiles) async throws -> Bool {
        let reader = try FileReader(URL(fileURLWithPath: file.path).standardizedFileURL.path)
        let source = try SourceIdentity(reader)
        if delivered.contains(source) { return true }
        guard delivered.mayContain(size: source.size) else { return false }
        let digest = try await DiskWork.run { try reader.digest(of: 0..<source.size)?.crc64 }
        guard let digest else { return false }
        return delivered.contains(size: source.size, crc64: digest)
    }

    private func delete(_ source: SourceIdentity, named file: String) throws {
        try source.deleteFile()
        reporter.event("deleted", [("file", .string(source.path))])
        reporter.line("deleted \(file)")
    }

    private func summarize(_ tally: Tally, of count: Int, in elapsed: Duration) {
        let left = count - tally.uploaded - tally.skipped - tally.failed
        reporter.event(
            "summary",
            [
                ("uploaded_files", .number(Int64(tally.uploaded))), ("uploaded_bytes", .number(tally.bytes)),
                ("skipped_files", .number(Int64(tally.skipped))), ("failed_files", .number(Int64(tally.failed))),
                ("remaining_files", .number(Int64(left))),
            ])
        let rate = Double(tally.bytes) / max(0.001, elapsed / .seconds(1))
        var text =
            "\(TextLayout.count(tally.uploaded, "file")) uploaded: \(ByteCount.text(tally.bytes)) in \(elapsed.clock)"
        if tally.bytes > 0 { text += ", \(ByteCount.text(rate))/s" }
        if tally.skipped > 0 { text += ", \(tally.skipped) skipped" }
        if tally.failed > 0 { text += ", \(tally.failed) failed" }
        if left > 0 { text += ", \(left) not tried" }
        reporter.line(text)
    }
}

extension UploadBatch.Tally {
    mutating func count(_ result: UploadBatch.Result) {
        switch result {
        case .uploaded(let size, let isRepeated):
            uploaded += 1
            repeated += isRepeated ? 1 : 0
            bytes += size
        case .skipped: skipped += 1
        case .failed(let code):
            failed += 1
            if worst != .unreachable { worst = code }
        }
    }
}
