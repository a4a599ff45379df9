import Basics
import Synchronization

/// The lists of received requests that wait for a request, with limits on their number.
///
/// A waiting call is a suspended task: it occupies no thread of an event loop. Its HTTP/1.1 connection has a thread of its own, as
/// every open connection does, so the limit keeps most connections for other calls.
final class InboxWaits: Sendable {
    /// A place of a waiting call.
    struct Place: Sendable {
        /// Notified at each request to the umid.
        let signal: Signal
        fileprivate let umid: String
        fileprivate let address: String
    }

    /// The calls that wait for a request to one umid.
    private struct Waiting {
        let signal = Signal()
        var count = 0
    }

    private struct State {
        var waiting: [String: Waiting] = [:]
        var ofAddress: [String: Int] = [:]
        var count = 0
        var hasEnded = false
    }

    private let limit: Int
    private let limitOfAddress: Int
    private let state = Lock(State())

    init(limit: Int, ofAddress: Int) {
        self.limit = limit
        limitOfAddress = ofAddress
    }

    /// The number of taken places.
    var count: Int { state.withLock { $0.count } }

    /// Whether calls must not wait any more.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Takes a place, which has to be left; `nil` if all places are taken.
    func enter(_ umid: String, for address: String) -> Place? {
        state.withLock { state in
            guard !state.hasEnded, state.count < limit, state.ofAddress[address, default: 0] < limitOfAddress else {
                return nil
            }
            state.count += 1
            state.ofAddress[address, default: 0] += 1
            var waiting = state.waiting[umid] ?? Waiting()
            waiting.count += 1
            state.waiting[umid] = waiting
            return Place(signal: waiting.signal, umid: umid, address: address)
        }
    }

    func leave(_ place: Place) {
        state.withLock { state in
            state.count -= 1
            let ofAddress = (state.ofAddress[place.address] ?? 1) - 1
            state.ofAddress[place.address] = ofAddress > 0 ? ofAddress : nil
            guard var waiting = state.waiting[place.umid] else { return }
            waiting.count -= 1
            state.waiting[place.umid] = waiting.count > 0 ? waiting : nil
        }
    }

    /// Wakes the calls that wait for a request to a umid.
    func wake(_ umid: String) {
        state.withLock { $0.waiting[umid]?.signal }?.notify()
    }

    /// Ends all waits, and refuses further ones.
    func end() {
        let signals = state.withLock { state in
            state.hasEnded = true
            return state.waiting.values.map(\.signal)
        }
        for signal in signals { signal.notify() }
    }
}
