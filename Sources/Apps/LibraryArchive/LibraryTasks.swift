import Basics
import Database
import RPC
import Synchronization

/// The imports and exports in progress: one at a time for each library, of all gateways, and a limited number that hold a library in the
/// memory of this one.
final class LibraryTasks: Sendable {
    enum Kind: String, Sendable {
        case importing
        case exporting
    }

    /// The number of libraries that are in memory at once.
    private static let workspaces = 2

    private struct State {
        var running: [Int64: Kind] = [:]
        var workspaces = 0
    }

    private let state = Lock(State())
    private let leases: Leases

    init(_ leases: Leases) {
        self.leases = leases
    }

    /// The task in progress, at any gateway; `nil` = none.
    func task(of owner: Int64) async throws -> Kind? {
        if let kind = state.withLock({ $0.running[owner] }) { return kind }
        return try await leases.work(under: Self.lease(of: owner)).flatMap { Kind(rawValue: $0) }
    }

    private static func lease(of owner: Int64) -> String { "library/\(owner)" }

    /// Runs a task of a library.
    ///
    /// - Parameter body: gets the lease under which it writes; `nil` = no other gateway uses the database.
    /// - Throws: UNAVAILABLE while another task of the library runs.
    nonisolated(nonsending) func run<T>(
        _ kind: Kind, of owner: Int64, _ body: nonisolated(nonsending) (Lease?) async throws -> T
    ) async throws -> T {
        let isFree = state.withLock { state in
            guard state.running[owner] == nil else { return false }
            state.running[owner] = kind
            return true
        }
        guard isFree else { throw ArchiveFailure.busy(kind) }
        // Whatever the outcome is, so that no error leaves the library busy.
        defer { state.withLock { $0.running[owner] = nil } }
        let result = try await leases.holding(Self.lease(of: owner), for: kind.rawValue, body)
        guard let result else { throw ArchiveFailure.busy(kind) }
        return result
    }

    /// Runs the part of a task that holds a library in memory.
    ///
    /// - Throws: UNAVAILABLE while others need the memory.
    nonisolated(nonsending) func withWorkspace<T>(
        _ kind: Kind, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        let hasPlace = state.withLock { state in
            guard state.workspaces < Self.workspaces else { return false }
            state.workspaces += 1
            return true
        }
        guard hasPlace else { throw ArchiveFailure.busy(kind) }
        defer { state.withLock { $0.workspaces -= 1 } }
        return try await body()
    }
}
