/// The union of streams.
final class UnionStream: PositionStream {
    let streams: [any PositionStream]

    init(_ streams: [any PositionStream]) {
        self.streams = streams
    }

    func next(below position: Int64) throws -> PositionStep {
        var (found, unknown): (Int64?, Int64?)
        for stream in streams {
            switch try stream.next(below: position) {
            case .found(let next): found = max(found ?? next, next)
            case .unknown(let below): unknown = max(unknown ?? below, below)
            case .end: break
            }
        }
        // A stream that stopped above another one's next position may have a position in between.
        if let unknown, unknown > found ?? .min { return .unknown(below: unknown) }
        return found.map(PositionStep.found) ?? .end
    }
}

/// The intersection of streams.
///
/// Each stream is asked for its next position from the lowest position of the others on, so the work is proportional to the rarest
/// stream.
final class IntersectionStream: PositionStream {
    let streams: [any PositionStream]
    private let budget: SearchBudget

    init(_ streams: [any PositionStream], budget: SearchBudget) {
        self.streams = streams
        self.budget = budget
    }

    func next(below position: Int64) throws -> PositionStep {
        var below = position
        while true {
            var lowest = below - 1
            var agreeing = 0
            for stream in streams {
                switch try stream.next(below: lowest + 1) {
                case .found(let next):
                    agreeing = next == lowest ? agreeing + 1 : 1
                    lowest = next
                case .unknown(let below): return .unknown(below: below)
                case .end: return .end
                }
            }
            if agreeing == streams.count { return .found(lowest) }
            below = lowest + 1
            // After at least one round over all streams, so that each page of a list makes some progress.
            if budget.isSpent { return .unknown(below: below) }
        }
    }
}

/// The positions of a stream within bounds.
final class BoundedStream: PositionStream {
    let stream: any PositionStream
    private let bounds: PositionBounds

    init(_ stream: any PositionStream, _ bounds: PositionBounds) {
        self.stream = stream
        self.bounds = bounds
    }

    func next(below position: Int64) throws -> PositionStep {
        let below = min(position, bounds.highest + 1)
        guard below > bounds.lowest else { return .end }
        switch try stream.next(below: below) {
        case .found(let next): return next < bounds.lowest ? .end : .found(next)
        case .unknown(let below): return below <= bounds.lowest ? .end : .unknown(below: below)
        case .end: return .end
        }
    }
}
