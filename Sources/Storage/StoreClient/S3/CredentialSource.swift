package import Basics
import Crypto
package import StoreProtocol

/// The credentials for a store, which may change while the process runs.
package protocol CredentialSource: Sendable {
    /// Returns the credentials for the next request. Concurrent callers wait for one renewal.
    func current() async throws -> SigningCredentials

    /// Reports that the store refused a request with these credentials as expired or unknown.
    func refused(_ credentials: SigningCredentials) async
}

/// Credentials that never change.
package struct StaticCredentials: CredentialSource {
    private let credentials: SigningCredentials

    package init(_ credentials: SigningCredentials) {
        self.credentials = credentials
    }

    package func current() -> SigningCredentials { credentials }

    package func refused(_ credentials: SigningCredentials) {}
}

/// A place that credentials are loaded from: a file, the environment, or a service that issues them for some time.
package protocol CredentialLoader: Sendable {
    func load() async throws -> LoadedCredentials

    /// Returns whether other credentials may be there than those that were loaded. Called for each request, so it waits for nothing.
    func hasChanged() -> Bool
}

package struct LoadedCredentials: Sendable {
    package let credentials: SigningCredentials
    /// `nil` = unknown.
    package let expiresAt: UnixTime?

    package init(_ credentials: SigningCredentials, expiresAt: UnixTime? = nil) {
        self.credentials = credentials
        self.expiresAt = expiresAt
    }
}

/// Credentials that are loaded again when their place changes, before they expire, and after the store refused them.
package actor RenewedCredentials: CredentialSource {
    /// The remaining time from which on credentials are renewed.
    private static let margin = Duration.seconds(300)
    /// The time in which credentials that were loaded again without a change are not loaded once more.
    private static let pause = Duration.seconds(5)

    private let loader: any CredentialLoader
    private let clock: any WallClock
    private var held: LoadedCredentials?
    private var isRefused = false
    /// The end of the time in which nothing is loaded.
    private var pauseEnd: UnixTime?
    private var renewal: Task<LoadedCredentials, any Error>?

    package init(_ loader: any CredentialLoader, clock: any WallClock) {
        self.loader = loader
        self.clock = clock
    }

    package func current() async throws -> SigningCredentials {
        if let held, !isDue(held) { return held.credentials }
        do {
            return try await renewed().credentials
        } catch {
            // The held ones are used as long as they are valid.
            guard let held, !isRefused, !isExpired(held) else { throw error }
            pauseEnd = clock.now().adding(Self.pause)
            return held.credentials
        }
    }

    package func refused(_ credentials: SigningCredentials) {
        // Others were loaded meanwhile.
        guard let held, held.credentials.isSame(as: credentials) else { return }
        isRefused = true
    }

    private func isDue(_ held: LoadedCredentials) -> Bool {
        if loader.hasChanged() { return true }
        if let pauseEnd, clock.now() < pauseEnd { return false }
        return isRefused || held.expiresAt.map { $0 < clock.now().adding(Self.margin) } == true
    }

    private func isExpired(_ held: LoadedCredentials) -> Bool { held.expiresAt.map { $0 <= clock.now() } == true }

    private func renewed() async throws -> LoadedCredentials {
        if let renewal { return try await renewal.value }
        let task = Task { [loader] in try await loader.load() }
        renewal = task
        defer { renewal = nil }
        let loaded = try await task.value
        let isSame = held?.credentials.isSame(as: loaded.credentials) == true
        held = loaded
        isRefused = false
        pauseEnd = isSame ? clock.now().adding(Self.pause) : nil
        return loaded
    }
}

extension SigningCredentials {
    func isSame(as other: SigningCredentials) -> Bool {
        accessKeyID == other.accessKeyID && secret.matches(other.secret) && securityToken == other.securityToken
    }
}
