/// The way of a call from its header section to its end, and its turns on the way.
///
/// Pure: an input returns what the call has to do. An input that is impossible in a state traps in builds for debugging.
struct CallStage {
    private enum Step {
        /// The server has not accepted the call.
        case unknown(isReady: Bool)
        /// The server has accepted the call. It is ready when its request is complete, or a stream.
        case admitted(isReady: Bool)
        /// There is no place for its handler; the call ends with the error in its next turn.
        case refused(RPCError)
        /// The handler has begun.
        case running(CallPlace)
        /// The status was sent, or the stream closed.
        ///
        /// - Parameter place: the handler's, until it returns.
        case ended(place: CallPlace?)
    }

    private enum Turn {
        case none
        case queued
        /// A task runs the call; `nil` = nothing that would have to be cancelled.
        case taken(HandlerTask?)
    }

    private var step = Step.unknown(isReady: false)
    private var turn = Turn.none
    /// The lane in whose turns the call proceeds; `nil` until it is first queued.
    private(set) var lane: Lane?

    // MARK: Questions

    /// Whether neither the status was sent nor the stream closed.
    var isOpen: Bool { if case .ended = step { false } else { true } }

    /// Whether the call is open, and the server has to accept it first.
    var isUnknown: Bool { if case .unknown = step { true } else { false } }

    /// Whether the call is open, and the server accepted it.
    var isAdmitted: Bool {
        switch step {
        case .admitted, .refused, .running: true
        case .unknown, .ended: false
        }
    }

    /// Whether the handler may start, or has started.
    var isReady: Bool {
        switch step {
        case .unknown(let isReady), .admitted(let isReady): isReady
        case .refused, .running, .ended: true
        }
    }

    /// Whether the handler has to begin in this turn.
    var beginsNow: Bool { if case .admitted(isReady: true) = step { true } else { false } }

    /// Whether the handler has begun, and the call has not ended.
    var isRunning: Bool { if case .running = step { true } else { false } }

    /// The error of a call for which there is no place.
    var refusal: RPCError? { if case .refused(let error) = step { error } else { nil } }

    /// The task that admits the call or runs the handler.
    var task: HandlerTask? { if case .taken(let task) = turn { task } else { nil } }

    // MARK: Turns

    /// Handles that the call waits for its turn.
    ///
    /// - Returns: whether it counts among its connection's handlers from now on.
    mutating func queue(in lane: Lane) -> Bool {
        self.lane = lane
        defer { turn = .queued }
        switch turn {
        case .none: return true
        case .taken: return false
        case .queued:
            assertionFailure("a call is queued twice")
            return false
        }
    }

    /// Handles the call's turn.
    mutating func takeTurn() {
        if case .queued = turn {} else { assertionFailure("a call has a turn for which it did not wait") }
        turn = .taken(nil)
    }

    /// Handles that the task has begun what may have to be cancelled.
    mutating func work(in task: HandlerTask) {
        if case .taken = turn {} else { assertionFailure("a task runs a call outside of its turn") }
        turn = .taken(task)
    }

    /// Handles that the task has done all that may have to be cancelled: it can be kept.
    mutating func workEnded() {
        if case .taken = turn { turn = .taken(nil) }
    }

    /// Handles the end of the turn: the call does not count among its connection's handlers any more.
    ///
    /// - Returns: the place of a handler that has returned.
    mutating func leaveTurn() -> CallPlace? {
        turn = .none
        guard case .ended(let place) = step else { return nil }
        step = .ended(place: nil)
        return place
    }

    // MARK: Steps

    /// Handles that the handler may start.
    ///
    /// - Returns: whether the call has to be queued.
    mutating func becomeReady() -> Bool {
        switch step {
        case .unknown:
            step = .unknown(isReady: true)
            return false
        case .admitted:
            step = .admitted(isReady: true)
            if case .none = turn { return true }
            return false
        case .refused, .running:
            assertionFailure("a request is complete twice")
            return false
        case .ended: return false
        }
    }

    /// Handles that the server accepts the call.
    mutating func admit() {
        switch step {
        case .unknown(let isReady): step = .admitted(isReady: isReady)
        case .admitted, .refused, .running: assertionFailure("a call is admitted twice")
        case .ended: break
        }
    }

    /// Handles that the handler begins.
    mutating func begin(_ place: CallPlace) {
        assert(beginsNow, "a handler begins that may not")
        step = .running(place)
    }

    /// Handles that there is no place for the handler.
    mutating func refuse(_ error: RPCError) {
        assert(beginsNow, "a handler is refused that may not begin")
        step = .refused(error)
    }

    /// Handles the end of the call.
    ///
    /// - Returns: the task whose work has to be cancelled unless the call succeeded.
    mutating func end() -> HandlerTask? {
        let task = task
        if case .running(let place) = step { step = .ended(place: place) } else { step = .ended(place: nil) }
        workEnded()
        return task
    }
}
