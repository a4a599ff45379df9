import Basics
package import JSON
import Synchronization

/// Reports the progress of transfers: as a bar on a terminal, or as lines of JSON on request.
///
/// A transfer is identified by a key, e.g. the file's path. If several files are expected, the bar shows their total.
package final class TransferReporter: Sendable {
    private struct Moving {
        let name: String
        var meter: TransferMeter
        /// Whether a step failed and is tried again.
        var isWaiting = false
    }

    private struct Total {
        let files: Int
        var ended = 0
        var meter: TransferMeter
    }

    private struct State {
        var moving: [String: Moving] = [:]
        var total: Total?
        /// The number of failed attempts of each step, by the file's key and the step.
        var attempts: [String: [String: Int]] = [:]
    }

    private static let redrawInterval = Duration.milliseconds(200)
    private static let eventInterval = Duration.seconds(1)
    /// On a terminal, where the bar shows that a step is tried again, only the first failure gets a line, and each of this number.
    private static let attemptsPerLine = 10
    private static let clearLine = "\r\u{1B}[2K"

    private let environment: CommandEnvironment
    private let asJSON: Bool
    /// Whether only errors are reported.
    private let isQuiet: Bool
    private let start = ContinuousClock.now
    private let state = Lock(State())
    /// Held while something is written, so that no bar is drawn between the removal of the last one and the line in its place.
    private let screen = Lock(())

    package init(_ environment: CommandEnvironment, asJSON: Bool, isQuiet: Bool = false) {
        self.environment = environment
        self.asJSON = asJSON
        self.isQuiet = isQuiet
    }

    private var now: Duration { ContinuousClock.now - start }

    /// Announces the number of files and bytes of the transfer.
    ///
    /// - Parameter bytes: `nil` = unknown.
    package func expect(files: Int, bytes: Int64?) {
        guard files > 1 else { return }
        state.withLock { $0.total = Total(files: files, meter: TransferMeter(total: bytes, at: now)) }
    }

    /// Begins the transfer of `name`.
    package func begin(_ key: String, name: String, total: Int64?, done: Int64) {
        state.withLock {
            $0.moving[key] = Moving(name: name, meter: TransferMeter(total: total, done: done, at: now))
            $0.total?.meter.add(done, at: now)
        }
    }

    package func add(_ bytes: Int64, to key: String) {
        state.withLock {
            $0.moving[key]?.meter.add(bytes, at: now)
            $0.moving[key]?.isWaiting = false
            $0.total?.meter.add(bytes, at: now)
        }
    }

    package func set(_ bytes: Int64, total: Int64?, of key: String) {
        state.withLock {
            guard let before = $0.moving[key]?.meter.done else { return }
            $0.moving[key]?.meter.set(bytes, at: now)
            $0.moving[key]?.meter.total = total
            $0.total?.meter.add(bytes - before, at: now)
        }
    }

    /// Ends the current transfer, successfully or not.
    package func end(_ key: String) {
        state.withLock {
            $0.moving[key] = nil
            $0.attempts[key] = nil
            $0.total?.ended += 1
        }
        if !asJSON { inPlaceOfBar {} }
    }

    /// Removes the bar, and writes something in its place.
    private func inPlaceOfBar(_ write: () -> Void) {
        screen.withLock { _ in
            environment.terminal?(Self.clearLine)
            write()
        }
    }

    /// Counts an expected file that need not be transferred.
    package func skip(_ bytes: Int64) {
        state.withLock {
            $0.total?.ended += 1
            $0.total?.meter.total? -= bytes
        }
    }

    /// Writes a line of JSON, `{"event":NAME,…}`; nothing without `--json`.
    package func event(_ name: String, _ members: [(String, JSONValue)]) {
        guard asJSON else { return }
        let all = [("event", JSONValue.string(name))] + members
        // A reader that has closed the output cannot be told.
        try? environment.output(JSONValue.object(all.map { JSONValue.Member(name: $0.0, value: $0.1) }).text)
    }

    /// Writes a line for people; nothing with `--json`.
    package func line(_ text: String) {
        guard !asJSON, !isQuiet else { return }
        inPlaceOfBar { try? environment.output(TextLayout.printable(text)) }
    }

    /// Writes a warning for people; nothing with `--json`.
    package func warning(_ text: String) {
        guard !asJSON, !isQuiet else { return }
        inPlaceOfBar { environment.errorOutput("data-gateway: \(TextLayout.printable(text))") }
    }

    /// Writes that a step of a transfer failed and is tried again.
    ///
    /// - Parameter step: the step; each has its own count of attempts.
    package func retry(_ step: String, of key: String, _ text: String) {
        let attempts = state.withLock { state in
            state.moving[key]?.isWaiting = true
            state.attempts[key, default: [:]][step, default: 0] += 1
            return state.attempts[key]?[step] ?? 1
        }
        guard environment.terminal == nil || attempts % Self.attemptsPerLine == 1 else { return }
        warning(text)
    }

    /// Repeats the errors of a batch at its end, where they are seen; not with `--quiet`, which writes nothing else.
    package func list(_ failed: FailedFiles) {
        guard !asJSON, !isQuiet, failed.count > 0 else { return }
        inPlaceOfBar { for line in failed.lines { environment.errorOutput(line) } }
    }

    /// Reports an error of a file, as an event and on standard error.
    ///
    /// - Parameter file: the event's member for the file, and its value; empty if the error concerns no single file.
    package func fail(_ failure: ClientFailure, of file: (member: String, id: String)) -> ExitCode {
        file.id.isEmpty ? fail(failure) : fail(failure, as: [(file.member, file.id)])
    }

    /// Reports an error of a file, as an event with these members and on standard error.
    package func fail(_ failure: ClientFailure, as members: [(name: String, value: String)]) -> ExitCode {
        event(
            "failed",
            members.map { ($0.name, .string($0.value)) } + [
                ("message", .string(failure.message)), ("exit_code", .number(Int64(failure.exitCode.rawValue))),
            ])
        return fail(failure)
    }

    /// Writes an error to standard error, as other commands do.
    package func fail(_ failure: ClientFailure) -> ExitCode {
        if asJSON {
            environment.report(failure, asJSON: true)
        } else {
            inPlaceOfBar { environment.report(failure, asJSON: false) }
        }
        return failure.exitCode
    }

    /// Shows the progress while `body` runs.
    package func watching<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        guard asJSON || (environment.terminal != nil && !isQuiet) else { return try await body() }
        let ticker = Task { [self] in
            while (try? await Task.sleep(for: asJSON ? Self.eventInterval : Self.redrawInterval)) != nil { show() }
        }
        defer { ticker.cancel() }
        return try await body()
    }

    /// Shows the progress once.
    func show() {
        let (state, now) = (state.withLock { $0 }, now)
        let moving = state.moving.values.sorted { $0.name < $1.name }
        if asJSON {
            for file in moving { progress("progress", [("file", .string(file.name))], file.meter, at: now) }
            if let total = state.total {
                let files = [
                    ("ended_files", JSONValue.number(Int64(total.ended))), ("files", .number(Int64(total.files))),
                ]
                progress("total", files, total.meter, at: now)
            }
        } else if let total = state.total {
            let waits = !moving.isEmpty && moving.allSatisfy(\.isWaiting)
            draw("\(total.ended)/\(total.files) files", total.meter, isWaiting: waits, at: now)
        } else if let file = moving.first {
            draw(file.name, file.meter, isWaiting: file.isWaiting, at: now)
        }
    }

    private func draw(_ name: String, _ meter: TransferMeter, isWaiting: Bool, at now: Duration) {
        // The last column is not used: some terminals wrap the line after it.
        let width = environment.terminalWidth() - 1
        let prefix = isWaiting ? "trying again: " : ""
        let bar = ProgressLine.text(name, meter, prefix: prefix, at: now, width: width)
        screen.withLock { _ in environment.terminal?(Self.clearLine + bar) }
    }

    private func progress(_ event: String, _ what: [(String, JSONValue)], _ meter: TransferMeter, at now: Duration) {
        self.event(
            event,
            what + [
                ("done_bytes", .number(meter.done)), ("size_bytes", meter.total.map { .number($0) } ?? .null),
                ("bytes_per_second", meter.rate(at: now).map { .number(Int64($0)) } ?? .null),
                ("seconds_left", meter.secondsLeft(at: now).map { .number($0) } ?? .null),
            ])
    }
}

/// The failed files of a batch. The errors of the first ones are repeated at its end.
package struct FailedFiles: Sendable {
    private static let mostNamed = 20

    /// The number of files that failed.
    package private(set) var count = 0
    /// The errors that are repeated.
    private var messages: [String] = []
    /// The number of files whose errors are not repeated.
    private var unnamed = 0

    package init() {}

    /// Counts files that failed for the same reason.
    ///
    /// - Parameter message: the error, which names the file, or what the files have in common.
    package mutating func add(_ message: String, files: Int = 1) {
        count += files
        if messages.count < Self.mostNamed { messages.append(message) } else { unnamed += files }
    }

    /// The errors that are repeated, for the event `summary`.
    package var json: JSONValue { .array(messages.map { .string($0) }) }

    /// The lines for the end of the batch; empty without failures.
    package var lines: [String] {
        guard count > 0 else { return [] }
        let heading = "\(TextLayout.count(count, "file")) failed:"
        return [heading] + messages.map { "  \(TextLayout.printable($0))" }
            + (unnamed > 0 ? ["  and \(unnamed) more"] : [])
    }
}
