import Foundation
import TestSupport
import Testing

/// Simulations from seeds, each of which drives a client and a gateway through its own faults: docs/laboratory.md.
///
/// `LAB_SEEDS` sets the number of seeds (500), `LAB_SEED` selects a single one, whose trace is always printed.
@Suite(.timeLimited) struct LaboratoryTests {
    /// The number of simulations that share a world: rows of earlier ones slow down later ones.
    private static let simulationsInAWorld = 25
    private static let environment = ProcessInfo.processInfo.environment

    private static func number(_ name: String) -> UInt64? { environment[name].flatMap { UInt64($0) } }

    @Test func theRulesHoldUnderEverySeed() async throws {
        if let seed = Self.number("LAB_SEED") {
            let failure = try await Self.failure(of: seed, alwaysTraced: true)
            if let failure { Issue.record("\(failure)") }
            return
        }
        let seeds = Self.number("LAB_SEEDS") ?? 500
        let lanes = UInt64(max(2, ProcessInfo.processInfo.activeProcessorCount))
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var failures: [String] = []
                    var worlds: [Bool: (World, left: Int)] = [:]
                    for seed in stride(from: lane + 1, through: seeds, by: Int(lanes)) where failures.count < 3 {
                        let isTight = Self.isTight(seed)
                        let (world, left) = try worlds[isTight] ?? (World(isTight: isTight), Self.simulationsInAWorld)
                        worlds[isTight] = left > 1 ? (world, left - 1) : nil
                        if let failure = try await Self.failure(of: seed, in: world) {
                            failures.append(failure)
                            worlds[isTight] = nil
                        }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for failure in failures { Issue.record("\(failure)") }
    }

    /// A laboratory without findings may simply not detect anything.
    @Test(arguments: Sabotage.allCases) func everySabotageIsFound(_ sabotage: Sabotage) async throws {
        for seed in UInt64(1)...100 {
            let world = try World(isTight: false)
            if try await Self.failure(of: seed, in: world, sabotage: sabotage) != nil { return }
        }
        Issue.record("nobody noticed \(sabotage)")
    }

    /// Whether a seed has a quota that it may reach, which is every fourth.
    private static func isTight(_ seed: UInt64) -> Bool { seed % 4 == 0 }

    /// - Returns: a description of the failure; `nil` without a failure.
    private static func failure(
        of seed: UInt64, in world: World? = nil, sabotage: Sabotage? = nil, alwaysTraced: Bool = false
    ) async throws -> String? {
        let simulation = try Simulation(
            seed: seed, in: try world ?? World(isTight: isTight(seed)), sabotage: sabotage)
        var result: String?
        do {
            try await simulation.run()
        } catch {
            result = """
                seed \(seed): \(error)
                \(simulation.trace.joined(separator: "\n"))
                again: LAB_SEED=\(seed) swift test --disable-xctest --filter LaboratoryTests
                """
        }
        if alwaysTraced { print(simulation.trace.joined(separator: "\n")) }
        return result
    }
}
