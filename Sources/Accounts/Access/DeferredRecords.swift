package import Basics
import Database
import HTTPTypes
import RPC
import Synchronization

/// Records that are not worth a commit each: the last use of keys, sessions and API tokens, refusals, the clocks of devices, and
/// sign-ins that change nothing.
///
/// They are collected in memory and written at most once a minute, so that unknown callers cannot cause fsyncs. A key's *first* use
/// is written at once: it happens once, and the reinit policy `window` depends on it.
package final class DeferredRecords: Sendable {
    /// A credential whose last use is recorded.
    private enum Used: Hashable {
        case key(String, deviceID: String?)
        case session(String)
        case token(String, address: String)
    }

    /// The party whose share of the entries counts.
    private enum Party: Hashable {
        case nobody
        /// The callers of an organization; `nil` = of none.
        case organization(Int64?)

        init(_ entry: AuditEntry) {
            self = entry.actor == "nobody" ? .nobody : .organization(entry.organization?.id)
        }

        /// The number of distinct entries in one minute.
        var limit: Int { self == .nobody ? entryKindsOfNobody : entryKindsOfOrganization }
    }

    private struct ClockOffset {
        let seconds: Int64
        let at: UnixTime
    }

    private struct Pending {
        var uses: [Used: UnixTime] = [:]
        /// By the ids of devices, and by the reasons.
        var refusals: [String: [String: RefusalTally]] = [:]
        /// The differences of devices' clocks, by the ids of their keys.
        var clocks: [String: ClockOffset] = [:]
        /// The number of times that each entry was noted. Their `peer` is an address block, their `count` is 1.
        var entries: [AuditEntry: Int] = [:]
        /// The number of distinct entries of each party.
        var kinds: [Party: Int] = [:]
        var writtenAt: UnixTime?

        var isEmpty: Bool { uses.isEmpty && refusals.isEmpty && clocks.isEmpty && entries.isEmpty }

        /// Whether the entry is known, or may be added; if so, it is counted for its party.
        mutating func admits(_ entry: AuditEntry) -> Bool {
            guard entries[entry] == nil else { return true }
            let party = Party(entry)
            guard entries.count < entryKinds, kinds[party, default: 0] < party.limit else { return false }
            kinds[party, default: 0] += 1
            return true
        }
    }

    private static let intervalMicroseconds: Int64 = 60_000_000
    /// The number of distinct entries in one minute, how many of them may be of unknown callers, and how many of one organization;
    /// further ones are counted together as `others`, from `other`. This way unknown callers cannot write more lines in a month than
    /// the audit log keeps, and no organization hides who was refused in another.
    private static let entryKinds = 1000
    private static let entryKindsOfNobody = 100
    private static let entryKindsOfOrganization = 250
    /// The number of uses in one minute; further ones are recorded in the next.
    private static let maximumUses = 100_000
    /// The number of devices' refusals, and of their clocks, in one minute; further ones are not recorded.
    private static let maximumOfDevices = 20_000
    /// The difference of a device's clock from which it is recorded, in seconds.
    private static let notedOffset: Int64 = 120

    private let database: Database
    private let pending = Lock(Pending())
    private let contacts = Lock<(any DeviceContacts)?>(nil)

    init(database: Database) {
        self.database = database
    }

    /// Sets the registry in which uses of devices' keys are recorded as well.
    package func report(to contacts: any DeviceContacts) {
        self.contacts.withLock { $0 = contacts }
    }

    /// Records the use of a key; a use within a minute of the recorded one is not recorded again.
    func noteUse(of key: APIKeyRecord, at now: UnixTime) {
        if let last = key.lastUsedAt, now.microseconds - last.microseconds < Self.intervalMicroseconds { return }
        var deviceID: String?
        if case .device(let id, _) = key.owner { deviceID = id }
        let used = Used.key(key.id, deviceID: deviceID)
        if key.lastUsedAt == nil {
            // Written alone: records that are collected for a minute wait for it, however many keys are new.
            pending.withLock { $0.writtenAt = $0.writtenAt ?? now }
            return write(Pending(uses: [used: now]), at: now)
        }
        noteLater(used, at: now)
    }

    /// Counts a refused call that had the device's credential or its token.
    func noteRefusal(of deviceID: String, _ error: RPCError, at now: UnixTime) {
        pending.withLock { pending in
            guard pending.refusals[deviceID] != nil || pending.refusals.count < Self.maximumOfDevices else { return }
            if pending.refusals[deviceID, default: [:]][error.code]?.add(error.message, at: now) == nil {
                pending.refusals[deviceID, default: [:]][error.code] = RefusalTally(error.message, at: now)
            }
        }
        flushIfDue(at: now)
    }

    /// Returns the device's refused calls that are not written yet, by their reasons.
    package func refusals(of deviceID: String) -> [String: RefusalTally] {
        pending.withLock { $0.refusals[deviceID] ?? [:] }
    }

    /// Counts a refused call with a key's credential or its token, if it is a device's.
    func noteRefusal(of key: APIKeyRecord, _ error: RPCError, at now: UnixTime) {
        if case .device(let id, _) = key.owner { noteRefusal(of: id, error, at: now) }
    }

    /// Records that the clock of a key's owner is wrong.
    ///
    /// - Parameter offset: the seconds that it is ahead; small differences are not recorded.
    package func noteClock(ofKey id: String, offset: Int64, at now: UnixTime) {
        guard offset.magnitude >= Self.notedOffset.magnitude else { return }
        pending.withLock { pending in
            guard pending.clocks[id] != nil || pending.clocks.count < Self.maximumOfDevices else { return }
            pending.clocks[id] = ClockOffset(seconds: offset, at: now)
        }
        flushIfDue(at: now)
    }

    /// Records the use of a session; a use within a minute of `last`, the recorded one, is not recorded again.
    func noteUse(ofSession id: String, lastAt last: UnixTime, at now: UnixTime) {
        if now.microseconds - last.microseconds >= Self.intervalMicroseconds { noteLater(.session(id), at: now) }
    }

    /// Records the use of an API token, its first one at once.
    func noteUse(of token: APITokenRecord, from address: String, at now: UnixTime) {
        let used = Used.token(token.id, address: address)
        guard let last = token.lastUsedAt else {
            pending.withLock { $0.writtenAt = $0.writtenAt ?? now }
            return write(Pending(uses: [used: now]), at: now)
        }
        if now.microseconds - last.microseconds >= Self.intervalMicroseconds { noteLater(used, at: now) }
    }

    private func noteLater(_ used: Used, at now: UnixTime) {
        pending.withLock { pending in
            if pending.uses.count < Self.maximumUses { pending.uses[used] = now }
        }
        flushIfDue(at: now)
    }

    /// Records that an unknown caller was refused.
    ///
    /// - Parameters:
    ///   - action: the method's name.
    ///   - result: the code of the error.
    ///   - host: the caller's address; only its /24 or /56 is kept.
    package func noteDenial(_ action: String, _ result: String, host: String, at now: UnixTime) {
        note(AuditEntry(actor: "nobody", action: action, target: "", peer: host, result: result), at: now)
    }

    /// Counts the entry into one line a minute for all equal entries from its address block.
    package func note(_ entry: AuditEntry, at now: UnixTime) {
        var entry = entry
        entry.peer = AddressRange.neighbourhood(entry.peer)
        pending.withLock { pending in
            if !pending.admits(entry) {
                entry = AuditEntry(
                    actor: "others", organization: entry.organization, action: entry.action, target: "", peer: "other",
                    result: entry.result)
            }
            pending.entries[entry, default: 0] += 1
        }
        flushIfDue(at: now)
    }

    /// Starts to write pending records, without waiting for the result. Records that the database cannot accept now are lost.
    package func flush(at now: UnixTime) {
        let taken = pending.withLock { pending in
            let taken = pending
            pending = Pending(writtenAt: now)
            return taken
        }
        if !taken.isEmpty { write(taken, at: now) }
    }

    private func write(_ pending: Pending, at now: UnixTime) {
        let contacts = contacts.withLock { $0 }
        // For the gateway: the records belong to many, and would be lost with the waiting writes of the one who calls now.
        database.submit(
            for: nil,
            { connection in
                for (used, time) in pending.uses {
                    switch used {
                    case .key(let id, let deviceID):
                        try APIKeyRecords(connection).noteUse(id: id, at: time)
                        if let deviceID { try contacts?.noteSeen(deviceID, at: time, in: connection) }
                    case .session(let id): try SessionRecords(connection).noteUse(id: id, at: time)
                    case .token(let id, let address):
                        try APITokenRecords(connection).noteUse(id: id, from: address, at: time)
                    }
                }
                if let contacts {
                    for (id, reasons) in pending.refusals {
                        for (reason, tally) in reasons { try contacts.note(tally, reason, of: id, in: connection) }
                    }
                    for (id, offset) in pending.clocks {
                        guard case .device(let device, _) = try APIKeyRecords(connection).find(id: id)?.owner else {
                            continue
                        }
                        try contacts.noteClock(offset: offset.seconds, of: device, at: offset.at, in: connection)
                    }
                }
                for (var entry, count) in pending.entries {
                    entry.count = count
                    try Audit.record(entry, at: now, in: connection)
                }
            }, reply: { _ in })
    }

    private func flushIfDue(at now: UnixTime) {
        let isDue = pending.withLock { pending in
            guard let last = pending.writtenAt else {
                pending.writtenAt = now
                return false
            }
            return now.microseconds - last.microseconds >= Self.intervalMicroseconds
        }
        if isDue { flush(at: now) }
    }
}
