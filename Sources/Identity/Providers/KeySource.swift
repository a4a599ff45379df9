import Basics
import Database
import GRPCWire
import IdentityTokens
import RPC

/// The key set of one provider: read when a token needs it, kept while it is fresh, and kept in the database for outages.
///
/// An outage of the provider never signs anybody out: the last good set verifies for a day, and after it calls are UNAVAILABLE, not
/// refused.
actor KeySource {
    /// The bounds of the time for which a set is fresh, whatever the provider says.
    private static let freshness = Duration.minutes(5)...Duration.hours(24)
    /// The time for which the last good set verifies although it cannot be read again.
    private static let outage = Duration.hours(24)
    /// The pause between two readings because of an unknown key.
    private static let pauseForUnknown = Duration.minutes(1)
    /// The pause after a failed reading: short while there are no keys, because every call waits for them.
    private static let (pauseWithKeys, pauseWithout) = (Duration.minutes(1), Duration.seconds(5))

    private struct Known {
        let keys: JSONWebKeySet
        let readAt: UnixTime
        let freshUntil: UnixTime

        func isFresh(at now: UnixTime) -> Bool { now < freshUntil && readAt <= now.adding(.minutes(1)) }

        func verifies(at now: UnixTime) -> Bool { now < readAt.adding(outage) }
    }

    private let provider: IdentityProvider
    private let metadata: MetadataSource
    private let transport: any ProviderTransport
    private let database: Database
    private let clock: any WallClock
    private let log: Logger
    private var known: Known?
    private var isStoredSetRead = false
    private var failedAt: UnixTime?
    private var unknownKeyRequestedAt: UnixTime?
    private var reading: Task<Void, Never>?

    init(
        _ provider: IdentityProvider, metadata: MetadataSource, transport: any ProviderTransport, database: Database,
        clock: any WallClock, log: Logger
    ) {
        self.provider = provider
        self.metadata = metadata
        self.transport = transport
        self.database = database
        self.clock = clock
        self.log = log
    }

    /// Returns the keys with which a token may be verified. The key that the token names may be missing: then the provider has no
    /// such key.
    ///
    /// - Parameter id: the key that the token names.
    /// - Throws: UNAVAILABLE if the provider's keys cannot be had, or if they might have changed during an outage.
    func keys(for id: String?) async throws -> JSONWebKeySet {
        try await readStored()
        if let keys = fresh(id) { return keys }
        if let reading {
            await reading.value
        } else if mayRead() {
            await read()
        }
        let now = clock.now()
        if failedAt == nil, let known, known.isFresh(at: now) { return known.keys }
        guard let known, known.verifies(at: now), known.keys.hasKey(id) else { throw unavailable }
        return known.keys
    }

    private func fresh(_ id: String?) -> JSONWebKeySet? {
        guard let known, known.isFresh(at: clock.now()), known.keys.hasKey(id) else { return nil }
        return known.keys
    }

    /// Whether the set may be read again now: strangers choose the `kid` of their tokens, and an outage makes each reading slow.
    private func mayRead() -> Bool {
        let now = clock.now()
        if let known, known.isFresh(at: now) {
            guard Self.isOver(Self.pauseForUnknown, since: unknownKeyRequestedAt, at: now) else { return false }
            unknownKeyRequestedAt = now
            return true
        }
        let hasKeys = known?.verifies(at: now) == true
        return Self.isOver(hasKeys ? Self.pauseWithKeys : Self.pauseWithout, since: failedAt, at: now)
    }

    private static func isOver(_ pause: Duration, since time: UnixTime?, at now: UnixTime) -> Bool {
        guard let time else { return true }
        return !(Duration.zero..<pause).contains(now.duration(since: time))
    }

    private func read() async {
        let task = Task { await self.readNow() }
        reading = task
        await task.value
        reading = nil
    }

    private func readNow() async {
        do {
            let url = if let url = provider.keysURL { url } else { try await metadata.metadata().keysURL }
            let document = try await transport.get(url, limit: JSONWebKeySet.maximumBytes)
            let keys = try JSONWebKeySet(parsing: document.body)
            if !keys.ambiguities.isEmpty, keys.ambiguities != known?.keys.ambiguities {
                log.write(
                    "keys of an identity provider are ambiguous",
                    [
                        "provider": provider.name, "keys": keys.ambiguities.joined(separator: "; "),
                        "consequence": "tokens that name them are refused",
                    ], level: .warning)
            }
            let now = clock.now()
            let age = document.maxAge ?? Self.freshness.lowerBound
            let fresh = min(max(age, Self.freshness.lowerBound), Self.freshness.upperBound)
            known = Known(keys: keys, readAt: now, freshUntil: now.adding(fresh))
            failedAt = nil
            await store(document.body, at: now)
        } catch {
            failedAt = clock.now()
            log.write(
                "the keys of an identity provider cannot be read",
                [
                    "provider": provider.name, "error": "\(error)",
                    "consequence": known == nil
                        ? "sign-ins with it fail" : "tokens are verified with the last keys, for a day at most",
                ], level: .warning)
        }
    }

    /// Takes the set that an earlier process stored. It is not fresh, and used if the provider cannot be reached.
    private func readStored() async throws {
        guard !isStoredSetRead else { return }
        let (name, issuer) = (provider.name, provider.issuer)
        let stored = try await database.read { try ProviderKeyRecords($0).find(provider: name, issuer: issuer) }
        guard !isStoredSetRead else { return }
        isStoredSetRead = true
        guard known == nil, let stored, let keys = try? JSONWebKeySet(parsing: stored.body) else { return }
        known = Known(keys: keys, readAt: stored.readAt, freshUntil: stored.readAt)
    }

    private func store(_ body: [UInt8], at now: UnixTime) async {
        let (name, issuer) = (provider.name, provider.issuer)
        do {
            try await database.write {
                try ProviderKeyRecords($0).replace(provider: name, issuer: issuer, body: body, at: now)
            }
        } catch {
            log.write(
                "the keys of an identity provider cannot be stored",
                [
                    "provider": name, "error": "\(error)",
                    "consequence": "after a restart during an outage of the provider, sign-ins with it fail",
                ], level: .warning)
        }
    }

    private var unavailable: RPCError {
        RPCError(
            bare: .unavailable, "the keys of the identity provider \(provider.name) cannot be read: try again later",
            retryAfterMilliseconds: 5000)
    }
}

/// A provider of the configuration with its documents.
struct ProviderSource: Sendable {
    let provider: IdentityProvider
    let transport: any ProviderTransport
    let metadata: MetadataSource
    let keys: KeySource
    /// The exchanges of codes that may be in progress or waiting for a connection, shared by addresses, because nobody is known yet.
    /// The documents are read by one caller for all.
    let exchanges = SharedSlots<String>(limit: 64)

    init(
        _ provider: IdentityProvider, transport: any ProviderTransport, database: Database, clock: any WallClock,
        log: Logger
    ) {
        self.provider = provider
        self.transport = transport
        metadata = MetadataSource(issuer: provider.issuer, transport: transport, clock: clock)
        keys = KeySource(
            provider, metadata: metadata, transport: transport, database: database, clock: clock, log: log)
    }
}
