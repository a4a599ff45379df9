/// A party in the division of one resource, and the parties within it.
///
/// Each party has used some of the resource, measured in time. The next turn belongs to the active party that used the least; a
/// party that becomes active after a pause is treated as if it had used as much as the one with the least, so that nobody saves up
/// turns. (This is start-time fair queueing: Goyal, Vin and Cheng, 1996.) A turn therefore costs a party what it took, whatever
/// the number of its requests.
///
/// Confined to the owner of the tree: a thread, or a lock.
package final class TurnNode {
    /// The party that this one is part of; `nil` for the root.
    package let parent: TurnNode?
    /// The one who takes the party's turns; `nil` while it is not active, and for parties with others within them.
    package private(set) var taker: AnyObject?
    /// Whether the party gets at least a tenth of its parent's time, however many others there are.
    private let hasGuarantee: Bool
    /// The time used, in nanoseconds, as compared with the other parties of the same parent.
    private(set) var used: UInt64 = 0
    /// The active parties within this one: a binary heap, with the least `used` first.
    private var active: [TurnNode] = []
    /// The position in the parent's heap; -1 while this party is not active.
    private var position = -1
    /// The least `used` of the active parties when one was last active.
    private var floor: UInt64 = 0

    package init(in parent: TurnNode?, hasGuarantee: Bool = false) {
        self.parent = parent
        self.hasGuarantee = hasGuarantee
        used = parent?.least ?? 0
    }

    /// Whether the party has work, or a party within it.
    package var isActive: Bool { position >= 0 }

    /// The number of active parties within this one.
    package var activeCount: Int { active.count }

    /// Whether the party within has used more than the others, which would be forgotten with it.
    package func isAhead(_ child: TurnNode) -> Bool { !active.isEmpty && child.used > least }

    /// The one whose turn is next; `nil` if nobody is active.
    package var next: AnyObject? {
        var node = self
        while !node.active.isEmpty { node = node.active[0] }
        return node.taker
    }

    private var least: UInt64 { active.isEmpty ? floor : active[0].used }

    /// Adds the party, which has none within it, to those that are served.
    package func activate(_ taker: AnyObject) {
        self.taker = taker
        join()
    }

    // Recursion, because a loop over the parents would count references at each of them.

    private func join() {
        guard position < 0, let parent else { return }
        used = max(used, parent.least)
        parent.insert(self)
        parent.join()
    }

    /// Removes the party, which has no work left.
    package func deactivate() {
        taker = nil
        leave()
    }

    private func leave() {
        guard position >= 0, active.isEmpty, let parent else { return }
        parent.remove(self)
        parent.leave()
    }

    /// Adds time to what the party has used.
    package func charge(_ nanoseconds: UInt64) {
        guard let parent else { return }
        used &+= parent.share(of: nanoseconds, for: self)
        if position >= 0 { parent.siftDown(position) }
        parent.charge(nanoseconds)
    }

    /// Adds time that the party used while nobody was active, itself included: nobody waited, so that it is not behind others
    /// afterwards.
    package func chargeAlone(_ nanoseconds: UInt64) {
        guard let parent else { return }
        used = max(used, parent.floor) &+ parent.share(of: nanoseconds, for: self)
        parent.floor = used
        parent.chargeAlone(nanoseconds)
    }

    /// The part of a party's time that counts.
    private func share(of nanoseconds: UInt64, for child: TurnNode) -> UInt64 {
        child.hasGuarantee ? nanoseconds / UInt64(max(1, active.count / 9)) : nanoseconds
    }

    /// Removes all parties within this one, which refer to it.
    fileprivate func removeAll() {
        for node in active {
            node.position = -1
            node.taker = nil
            node.removeAll()
        }
        active = []
    }

    // MARK: The heap

    /// A party that becomes active comes before those that have used as much, which were served already.
    private func insert(_ node: TurnNode) {
        active.append(node)
        guard active.count > 1 else {
            node.position = 0
            return
        }
        var child = active.count - 1
        while child > 0 {
            let above = (child - 1) / 2
            guard active[above].used >= node.used else { break }
            place(active[above], at: child)
            child = above
        }
        place(node, at: child)
    }

    private func remove(_ node: TurnNode) {
        floor = max(floor, least)
        let gap = node.position
        node.position = -1
        let last = active.removeLast()
        guard last !== node else { return }
        place(last, at: gap)
        siftDown(gap)
        siftUp(last.position)
    }

    private func siftUp(_ start: Int) {
        var child = start
        let node = active[child]
        while child > 0 {
            let above = (child - 1) / 2
            guard active[above].used > node.used else { break }
            place(active[above], at: child)
            child = above
        }
        place(node, at: child)
    }

    private func siftDown(_ start: Int) {
        guard active.count > 1 else { return }
        var above = start
        let node = active[above]
        while true {
            var child = 2 * above + 1
            guard child < active.count else { break }
            if child + 1 < active.count, active[child + 1].used < active[child].used { child += 1 }
            guard active[child].used < node.used else { break }
            place(active[child], at: above)
            above = child
        }
        place(node, at: above)
    }

    private func place(_ node: TurnNode, at position: Int) {
        active[position] = node
        node.position = position
    }
}

/// The division of one resource among all for whom the gateway works: first by group (an organization, the unknown callers
/// together, the gateway itself), within a group by owner, within an owner by whatever the user of the tree adds.
///
/// Confined to its owner: a thread, or a lock.
package final class TurnTree {
    /// The number of owners that are remembered, with what they have used, while they have no work.
    package static let keptOwners = 1024

    private let root = TurnNode(in: nil)
    /// The gateway's own party.
    package let gateway: TurnNode
    private var groups: [WorkOwner.Group: TurnNode] = [:]
    private var owners: [WorkOwner: TurnNode] = [:]
    /// The number of owners at which those without work are forgotten.
    private var limit = TurnTree.keptOwners

    package init() {
        gateway = TurnNode(in: root, hasGuarantee: true)
    }

    deinit {
        root.removeAll()
    }

    /// The one whose turn is next; `nil` if nobody is active.
    package var next: AnyObject? { root.next }

    /// Whether anybody is active.
    package var isActive: Bool { root.activeCount > 0 }

    /// The number of owners that are remembered.
    package var ownerCount: Int { owners.count }

    /// Returns the node of an owner; `nil` = the gateway itself.
    package func node(for owner: WorkOwner?) -> TurnNode {
        guard let owner else { return gateway }
        if let known = owners[owner] { return known }
        if owners.count >= limit { forget() }
        let node = TurnNode(in: group(owner.group))
        owners[owner] = node
        return node
    }

    private func group(_ group: WorkOwner.Group) -> TurnNode {
        if let known = groups[group] { return known }
        let node = TurnNode(in: root)
        groups[group] = node
        return node
    }

    /// Forgets owners and groups that nobody refers to and that have no work. Those that used more than others stay, unless there
    /// are too many.
    private func forget() {
        Self.forget(&owners) { $0.parent?.isAhead($0) ?? false }
        if owners.count >= Self.keptOwners { Self.forget(&owners) { _ in false } }
        Self.forget(&groups) { [root] in root.isAhead($0) }
        // Most of those that are left have work: the next search pays only after as many others came.
        limit = max(Self.keptOwners, 2 * owners.count)
    }

    private static func forget<Key>(_ nodes: inout [Key: TurnNode], unless isKept: (TurnNode) -> Bool) {
        for key in Array(nodes.keys) {
            guard var node = nodes.removeValue(forKey: key) else { continue }
            if node.isActive || isKept(node) || !isKnownUniquelyReferenced(&node) { nodes[key] = node }
        }
    }
}
