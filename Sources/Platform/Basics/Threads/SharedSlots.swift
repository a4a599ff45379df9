import Synchronization

/// Slots for work at the same time, which owners share so that none of them can hold all.
///
/// An owner has at most half of the slots, and the last quarter is for owners that hold none. A member of an owner, such as a user of an
/// organization, has at most a quarter.
package final class SharedSlots<Owner: Hashable & Sendable>: Sendable {
    /// The right to a slot. It ends with this object, so `withExtendedLifetime` has to keep it until the work is done.
    package final class Slot: Sendable {
        private let slots: SharedSlots
        private let owner: Owner
        private let member: String?

        fileprivate init(_ slots: SharedSlots, _ owner: Owner, _ member: String?) {
            self.slots = slots
            self.owner = owner
            self.member = member
        }

        deinit {
            slots.giveBack(owner, member)
        }
    }

    private struct Member: Hashable {
        let owner: Owner
        let name: String
    }

    private struct Held {
        var all = 0
        var owners: [Owner: Int] = [:]
        var members: [Member: Int] = [:]
    }

    /// The number of slots.
    package let limit: Int
    private let held = Lock(Held())

    /// - Parameter limit: the number of slots; above 0.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The number of slots in use.
    package var count: Int { held.withLock { $0.all } }

    /// - Parameters:
    ///   - owner: the party whose share counts.
    ///   - member: the part of the owner that must not hold the owner's whole share; `nil` = the owner is not divided.
    package func take(for owner: Owner, member: String? = nil) throws(SlotShortage) -> Slot {
        try held.withLock { held throws(SlotShortage) in
            let own = held.owners[owner, default: 0]
            let free = limit - held.all
            guard free > 0 else { throw SlotShortage(.all, count: limit) }
            let key = member.map { Member(owner: owner, name: $0) }
            if let key {
                let share = max(1, limit / 4)
                guard held.members[key, default: 0] < share else { throw SlotShortage(.member, count: share) }
            }
            guard own == 0 || (own < limit / 2 && free > limit / 4) else { throw SlotShortage(.owner, count: own) }
            if let key { held.members[key, default: 0] += 1 }
            held.owners[owner] = own + 1
            held.all += 1
        }
        return Slot(self, owner, member)
    }

    private func giveBack(_ owner: Owner, _ member: String?) {
        held.withLock { held in
            held.all -= 1
            Self.decrease(&held.owners[owner])
            if let member { Self.decrease(&held.members[Member(owner: owner, name: member)]) }
        }
    }

    /// Decreases a count, without which an entry is removed.
    private static func decrease(_ count: inout Int?) {
        guard let before = count else { return }
        count = before > 1 ? before - 1 : nil
    }
}

/// The reason why ``SharedSlots`` has no slot for an owner.
package struct SlotShortage: Error, Hashable {
    /// The party whose slots are used up.
    package enum Scope: Sendable {
        /// All owners together: no slot is free.
        case all
        /// The owner: the free slots are for others.
        case owner
        /// The member of the owner.
        case member
    }

    package let scope: Scope
    /// The number of slots that the party holds.
    package let count: Int

    init(_ scope: Scope, count: Int) {
        self.scope = scope
        self.count = count
    }
}

/// The number of times that limits were reached that all listeners share; any thread may read them at any time.
package final class LimitCounts: Sendable {
    private let counts = Lock<[String: Int]>([:])

    package init() {}

    /// The number of times that each limit was reached, by its name.
    package var all: [String: Int] { counts.withLock { $0 } }

    /// Counts a reached limit, because of which somebody was refused or lost something.
    package func reached(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
}
