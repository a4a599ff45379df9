import Basics
import ObjectStore
import Synchronization

/// The segments that somebody reads: they are not removed meanwhile, so that a download that has begun ends with the bytes that it
/// began with.
final class OpenSegments: Sendable {
    /// The segments of one reader, until it is dropped.
    final class Reading: Sendable {
        private let owner: OpenSegments

        fileprivate init(_ owner: OpenSegments) {
            self.owner = owner
        }

        deinit {
            owner.end(ObjectIdentifier(self))
        }
    }

    private struct State {
        /// The time from which on each reading is not waited for, with its segments.
        var readings: [ObjectIdentifier: (end: ContinuousClock.Instant?, segmentIDs: [String])] = [:]
        /// The number of readings of each segment.
        var uses: [String: Int] = [:]
        var inRemoval: Set<String> = []
        /// The number of removals that have begun.
        var removals = 0

        mutating func end(_ reading: ObjectIdentifier) {
            guard let ended = readings.removeValue(forKey: reading) else { return }
            for id in ended.segmentIDs { uses[id] = uses[id].flatMap { $0 > 1 ? $0 - 1 : nil } }
        }
    }

    private let longestReading: Duration
    private let state = Lock(State())

    /// - Parameter longestReading: the time after which the end of a reading is not waited for any more.
    init(longestReading: Duration) {
        self.longestReading = longestReading
    }

    /// Begins to read the segments of a file.
    ///
    /// - Parameter rows: returns them as they are recorded. It is called again if segments have been removed since: a file has other
    ///   ones after its own were merged.
    /// - Throws: `missing` if one of them is being removed, and what `rows` throws.
    func read(_ rows: () throws -> [Segment]) throws -> (segments: [Segment], reading: Reading) {
        var removals = state.withLock { $0.removals }
        var segments = try rows()
        while true {
            let reading = Result { try begin(segments.map(\.id), until: .now + longestReading) }
            let known = removals
            removals = state.withLock { $0.removals }
            if removals == known { return (segments, try reading.get()) }
            let current = try rows()
            if current == segments { return (segments, try reading.get()) }
            segments = current
        }
    }

    /// Begins to store segments whose removal is scheduled: its end is always waited for.
    ///
    /// - Throws: `missing` if one of them is being removed.
    func reserve(_ segmentIDs: [String]) throws(StorageFailure) -> Reading { try begin(segmentIDs, until: nil) }

    private func begin(
        _ segmentIDs: [String], until end: ContinuousClock.Instant?
    ) throws(StorageFailure) -> Reading {
        let reading = Reading(self)
        let isMissing = state.withLock { state in
            guard state.inRemoval.isEmpty || !segmentIDs.contains(where: state.inRemoval.contains) else { return true }
            state.readings[ObjectIdentifier(reading)] = (end, segmentIDs)
            for id in segmentIDs { state.uses[id, default: 0] += 1 }
            return false
        }
        if isMissing { throw .missing }
        return reading
    }

    /// Begins to remove segments, unless somebody reads one of them.
    ///
    /// - Returns: whether it has begun; then it is to be ended.
    func beginRemoval(of segmentIDs: [String]) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            for (reading, end) in state.readings.mapValues(\.end) {
                if let end, end < now { state.end(reading) }
            }
            guard !segmentIDs.contains(where: { state.uses[$0] != nil }) else { return false }
            state.inRemoval.formUnion(segmentIDs)
            state.removals += 1
            return true
        }
    }

    func endRemoval(of segmentIDs: [String]) {
        state.withLock { $0.inRemoval.subtract(segmentIDs) }
    }

    private func end(_ reading: ObjectIdentifier) {
        state.withLock { $0.end(reading) }
    }
}
