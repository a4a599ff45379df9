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
        let umid: String
        let data: String
        let expiresAt: UnixTime
    }

    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    let contents: SealedContents
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
    /// A code of a claimed umid is replaced only with the umid's token: everybody who has the code also learns the umid. A registration
    /// that is repeated without the token, because its response was lost, changes nothing.
    ///
    /// - Returns: the end of the code.
    /// - Throws: ALREADY_EXISTS if somebody else has the code, UNAUTHENTICATED without the token of a claimed umid, RESOURCE_EXHAUSTED
    ///   if the umid has too many codes.
    func register(_ registration: Registration, for address: String) async throws -> UnixTime {
        try limits.countRegistration(of: address)
        let now = clock.now()
        let (code, umid, end) = (registration.code, registration.umid, registration.period.end)
        let sealed = contents.seal(registration.data, in: .code(code.key, umid: umid))
        return try await database.write { [live, contents] connection in
            let records = ShareCodeRecords(connection)
            let held = try records.find(code.key)
            if let held, now < held.freeAt {
                guard held.umid == umid else { throw RPCError.alreadyExists("the share code is taken") }
                if try !registration.isProven && UmidRecords(connection).isClaimed(umid) {
                    let place = SealedContents.Place.code(held.key, umid: umid)
                    guard held.isLive(at: now), let sealed = held.sealed,
                        try contents.open(sealed, in: place) == registration.data
                    else {
                        throw RPCError(
                            .umidUnauthorized, "the umid is claimed: replacing its share code requires the umid's token"
                        )
                    }
                    return held.expiresAt
                }
            }
            let isNew = held.map { $0.umid != umid || !$0.isLive(at: now) } ?? true
            if isNew {
                try live.checkCapacity()
                try Self.checkCount(of: umid, except: code.key, at: now, in: records)
            }
            try records.put(
                ShareCodeRecord(
                    key: code.key, umid: umid, sealed: sealed, minutes: registration.period.minutes,
                    createdAt: isNew ? now : held?.createdAt ?? now, expiresAt: end,
                    freeAt: end.adding(ShareCodePeriod.reservation)))
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
            umid: found.umid, data: try contents.open(sealed, in: .code(found.key, umid: found.umid)),
            expiresAt: found.expiresAt)
    }
}
