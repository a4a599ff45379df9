import Basics
import Database

/// Reads the signing keys again, which another gateway may have rotated.
final class SigningKeyUpdates: Sendable {
    private struct State {
        /// One read a second, however many tokens name unknown keys.
        var permitted = TokenBucket(burst: 1, refill: 1, period: 1e6)
        var current: Task<Bool, Never>?
    }

    private let store: SigningKeyStore
    private let database: Database
    private let tokens: AccessTokens
    private let state = Lock(State())

    init(_ store: SigningKeyStore, _ database: Database, _ tokens: AccessTokens) {
        (self.store, self.database, self.tokens) = (store, database, tokens)
    }

    /// Reads the keys.
    func read() async throws {
        tokens.use(try await database.read { [store] in try store.read(in: $0) })
    }

    /// Reads the keys if a token names one that is not known, at most once a second. Calls during a read wait for its result.
    ///
    /// - Returns: whether they were read.
    nonisolated(nonsending) func read(for token: String, at now: UnixTime) async -> Bool {
        guard tokens.namesUnknownKey(token) else { return false }
        let reading = state.withLock { state in
            if let current = state.current { return Optional(current) }
            guard state.permitted.take(at: UInt64(clamping: now.microseconds)) else { return nil }
            let reading = Task { await readOnce() }
            state.current = reading
            return reading
        }
        return await reading?.value ?? false
    }

    private func readOnce() async -> Bool {
        defer { state.withLock { $0.current = nil } }
        do {
            try await read()
            return true
        } catch {
            // The token is refused; the sweep reports why keys cannot be read.
            return false
        }
    }
}
