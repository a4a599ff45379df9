import Basics
import Crypto
import Database
import RPC

/// The rules of codes: checking, registering and looking up.
struct ShareCodeRegistry: Sendable {
    /// A request to register a code.
    struct Registration: Sendable {
        let code: ShareCode
        let umid: String
        let data: String
        let period: ShareCodePeriod
        /// Whether the call has the token of the umid.
        let isProven: Bool
    }

    /// The data of a code, for everybody who has the code.
    struct Shared: Sendable, Hashable {
        let data: String
        let expiresAt: UnixTime
    }

    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    let contents: SealedContents
    let origins: RowOrigins
    let live: RowEstimate
    let metrics: ShareCodeMetrics

    /// Returns whether a code is free. Reserves nothing.
    ///
    /// - Parameter address: the address that asks, as limits count it.
    func isFree(_ code: ShareCode, for address: String) async throws -> Bool {
        try limits.countCheck(of: address)
        try limits.countMiss(of: address)
        let now = clock.now()
        let isFree: Bool
        do {
            isFree = try await database.read {
                try ShareCodeRecords($0).find(code.key).map { $0.freeAt <= now } ?? true
            }
        } catch {
            limits.giveBackMiss(of: address)
            throw error
        }
        metrics.checked(isUnique: isFree)
        if isFree { limits.giveBackMiss(of: address) } else { metrics.missed() }
        return isFree
    }

    /// Registers a code. The primary key decides within the writer's transaction, so of several registrations at once one succeeds.
    ///
    /// A claimed umid needs its token, for a new code as well: a stranger could otherwise use up its codes. A registration that is
    /// repeated without the token, because its response was lost, changes nothing.
    ///
    /// - Returns: the end of the code.
    /// - Throws: ALREADY_EXISTS if somebody else has the code, UNAUTHENTICATED without the token of a claimed umid, RESOURCE_EXHAUSTED
    ///   if the umid has too many codes.
    func register(_ registration: Registration, for address: String) async throws -> UnixTime {
        try limits.countRegistration(of: address)
        let now = clock.now()
        let (code, umid, end) = (registration.code, registration.umid, registration.period.end)
        let sealed = contents.seal(registration.data, in: .code(code.key, umid: umid))
        let origin = origins.digest(of: address)
        return try await database.write { [live, contents] connection in
            let records = ShareCodeRecords(connection)
            let held = try records.find(code.key).flatMap { now < $0.freeAt ? $0 : nil }
            if let held, held.umid != umid { throw RPCError.alreadyExists("the share code is taken") }
            if try !registration.isProven && UmidRecords(connection).isClaimed(umid) {
                guard let held, try held.repeats(registration, contents, at: now) else {
                    throw RPCError(
                        .umidUnauthorized, "the umid is claimed: registering its share codes requires the umid's token")
                }
                return held.expiresAt
            }
            let isNew = held.map { !$0.isLive(at: now) } ?? true
            if isNew {
                try live.checkCapacity { try records.liveCount(ofOrigin: origin, at: now, limit: $0) }
                try Self.checkCount(of: umid, except: code.key, at: now, in: records)
            }
            try records.put(
                ShareCodeRecord(
                    key: code.key, umid: umid, sealed: sealed, minutes: registration.period.minutes,
                    createdAt: isNew ? now : held?.createdAt ?? now, expiresAt: end,
                    freeAt: end.adding(ShareCodePeriod.reservation)), origin: origin)
            if isNew { connection.afterCommit { live.add() } }
            return end
        }
    }

    private static func checkCount(
        of umid: String, except key: String, at now: UnixTime, in records: ShareCodeRecords<some ReadConnection>
    ) throws {
        let most = ShareCodesConfiguration.liveCodesOfUmid
        let ends = try records.liveEnds(of: umid, except: key, at: now, limit: most)
        guard ends.count >= most, let first = ends.first else { return }
        throw RPCError.rateLimited(
            "the umid has \(most) codes, which is the maximum: wait until one of them ends",
            retryAfterMilliseconds: Int(clamping: first.duration(since: now).wholeSeconds + 1) * 1000)
    }

    /// Returns the data of a live code.
    ///
    /// - Throws: NOT_FOUND if the code is not live.
    func lookUp(_ code: ShareCode, for address: String) async throws -> Shared {
        try limits.countMiss(of: address)
        let now = clock.now()
        let found: ShareCodeRecord?
        do {
            found = try await database.read { try ShareCodeRecords($0).find(code.key) }
        } catch {
            limits.giveBackMiss(of: address)
            throw error
        }
        guard let found, found.isLive(at: now), let sealed = found.sealed else {
            metrics.missed()
            throw RPCError.notFound("the share code does not exist, or has ended")
        }
        limits.giveBackMiss(of: address)
        return Shared(
            data: try contents.open(sealed, in: .code(found.key, umid: found.umid)), expiresAt: found.expiresAt)
    }
}

extension ShareCodeRecord {
    /// Whether the code is live and has the data of the registration.
    fileprivate func repeats(
        _ registration: ShareCodeRegistry.Registration, _ contents: SealedContents, at now: UnixTime
    ) throws -> Bool {
        guard isLive(at: now), let sealed else { return false }
        return try contents.open(sealed, in: .code(key, umid: umid)) == registration.data
    }
}

/// A code that a person tells others: 6 or 8 letters and digits. People type it, so upper and lower case are equal.
struct ShareCode: Sendable, Hashable {
    static let lengths = [6, 8]

    /// The code as it was sent.
    let text: String
    /// The code in upper case, in which codes are stored and compared.
    let key: String

    init(_ text: String) throws(RPCError) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIAlphanumeric) else {
            throw .invalid("shareCode", "must be 6 or 8 letters and digits")
        }
        self.text = text
        key = text.uppercased()
    }

    static func == (left: ShareCode, right: ShareCode) -> Bool { left.key == right.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The rules of collisions: codes that an app generated and that were not unique.
struct Collisions: Sendable {
    private static let attempts = 1...100

    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    let metrics: ShareCodeMetrics

    /// Counts a collision. The code itself is not stored.
    ///
    /// - Parameter length: the length of the code according to the app.
    func record(_ code: ShareCode, attempts: Int, length: Int, for address: String) async throws {
        guard Self.attempts.contains(attempts) else { throw RPCError.invalid("attempts", "must be 1 to 100") }
        guard length == code.text.utf8.count else {
            throw RPCError.invalid("codeLength", "must be the length of shareCode, \(code.text.utf8.count)")
        }
        try limits.countCollision(of: address)
        let now = clock.now()
        try await database.write { try CollisionRecords($0).add(length: length, attempts: attempts, at: now) }
        metrics.collided(length: length)
    }
}
