import Basics
import TestSupport
import Testing

@testable import ObjectStore

/// The shares of the memory for bodies.
@Suite(.timeLimited) struct HeldBlocksTests {
    /// Takes the blocks of bodies until one is refused, and returns their number.
    private func fill(_ held: inout HeldBlocks, for owners: [WorkOwner]) -> Int {
        var count = 0
        while held.take(BodyPipeline.blocks, for: owners[count % owners.count]) { count += 1 }
        return count
    }

    @Test func ownerHasAtMostHalf() {
        var held = HeldBlocks(limit: 240)
        let counts = ["a", "b"].map { fill(&held, for: [.apiKey($0, of: 1)]) }
        #expect(counts == [40, 20])
    }

    @Test func lastQuarterIsForOrganizationsThatHaveLittle() {
        var held = HeldBlocks(limit: 240)
        let counts = (1...2).map { (organization: Int64) in
            fill(&held, for: (0..<200).map { .apiKey("\(organization) \($0)", of: organization) })
        }
        #expect(counts == [60, 10])
        let hasSpace = held.take(BodyPipeline.blocks, for: .staticKey("key"))
        #expect(hasSpace)
    }

    @Test func blocksThatWereGivenBackCanBeTaken() {
        var held = HeldBlocks(limit: 8)
        for _ in 0..<3 {
            let taken = [3, 1, 1].map { held.take($0, for: .apiKey("a", of: 1)) }
            #expect(taken == [true, true, false])
            held.give(3, back: .apiKey("a", of: 1))
            held.give(1, back: .apiKey("a", of: 1))
            #expect(held.all == 0)
        }
    }

    @Test func withLittleMemoryOneBodyIsReceived() {
        var held = HeldBlocks(limit: 4)
        let first = held.take(3, for: .apiKey("a", of: 1))
        let others = [3, 1].map { held.take($0, for: .apiKey("b", of: 2)) }
        #expect(first && others == [false, true])
    }
}
