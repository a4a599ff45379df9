import Basics
import CommandLineInterface
import JSON

/// The results of the files of an upload so far.
struct UploadTally {
    enum Result: Sendable {
        case uploaded(bytes: Int64)
        /// The gateway has the file.
        case stored
        /// The gateway had the file.
        case deleted
        /// Another process is uploading the file.
        case busy
        /// - Parameter message: a sentence without a full stop that names the file.
        case failed(ExitCode, message: String)
    }

    private(set) var worst = ExitCode.success
    /// Whether no further upload is begun.
    var isOver = false
    private var uploaded = 0
    private var bytes: Int64 = 0
    private var stored = 0
    private var deleted = 0
    private var busy = 0
    private var failed = FailedFiles()

    mutating func count(_ result: Result) {
        switch result {
        case .uploaded(let size):
            uploaded += 1
            bytes += size
        case .stored: stored += 1
        case .deleted: deleted += 1
        case .busy: busy += 1
        case .failed(let code, let message):
            failed.add(message)
            if worst != .unreachable { worst = code }
        }
    }

    /// Counts files that cannot be uploaded, because their names or their directory cannot be read.
    mutating func count(unreadable: FolderListing.Failure) {
        failed.add("\(unreadable)", files: max(1, unreadable.names.count))
        if worst != .unreachable { worst = .refused }
    }

    /// Reports the sums.
    ///
    /// - Parameter count: the number of all selected files.
    func report(of count: Int, unreadable: Int, in elapsed: Duration, _ reporter: TransferReporter) {
        let skipped = stored + deleted + busy
        let left = count + unreadable - uploaded - skipped - failed.count
        reporter.event(
            "summary",
            [
                ("uploaded_files", .number(Int64(uploaded))), ("uploaded_bytes", .number(bytes)),
                ("skipped_files", .number(Int64(skipped))), ("stored_files", .number(Int64(stored))),
                ("deleted_files", .number(Int64(deleted))), ("failed_files", .number(Int64(failed.count))),
                ("remaining_files", .number(Int64(left))), ("failures", failed.json),
            ])
        var parts = othersTexts
        if left > 0 { parts.append("\(left) not tried") }
        reporter.line(([uploadedText(elapsed)] + parts).joined(separator: ", "))
        reporter.list(failed)
    }

    /// The sums of a dry run.
    var plan: String {
        let files =
            uploaded > 0 ? "\(TextLayout.count(uploaded, "file")), \(ByteCount.text(bytes))" : "no files to upload"
        return ([files] + othersTexts).joined(separator: ", ")
    }

    /// The sums of the files that are not uploaded.
    private var othersTexts: [String] {
        var parts: [String] = []
        if stored > 0 { parts.append("\(stored) already stored") }
        if deleted > 0 {
            parts.append("\(deleted) deleted at the gateway (--again uploads \(deleted == 1 ? "it" : "them") again)")
        }
        if busy > 0 { parts.append("\(busy) being uploaded by another process") }
        if failed.count > 0 { parts.append("\(failed.count) failed") }
        return parts
    }

    private func uploadedText(_ elapsed: Duration) -> String {
        guard uploaded > 0 else { return "no files uploaded" }
        var text = "\(TextLayout.count(uploaded, "file")) uploaded: \(ByteCount.text(bytes)) in \(elapsed.clock)"
        if bytes > 0 { text += ", \(ByteCount.text(Double(bytes) / max(0.001, elapsed / .seconds(1))))/s" }
        return text
    }
}
