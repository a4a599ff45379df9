import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct SharedSlotsTests {
    /// Takes slots until one is refused, and returns them with the reason.
    private func takeAll(
        _ slots: SharedSlots<String>, for owner: String, member: String? = nil
    ) -> (taken: [SharedSlots<String>.Slot], shortage: SlotShortage) {
        var taken: [SharedSlots<String>.Slot] = []
        while true {
            do throws(SlotShortage) {
                taken.append(try slots.take(for: owner, member: member))
            } catch {
                return (taken, error)
            }
        }
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 1), (4, 2), (16, 8), (64, 32)])
    func oneOwnerGetsHalf(_ limit: Int, _ share: Int) {
        let (taken, shortage) = takeAll(SharedSlots(limit: limit), for: "a")
        #expect(taken.count == share)
        #expect(shortage.scope == (limit == 1 ? .all : .owner) && shortage.count == share)
    }

    @Test func lastQuarterIsForOwnersWithoutSlots() throws {
        let slots = SharedSlots<String>(limit: 16)
        let first = takeAll(slots, for: "a")
        let second = takeAll(slots, for: "b")
        #expect((first.taken.count, second.taken.count) == (8, 4))
        #expect(second.shortage.scope == .owner)
        let others = ["c", "d", "e", "f"].map { takeAll(slots, for: $0) }
        #expect(others.map(\.taken.count) == [1, 1, 1, 1])
        #expect(others.last?.shortage == SlotShortage(.all, count: 16))
        let late = takeAll(slots, for: "g")
        #expect(late.taken.isEmpty && late.shortage.scope == .all)
        #expect(slots.count == 16)
        withExtendedLifetime((first, second, others)) {}
    }

    @Test func memberGetsAQuarterOfAll() {
        let slots = SharedSlots<String>(limit: 16)
        let first = takeAll(slots, for: "a", member: "1")
        #expect(first.taken.count == 4 && first.shortage == SlotShortage(.member, count: 4))
        // Another owner's member of the same name is another member.
        let other = takeAll(slots, for: "b", member: "1")
        #expect(other.taken.count == 4)
        let second = takeAll(slots, for: "a", member: "2")
        #expect(second.taken.count == 4)
        withExtendedLifetime((first, other, second)) {}
    }

    @Test func slotsAreFreeAgainWhenTheirHoldersEnd() {
        let slots = SharedSlots<String>(limit: 4)
        for _ in 0..<3 {
            let (taken, _) = takeAll(slots, for: "a", member: "1")
            #expect(taken.count == 1 && slots.count == 1)
        }
        #expect(slots.count == 0)
    }
}
