import Basics

/// Tells how files travel: as a bar where a person watches, as lines of JSON where a program asked for them.
package final class TransferReporter: Sendable {
    private struct Current {
        let name: String
        var meter: TransferMeter
    }

    private static let redrawInterval = Duration.milliseconds(200)
    private static let eventInterval = Duration.seconds(1)
    private static let clearLine = "\r\u{1B}[2K"

    private let environment: CommandEnvironment
    private let asJSON: Bool
    private let start = ContinuousClock.now
    private let current = Lock<Current?>(nil)

    package init(_ environment: CommandEnvironment, asJSON: Bool) {
        self.environment = environment
        self.asJSON = asJSON
    }

    private var now: Duration { ContinuousClock.now - start }

    /// From now on `name` is what moves.
    package func begin(_ name: String, total: Int64?, done: Int64) {
        current.withLock { $0 = Current(name: name, meter: TransferMeter(total: total, done: done, at: now)) }
    }

    package func add(_ bytes: Int64) { current.withLock { $0?.meter.add(bytes, at: now) } }

    package func set(_ bytes: Int64, total: Int64?) {
        current.withLock {
            $0?.meter.set(bytes, at: now)
            $0?.meter.total = total
        }
    }

    /// What moved is through, or never will be.
    package func end() {
        current.withLock { $0 = nil }
        if !asJSON { environment.terminal?(Self.clearLine) }
    }

    /// A line of JSON, `{"event":NAME,…}`; nothing where nobody asked for JSON.
    package func event(_ name: String, _ members: [(String, JSONValue)]) {
        guard asJSON else { return }
        let all = [("event", JSONValue.string(name))] + members
        // Who reads no further cannot be told.
        try? environment.output(JSONValue.object(all.map { JSONValue.Member(name: $0.0, value: $0.1) }).text)
    }

    /// A line for people; nothing where a program reads.
    package func line(_ text: String) {
        guard !asJSON else { return }
        environment.terminal?(Self.clearLine)
        try? environment.output(TextLayout.printable(text))
    }

    /// A line for people about trouble.
    package func warning(_ text: String) {
        guard !asJSON else { return }
        environment.terminal?(Self.clearLine)
        environment.errorOutput("data-gateway: \(TextLayout.printable(text))")
    }

    /// Shows how far it is for as long as `body` runs.
    package func watching<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        guard asJSON || environment.terminal != nil else { return try await body() }
        let ticker = Task { [self] in
            while (try? await Task.sleep(for: asJSON ? Self.eventInterval : Self.redrawInterval)) != nil { show() }
        }
        defer { ticker.cancel() }
        return try await body()
    }

    private func show() {
        guard let current = current.withLock({ $0 }) else { return }
        let (meter, now) = (current.meter, now)
        guard asJSON else {
            environment.terminal?(Self.clearLine + ProgressLine.text(current.name, meter, at: now))
            return
        }
        event(
            "progress",
            [
                ("file", .string(current.name)), ("done_bytes", .number(meter.done)),
                ("size_bytes", meter.total.map { .number($0) } ?? .null),
                ("bytes_per_second", meter.rate(at: now).map { .number(Int64($0)) } ?? .null),
                ("seconds_left", meter.secondsLeft(at: now).map { .number($0) } ?? .null),
            ])
    }
}
