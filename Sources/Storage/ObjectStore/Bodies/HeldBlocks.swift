import Basics

/// The blocks that are reserved for bodies, by the parties that send them: nobody's slow bodies leave others without memory.
///
/// An owner has at most half of the blocks, and the last quarter is for organizations that have less than an eighth. Each of the two
/// shares is at least what one long body and a short one need.
struct HeldBlocks {
    private static let leastShare = BodyPipeline.blocks + 1

    /// The number of blocks of all parties together.
    private let limit: Int
    private(set) var all = 0
    private var owners: [WorkOwner: Int] = [:]
    private var groups: [WorkOwner.Group: Int] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether the blocks were taken.
    mutating func take(_ blocks: Int, for owner: WorkOwner) -> Bool {
        let own = owners[owner, default: 0] + blocks
        let ofGroup = groups[owner.group, default: 0] + blocks
        guard all + blocks <= limit,
            own == blocks || own <= max(limit / 2, Self.leastShare),
            ofGroup == blocks || ofGroup <= max(limit / 8, Self.leastShare) || all + blocks <= limit - limit / 4
        else { return false }
        all += blocks
        owners[owner] = own
        groups[owner.group] = ofGroup
        return true
    }

    mutating func give(_ blocks: Int, back owner: WorkOwner) {
        all -= blocks
        Self.subtract(blocks, from: &owners[owner])
        Self.subtract(blocks, from: &groups[owner.group])
    }

    /// Subtracts from a count; one of 0 is removed.
    private static func subtract(_ blocks: Int, from count: inout Int?) {
        guard let before = count else { return }
        count = before > blocks ? before - blocks : nil
    }
}
