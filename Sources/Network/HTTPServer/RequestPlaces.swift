import Basics
import Dispatch
import Synchronization

/// The requests of a server that are at work, with a limit for each party: an address, while the caller is not known, or the owner
/// of the credentials. Requests beyond it wait in the order of their arrival; their bodies are not read meanwhile.
///
/// A request has a thread, and threads share the processors equally: with a limit, the threads of one party leave time to the others.
final class RequestPlaces: Sendable {
    private struct Party {
        var atWork = 0
        var waiting = FIFOQueue<DispatchSemaphore>()
    }

    private struct State {
        var parties: [WorkOwner: Party] = [:]
        var isClosed = false
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
    /// - Returns: `false` if the server stops: requests that have not begun are refused then.
    func enter(_ party: WorkOwner) -> Bool {
        let turn = DispatchSemaphore(value: 0)
        let mustWait: Bool? = state.withLock { state in
            if state.isClosed { return nil }
            if state.parties[party, default: Party()].atWork < limit {
                state.parties[party, default: Party()].atWork += 1
                return false
            }
            state.parties[party]?.waiting.append(turn)
            return true
        }
        guard let mustWait else { return false }
        guard mustWait else { return true }
        onWait()
        turn.wait()
        // Whoever left has passed the place on, unless the server stops.
        return state.withLock { !$0.isClosed }
    }

    func leave(_ party: WorkOwner) {
        state.withLock { state in
            guard !state.isClosed, var left = state.parties.removeValue(forKey: party) else { return }
            if let next = left.waiting.popFirst() { next.signal() } else { left.atWork -= 1 }
            if left.atWork > 0 { state.parties[party] = left }
        }
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
        leave()
        guard places.enter(party) else { return false }
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
