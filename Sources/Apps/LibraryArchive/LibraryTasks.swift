import Basics
import RPC
import Synchronization

/// The imports and exports in progress: one at a time for each library, and a limited number that hold a library in memory.
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

    /// The task in progress; `nil` = none.
    func task(of owner: Int64) -> Kind? { state.withLock { $0.running[owner] } }

    /// Runs a task of a library.
    ///
    /// - Throws: UNAVAILABLE while another task of the library runs.
    nonisolated(nonsending) func run<T>(
        _ kind: Kind, of owner: Int64, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        let isFree = state.withLock { state in
            guard state.running[owner] == nil else { return false }
            state.running[owner] = kind
            return true
        }
        guard isFree else { throw ArchiveFailure.busy(kind) }
        // Whatever the outcome is, so that no error leaves the library busy.
        defer { state.withLock { $0.running[owner] = nil } }
        return try await body()
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
