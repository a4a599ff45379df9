/// The pieces of a request on their way from the thread to the call: they wait while the handler is behind.
///
/// Pure: an input returns what the stream has to do.
struct RequestPieces {
    private enum State {
        /// Pieces are passed to the call as they arrive.
        case flowing
        /// The handler is behind, so that arriving pieces wait.
        case held
        /// The handler continues, and the pieces that wait are about to be passed to it.
        case resuming
        /// The end was passed to the call.
        case ended
    }

    enum Next {
        case piece([UInt8])
        case end
        case nothing
    }

    private var state = State.flowing
    private var pieces: [[UInt8]] = []
    /// Whether the end of the request follows the pieces that wait.
    private var endWaits = false

    /// Handles a piece from the thread.
    ///
    /// - Returns: whether it is passed to the call; otherwise it waits, after those that wait already.
    mutating func receive(_ piece: [UInt8]) -> Bool {
        switch state {
        case .flowing: return true
        case .held, .resuming: pieces.append(piece)
        case .ended: assertionFailure("a piece of a request follows its end")
        }
        return false
    }

    /// Handles the end of the request.
    ///
    /// - Returns: whether it is passed to the call; otherwise it waits.
    mutating func finish() -> Bool {
        guard pieces.isEmpty else {
            endWaits = true
            return false
        }
        defer { state = .ended }
        if case .ended = state { return false }
        return true
    }

    /// Handles that the handler falls behind, or continues.
    ///
    /// - Returns: whether the pieces that wait have to be taken with `next`.
    mutating func hold(_ isHeld: Bool) -> Bool {
        switch (state, isHeld) {
        case (.flowing, true), (.resuming, true): state = .held
        case (.held, false):
            state = pieces.isEmpty ? .flowing : .resuming
            return !pieces.isEmpty
        case (.flowing, false), (.held, true), (.resuming, false), (.ended, _): break
        }
        return false
    }

    /// Takes what is passed to the call next.
    mutating func next() -> Next {
        if case .resuming = state, !pieces.isEmpty { return .piece(pieces.removeFirst()) }
        guard pieces.isEmpty else { return .nothing }
        if endWaits {
            endWaits = false
            state = .ended
            return .end
        }
        if case .resuming = state { state = .flowing }
        return .nothing
    }

    /// Discards everything.
    mutating func drop() { (state, pieces, endWaits) = (.ended, [], false) }
}
