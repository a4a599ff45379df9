import Basics
import CommandLineInterface
import DeviceCommands
import GRPCWire
import GatewayProto
import JSON
import StoreClient

/// The results of a batch of downloads so far.
struct DownloadTally {
    /// The error of one object.
    struct Failure: Error {
        let id: String
        /// The object's name; its id if the name is not known.
        let name: String
        let reason: ClientFailure
        /// Whether further downloads would fail for the same reason.
        let concernsAll: Bool
        let isInterruption: Bool

        /// - Parameter name: the object's name, if it is known.
        init(_ error: any Error, _ object: DownloadSource.Wanted, name: String? = nil) {
            id = object.id
            self.name = name ?? object.details.map(\.name).flatMap { $0.isEmpty ? nil : $0 } ?? object.id
            let failure = ClientFailure(error, file: self.name, hint: DownloadBatch.hint)
            reason = failure.message.contains(self.name) ? failure : failure.naming(self.name)
            isInterruption = error is CancellationError
            concernsAll =
                failure.exitCode != .refused || isInterruption
                || (error as? FileDownload.LocalFailure)?.concernsAll == true
                || [.unauthenticated, .permissionDenied].contains(failure.status)
        }
    }

    /// The number of wanted objects, and of arguments without objects.
    let count: Int
    var alreadyThere = 0
    private(set) var worst = ExitCode.success
    /// Whether no further download is begun.
    private(set) var isOver = false
    private var downloaded = 0
    private var bytes: Int64 = 0
    private var failed = FailedFiles()
    /// The number of interrupted downloads, which are not listed: whoever interrupted them knows.
    private var interrupted = 0

    /// - Parameters:
    ///   - count: the number of wanted objects.
    ///   - missing: the failures of arguments without objects.
    init(count: Int, missing: [ClientFailure]) {
        self.count = count + missing.count
        for failure in missing {
            failed.add(failure.message)
            worst = failure.exitCode
        }
    }

    mutating func count(_ size: Int64) {
        downloaded += 1
        bytes += size
    }

    mutating func count(_ failure: Failure) {
        if failure.isInterruption { interrupted += 1 } else { failed.add(failure.reason.message) }
        if worst != .unreachable { worst = failure.reason.exitCode }
        if failure.concernsAll { isOver = true }
    }

    private var failures: Int { failed.count + interrupted }
    private var left: Int { count - downloaded - alreadyThere - failures }

    func summarize(in elapsed: Duration, _ reporter: TransferReporter) {
        reporter.event(
            "summary",
            [
                ("downloaded_files", .number(Int64(downloaded))), ("downloaded_bytes", .number(bytes)),
                ("already_there_files", .number(Int64(alreadyThere))), ("failed_files", .number(Int64(failures))),
                ("remaining_files", .number(Int64(count - downloaded - alreadyThere))),
                ("failures", failed.json),
            ])
        reporter.line(text(elapsed))
        reporter.list(failed)
    }

    private func text(_ elapsed: Duration) -> String {
        var parts: [String] = []
        if alreadyThere > 0 { parts.append("\(TextLayout.count(alreadyThere, "file")) already there") }
        if downloaded > 0 || parts.isEmpty {
            let number = parts.isEmpty ? TextLayout.count(downloaded, "file") : "\(downloaded)"
            let rate = ByteCount.text(Double(bytes) / max(0.001, elapsed / .seconds(1)))
            parts.append("\(number) downloaded: \(ByteCount.text(bytes)) in \(elapsed.clock), \(rate)/s")
        }
        if failures > 0 { parts.append("\(failures) failed") }
        if left > 0 { parts.append("\(left) not downloaded") }
        return parts.joined(separator: ", ")
    }
}
