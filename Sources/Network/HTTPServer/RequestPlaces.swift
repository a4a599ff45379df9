import Basics
import Dispatch
import Synchronization

/// The requests of a server that are at work, with a limit for each party: an address, while the caller is not known, or the owner
/// of the credentials. Requests beyond it wait in the order of their arrival; their bodies are not read meanwhile.
///
/// A request has a thread, and threads share the processors equally: with a limit, the threads of one party leave time to the others.
final class RequestPlaces: Sendable {
    private struct Party {
        private(set) var atWork = 0
        var waiting = FIFOQueue<DispatchSemaphore>()

        /// Takes a place.
        ///
        /// - Returns: what the request has to wait for; `nil` if it got a place.
        mutating func enter(limit: Int) -> DispatchSemaphore? {
            guard atWork >= limit else {
                atWork += 1
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            waiting.append(turn)
            return turn
        }

        /// Gives a place back.
        ///
        /// - Returns: whose turn it is, if others wait: the place passes to it.
        mutating func leave() -> DispatchSemaphore? {
            let next = waiting.popFirst()
            if next == nil { atWork -= 1 }
            return next
        }
    }

    private struct State {
        var parties: [WorkOwner: Party] = [:]
        var isClosed = false

        mutating func leave(_ party: WorkOwner) -> DispatchSemaphore? {
            guard let index = parties.index(forKey: party) else { return nil }
            let next = parties.values[index].leave()
            if parties.values[index].atWork == 0 { parties.remove(at: index) }
            return next
        }
    }

    private let state = Lock(State())
    private let limit: Int
    private let onWait: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: the number of requests at work for each party.
    ///   - onWait: called for each request that has to wait.
    init(limit: Int, onWait: @escaping @Sendable () -> Void = {}) {
        self.limit = limit
        self.onWait = onWait
    }

    /// The number of requests that wait.
    var waitingCount: Int { state.withLock { $0.parties.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Waits for a place of the party. `leave` must follow, unless the result is `false`.
    ///
    /// - Parameter earlier: the party whose place the request gives back.
    /// - Returns: `false` if the server stops: requests that have not begun are refused then.
    func enter(_ party: WorkOwner, leaving earlier: WorkOwner? = nil) -> Bool {
        let (isOpen, next, turn) = state.withLock { state -> (Bool, DispatchSemaphore?, DispatchSemaphore?) in
            if state.isClosed { return (false, nil, nil) }
            let next = earlier.flatMap { state.leave($0) }
            return (true, next, state.parties[party, default: Party()].enter(limit: limit))
        }
        next?.signal()
        guard isOpen, let turn else { return isOpen }
        onWait()
        turn.wait()
        // Whoever left has passed the place on, unless the server stops.
        return state.withLock { !$0.isClosed }
    }

    func leave(_ party: WorkOwner) {
        state.withLock { $0.leave(party) }?.signal()
    }

    /// Refuses requests that wait, and new ones.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for var party in state.parties.values {
                while let turn = party.waiting.popFirst() { turn.signal() }
            }
            state.parties = [:]
        }
    }
}

/// The place of one request. Used by its connection's thread only.
final class RequestPlace {
    private let places: RequestPlaces
    private var party: WorkOwner?

    init(in places: RequestPlaces) {
        self.places = places
    }

    /// Waits for a place of the party, and gives back the one of another party.
    ///
    /// - Returns: `false` if the server stops.
    func enter(_ party: WorkOwner) -> Bool {
        if party == self.party { return true }
        let earlier = self.party.take()
        guard places.enter(party, leaving: earlier) else { return false }
        self.party = party
        return true
    }

    func leave() {
        if let party { places.leave(party) }
        party = nil
    }

    deinit {
        leave()
    }
}
