import Basics
import Synchronization

@testable import Serve

/// The events of services, in order.
final class ServiceRecord: Sendable {
    private let lines = Lock<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The error with which a test's service does not start, or ends.
struct TestFailure: Error, Equatable {}

/// Records its start and its stop, and can be made to end by itself.
final class RecordedService: Service {
    let name: String
    private let record: ServiceRecord
    private let fails: Bool
    private let ended = Lock<(@Sendable (any Error) -> Void)?>(nil)

    init(_ name: String, _ record: ServiceRecord, fails: Bool = false) {
        self.name = name
        self.record = record
        self.fails = fails
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) throws {
        record.add("start \(name)")
        if fails { throw TestFailure() }
        self.ended.withLock { $0 = ended }
    }

    func stop() { record.add("stop \(name)") }

    /// Ends the service with an error.
    func end() { ended.withLock { $0 }?(TestFailure()) }
}
