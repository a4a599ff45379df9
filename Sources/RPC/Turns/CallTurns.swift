import Basics

/// The turns of an event loop's lanes: nobody waits for all that others have asked for.
///
/// A turn of the loop has a budget of time, after which the loop asks its sockets and timers. Within it the lane runs whose
/// organization has used the least time, of its owners the one who has used the least, and of that owner's lanes likewise.
///
/// Sendable although it is mutable: its state is used on the loop only.
package final class CallTurns: @unchecked Sendable {  // state belongs to its loop
    /// The time until the loop asks its sockets again, in nanoseconds.
    package static let budget: UInt64 = 1_000_000
    /// The time until another lane may be next, in nanoseconds.
    static let slice: UInt64 = 250_000

    let loop: any CallLoop
    private let tree = TurnTree()
    /// The lane with work while no other one has any: it needs no place in the tree.
    private var alone: Lane?
    /// The party of the lane that worked alone last, with the time that it is not charged yet, in nanoseconds: it is charged when
    /// another lane has work.
    private var uncharged: (node: TurnNode?, time: UInt64) = (nil, 0)
    /// The lanes of requests whose connection has none.
    private var shared: [WorkOwner: Lane] = [:]
    /// The number of shared lanes at which idle ones are removed.
    private var limit = TurnTree.keptOwners
    /// The lane of the gateway's own work, which keeps this until ``stop()``; `nil` = there was no such work.
    private var ownLane: Lane?
    /// The end of the current turn, at which work pauses that would continue by itself.
    package private(set) var end: UInt64 = .max
    /// The number of tasks that are kept without a call, over all lanes.
    var parkedTasks = 0

    /// - Parameter loop: the loop, which owns this until it stops. Lanes may outlive the loop's end, and need it to know that.
    package init(of loop: any CallLoop) {
        self.loop = loop
    }

    /// The lane of work that belongs to the gateway itself.
    package var gateway: Lane {
        if let ownLane { return ownLane }
        let lane = Lane(self, of: tree.gateway)
        ownLane = lane
        return lane
    }

    /// Whether lanes have work.
    package var hasWork: Bool { alone != nil || tree.isActive }

    /// Whether the current turn has time left.
    package var hasTime: Bool { loop.now < end }

    /// Begins the time for work that is not in a lane: receiving.
    ///
    /// - Parameter end: the end of that time.
    package func begin(until end: UInt64) { self.end = end }

    /// Adds a lane to those with work.
    func activate(_ lane: Lane) {
        if alone == nil, !tree.isActive {
            if lane.node !== uncharged.node {
                charge()
                uncharged.node = lane.node
            }
            alone = lane
        } else {
            if let first = alone.take() {
                charge()
                first.node.activate(first)
            }
            lane.node.activate(lane)
        }
    }

    private func charge() {
        uncharged.node?.chargeAlone(uncharged.time)
        uncharged = (nil, 0)
    }

    /// Ends a lane's turn.
    ///
    /// - Parameter isDone: whether it has no work left.
    func endTurn(of lane: Lane, charging time: UInt64, isDone: Bool) {
        if lane === alone {
            uncharged.time &+= time
            if isDone { alone = nil }
        } else {
            lane.node.charge(time)
            if isDone { lane.node.deactivate() }
        }
    }

    /// Runs the lanes in turn until `end`, or until none has work.
    ///
    /// - Parameter start: the time on the loop's clock.
    package func run(from start: UInt64, until end: UInt64) {
        var now = start
        while now < end, let lane = alone ?? tree.next as? Lane {
            self.end = min(end, now &+ Self.slice)
            now = lane.takeTurn(from: now, until: self.end)
        }
    }

    /// Returns a lane for one connection.
    func lane(of owner: WorkOwner) -> Lane { Lane(self, of: tree.node(for: owner)) }

    /// Returns the lane of all requests of an owner that have no connection of their own.
    func sharedLane(of owner: WorkOwner) -> Lane {
        if let known = shared[owner] { return known }
        if shared.count >= limit { removeIdle() }
        let lane = lane(of: owner)
        shared[owner] = lane
        return lane
    }

    private func removeIdle() {
        for (owner, lane) in shared where lane.isIdle {
            lane.end()
            shared[owner] = nil
        }
        limit = max(TurnTree.keptOwners, 2 * shared.count)
    }

    /// Ends the tasks of the shared lanes. Must be called on the loop, after the last call.
    package func stop() {
        for lane in shared.values { lane.end() }
        shared = [:]
        ownLane?.end()
        run(from: loop.now, until: .max)
        ownLane = nil
    }
}
