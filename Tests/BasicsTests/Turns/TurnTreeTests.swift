import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct TurnTreeTests {
    /// An owner with endless work, which takes a time for each turn.
    private final class Party {
        let node: TurnNode
        let cost: UInt64
        var turns = 0

        init(_ node: TurnNode, cost: UInt64) {
            self.node = node
            self.cost = cost
            node.activate(self)
        }
    }

    private func run(_ tree: TurnTree, turns: Int) {
        for _ in 0..<turns {
            guard let next = tree.next as? Party else { return }
            next.turns += 1
            next.node.charge(next.cost)
        }
    }

    /// Parties refer to those that they are part of.
    @Test func activePartiesEndWithTheirTree() {
        weak var taker: Party?
        do {
            let tree = TurnTree()
            let party = Party(tree.node(for: .user(1, of: 1)), cost: 1)
            taker = party
            #expect(tree.isActive)
        }
        #expect(taker == nil)
    }

    @Test func timeCountsInsteadOfTurns() {
        let tree = TurnTree()
        let slow = Party(tree.node(for: .user(1, of: 1)), cost: 240)
        let quick = Party(tree.node(for: .user(2, of: 2)), cost: 1)
        run(tree, turns: 2410)
        #expect((9...11).contains(slow.turns))
        #expect(quick.turns >= 2399)
    }

    @Test func anOrganizationWithManyOwnersHasOneShare() {
        let tree = TurnTree()
        let flood = (0..<200).map { Party(tree.node(for: .apiKey("\($0)", of: 1)), cost: 10) }
        let other = Party(tree.node(for: .apiKey("other", of: 2)), cost: 10)
        run(tree, turns: 1000)
        #expect((499...501).contains(other.turns))
        // Its owners share its turns.
        #expect(flood.allSatisfy { (2...3).contains($0.turns) })
    }

    @Test func strangersTogetherHaveOneShare() {
        let tree = TurnTree()
        let flood = (0..<64).map { Party(tree.node(for: .address("192.0.2.\($0)")), cost: 10) }
        let known = Party(tree.node(for: .user(1, of: 1)), cost: 10)
        run(tree, turns: 1000)
        #expect((499...501).contains(known.turns))
        #expect(flood.reduce(0) { $0 + $1.turns } == 1000 - known.turns)
    }

    @Test func oneThatWorkedAloneIsNotBehindNewcomers() {
        let tree = TurnTree()
        let node = tree.node(for: .user(1, of: 1))
        for _ in 0..<1000 { node.chargeAlone(10) }
        let newcomer = Party(tree.node(for: .user(2, of: 2)), cost: 10)
        let earlier = Party(node, cost: 10)
        run(tree, turns: 100)
        #expect((49...51).contains(earlier.turns) && (49...51).contains(newcomer.turns))
    }

    @Test func newcomersComeBeforeThoseWhoWereServed() {
        let tree = TurnTree()
        let flood = Party(tree.node(for: .user(1, of: 1)), cost: 10)
        run(tree, turns: 100)
        for pause in 0..<5 {
            let other = Party(tree.node(for: .user(2, of: 2)), cost: 1)
            #expect(tree.next === other, "after pause \(pause)")
            run(tree, turns: 1)
            other.node.deactivate()
            run(tree, turns: 10)
        }
        #expect(flood.turns == 150)
    }

    @Test func pausesSaveNoTurns() {
        let tree = TurnTree()
        let steady = Party(tree.node(for: .user(1, of: 1)), cost: 10)
        let pausing = Party(tree.node(for: .user(2, of: 2)), cost: 10)
        pausing.node.deactivate()
        run(tree, turns: 100)
        pausing.node.activate(pausing)
        run(tree, turns: 20)
        #expect((9...11).contains(pausing.turns))
        #expect(steady.turns == 120 - pausing.turns)
    }

    @Test func usedTimeIsNotForgottenInAPause() {
        let tree = TurnTree()
        let expensive = Party(tree.node(for: .user(1, of: 1)), cost: 1000)
        let steady = Party(tree.node(for: .user(2, of: 2)), cost: 10)
        while expensive.turns == 0 { run(tree, turns: 1) }
        expensive.node.deactivate()
        run(tree, turns: 1)
        expensive.node.activate(expensive)
        let before = steady.turns
        while expensive.turns == 1 { run(tree, turns: 1) }
        #expect(steady.turns - before >= 98)
    }

    @Test func theGatewayItselfHasATenth() {
        let tree = TurnTree()
        let organizations = (0..<90).map { Party(tree.node(for: .user(1, of: Int64($0))), cost: 10) }
        let gateway = Party(tree.node(for: nil), cost: 10)
        run(tree, turns: 10_000)
        #expect(gateway.turns >= 1000)
        #expect(organizations.allSatisfy { (95...105).contains($0.turns) })
    }

    @Test func ownersWithoutWorkAreForgotten() {
        let tree = TurnTree()
        let working = Party(tree.node(for: .user(1, of: 1)), cost: 10)
        for number in 0..<(4 * TurnTree.keptOwners) { _ = tree.node(for: .address("\(number)")) }
        #expect(tree.ownerCount <= TurnTree.keptOwners)
        #expect(tree.node(for: .user(1, of: 1)) === working.node)
    }

    /// Removes parties at random places of the heap, and compares the order with a simple evaluation.
    @Test(arguments: 0..<20) func theLeastIsAlwaysNext(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let tree = TurnTree()
        var parties = (0..<50).map { Party(tree.node(for: .user(Int64($0), of: Int64($0))), cost: 0) }
        for _ in 0..<500 {
            guard let party = parties.randomElement(using: &random) else { break }
            if random.next() % 3 == 0 {
                party.node.deactivate()
                parties.removeAll { $0 === party }
            } else {
                party.node.charge(random.next() % 1000)
            }
            // Each owner is the only one of its organization, whose use is the same.
            let least = parties.compactMap { $0.node.parent?.used }.min()
            #expect((tree.next as? Party)?.node.parent?.used == least)
        }
    }
}
