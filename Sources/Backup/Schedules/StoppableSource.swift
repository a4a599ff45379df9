import Basics
import Synchronization

/// An input that another thread can end.
final class StoppableSource: ArchiveSource {
    /// The request to end an input.
    final class Stop: Sendable {
        private let isSet = Lock(false)

        func set() {
            isSet.withLock { $0 = true }
        }

        fileprivate func check() throws {
            if isSet.withLock({ $0 }) { throw CancellationError() }
        }
    }

    private let source: any ArchiveSource
    private let stop: Stop

    init(_ source: any ArchiveSource, until stop: Stop) {
        self.source = source
        self.stop = stop
    }

    func read(_ count: Int) throws -> [UInt8] {
        try stop.check()
        return try source.read(count)
    }
}
