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
