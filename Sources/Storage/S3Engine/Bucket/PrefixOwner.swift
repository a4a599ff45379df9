package import Basics
import StoreClient

/// The reason why a gateway may not use a prefix: a sentence without a full stop.
package struct PrefixConflict: Error, Sendable, Hashable, CustomStringConvertible {
    /// The gateway that uses it; `nil` if the object does not name one.
    package let holder: PrefixHolder?
    package let description: String
}

/// The ownership of a prefix by this process.
package enum PrefixOwnership: Sendable, Hashable {
    case held
    /// The store has not confirmed it for ``PrefixOwner/certainty``: nothing may be removed.
    case unknown
    /// Another gateway uses the prefix, or nothing shows that this one does: permanent.
    case lost(to: PrefixHolder?)
}

/// The right of one gateway to write below a prefix of a bucket: the object `owner`, which names the gateway and is renewed by
/// conditional PUTs.
///
/// The age of another gateway's renewal is a difference of two times of the store, so no clock of a gateway decides. Whether this
/// process may still rely on its own last renewal is measured by the time since boot, which continues while the process or the
/// machine is stopped: a process that was stopped finds ``PrefixOwnership/unknown`` before it does anything else.
///
/// Gateways of a group have the right together: each renews the object, and a renewal by another one confirms it as well.
package final class PrefixOwner: Sendable {
    /// The time between two renewals.
    package static let interval = Duration.seconds(10)
    /// The time after a failed renewal until the next one.
    private static let retryInterval = Duration.seconds(2)
    /// The time after a renewal in which the prefix is certainly held. It is shorter than ``expiry`` by more than a request takes.
    package static let certainty = Duration.seconds(30)
    /// The time without renewal after which another gateway may take the prefix over.
    package static let expiry = Duration.seconds(60)
    /// The time after a renewal in which the next one is confirmed, if the store serves this process.
    private static let confirmationLimit = Duration.seconds(20)
    private static let maximumAttempts = 3
    /// The number of renewals that are recognized as this process's own.
    private static let keptRenewals = 16

    private struct State {
        var etag: String
        /// The time since boot when the request that was confirmed last was sent, in microseconds.
        var confirmedAt: Int64
        /// The latest renewals that were sent, confirmed or not, the oldest first.
        var renewals: [String]
        var loss: PrefixOwnership?
        var isReleased = false
        var reported = PrefixOwnership.held
        /// The latest request.
        var turn: Task<Bool, Never>?
    }

    package let holder: PrefixHolder
    private let object: OwnerObject
    private let clock: any MachineClock
    private let onChange: @Sendable (PrefixOwnership) -> Void
    private let state: Lock<State>

    private init(
        _ object: OwnerObject, _ holder: PrefixHolder, _ state: State, clock: any MachineClock,
        onChange: @escaping @Sendable (PrefixOwnership) -> Void
    ) {
        self.object = object
        self.holder = holder
        self.clock = clock
        self.onChange = onChange
        self.state = Lock(state)
    }

    // MARK: Taking

    /// Takes a prefix: one that no gateway has, that an earlier process of the same data directory had, or that is taken over.
    ///
    /// - Parameters:
    ///   - holder: this process; the same one for each attempt, so that one whose response was lost is recognized.
    ///   - takeOver: whether the prefix is taken from a gateway elsewhere that has not renewed it for ``expiry``.
    ///   - onChange: called for each change that a request notices, and at once for ``PrefixOwnership/lost(to:)``, which is the
    ///     last. It must not block.
    /// - Throws: ``PrefixConflict`` if another gateway uses it; the errors of ``S3Client``.
    package static func take(
        _ object: OwnerObject, as holder: PrefixHolder, takeOver: Bool = false, clock: any MachineClock,
        onChange: @escaping @Sendable (PrefixOwnership) -> Void
    ) async throws -> PrefixOwner {
        for _ in 0..<maximumAttempts {
            let sentAt = clock.sinceBoot()
            let found = try await object.read()
            if let found, let document = found.document, document.holder.id == holder.id {
                let state = State(etag: found.etag, confirmedAt: sentAt, renewals: [document.renewal])
                return PrefixOwner(object, holder, state, clock: clock, onChange: onChange)
            }
            if let found { try permit(found, to: holder, takeOver, object) }
            let document = OwnerDocument(holder)
            if case .stored(let etag) = try await object.write(document, over: found?.etag) {
                let state = State(etag: etag, confirmedAt: sentAt, renewals: [document.renewal])
                return PrefixOwner(object, holder, state, clock: clock, onChange: onChange)
            }
        }
        throw PrefixConflict(
            holder: nil, description: "\(object.description) changes while it is read: several gateways start at once")
    }

    private static func permit(
        _ found: OwnerObject.Found, to taker: PrefixHolder, _ takeOver: Bool, _ object: OwnerObject
    ) throws(PrefixConflict) {
        let holder = found.document?.holder
        if let holder, holder.hasEnded(before: taker) || holder.shares(with: taker) { return }
        let takeOver = takeOver || holder?.isAtPlace(of: taker) == true || holder?.isOfGroup(before: taker) == true
        let user = holder.map { "is in use by \($0)" } ?? "exists and names no gateway"
        let renewal = found.age.map { ", renewed \($0.wholeSeconds) seconds ago" } ?? ""
        let problem = "\(object.description) \(user)\(renewal)"
        guard takeOver else {
            throw PrefixConflict(
                holder: holder,
                description: "\(problem): stop that gateway, or start this one with --take-over if it has ended")
        }
        guard let age = found.age else {
            throw PrefixConflict(
                holder: holder,
                description:
                    "\(problem): the engine does not report when, so the prefix cannot be taken over; make sure "
                    + "that no gateway uses it, and remove the object")
        }
        guard age >= expiry else {
            throw PrefixConflict(
                holder: holder,
                description: "\(problem): it can be taken over after \(expiry.wholeSeconds) seconds without renewal")
        }
    }

    // MARK: State

    /// The ownership at this moment.
    package var ownership: PrefixOwnership {
        let now = clock.sinceBoot()
        return state.withLock { Self.ownership($0, now) }
    }

    /// Whether the store has confirmed a renewal lately.
    package var isConfirmedLately: Bool {
        let now = clock.sinceBoot()
        return state.withLock { Duration.microseconds(now - $0.confirmedAt) < Self.confirmationLimit }
    }

    private static func ownership(_ state: State, _ now: Int64) -> PrefixOwnership {
        if let loss = state.loss { return loss }
        if state.isReleased { return .lost(to: nil) }
        return Duration.microseconds(now - state.confirmedAt) < certainty ? .held : .unknown
    }

    // MARK: Renewal

    /// Renews the ownership until it is lost or released, or the task is canceled.
    ///
    /// - Parameter pause: waits for a time; it throws to end the renewals.
    package func run(
        pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async {
        var isRenewed = true
        while (try? await pause(isRenewed ? Self.interval : Self.retryInterval)) != nil, !Task.isCancelled {
            isRenewed = await confirm()
            if case .lost = ownership { return }
        }
    }

    /// Renews the ownership now: `true` only if the store has confirmed that this process has the prefix. Called before each batch
    /// of removals, which then has ``certainty`` to end.
    ///
    /// Concurrent callers take turns.
    package func confirm() async -> Bool {
        await inTurn { await self.renew() }
    }

    private func inTurn(_ request: @escaping @Sendable () async -> Bool) async -> Bool {
        let task = state.withLock { state in
            let earlier = state.turn
            let task = Task {
                _ = await earlier?.value
                return await request()
            }
            state.turn = task
            return task
        }
        return await task.value
    }

    private func renew() async -> Bool {
        let document = OwnerDocument(holder)
        let etag: String? = state.withLock { state in
            guard state.loss == nil, !state.isReleased else { return nil }
            state.renewals = state.renewals.suffix(Self.keptRenewals - 1) + [document.renewal]
            return state.etag
        }
        guard let etag else { return false }
        let sentAt = clock.sinceBoot()
        let isConfirmed: Bool
        do {
            switch try await object.write(document, over: etag) {
            case .stored(let etag): isConfirmed = record(etag, sentAt)
            case .conflict: isConfirmed = try await resolve(sentAt)
            }
        } catch {
            isConfirmed = false
        }
        report()
        return isConfirmed
    }

    /// Decides after a conflict: an earlier renewal of this process may have been stored although its response was lost, or another
    /// gateway of the group has renewed the object.
    private func resolve(_ sentAt: Int64) async throws -> Bool {
        let found = try await object.read()
        let document = found?.document
        if let found, let holder = document?.holder, holder.shares(with: self.holder) {
            return record(found.etag, sentAt)
        }
        let isOwn = state.withLock { state in
            document.map { $0.holder.id == holder.id && state.renewals.contains($0.renewal) } == true
        }
        if let found, isOwn { return record(found.etag, sentAt) }
        state.withLock { $0.loss = .lost(to: document?.holder) }
        return false
    }

    private func record(_ etag: String, _ sentAt: Int64) -> Bool {
        state.withLock { state in
            state.etag = etag
            state.confirmedAt = max(state.confirmedAt, sentAt)
        }
        return true
    }

    private func report() {
        let now = clock.sinceBoot()
        let change: PrefixOwnership? = state.withLock { state in
            let ownership = Self.ownership(state, now)
            guard !state.isReleased, ownership != state.reported else { return nil }
            state.reported = ownership
            return ownership
        }
        if let change { onChange(change) }
    }

    // MARK: Release

    /// Gives the prefix up at a clean stop: the object is removed if it is still this process's, and not that of a group. Nothing may be
    /// written afterwards.
    ///
    /// - Returns: whether the next gateway finds the prefix free.
    package func release() async -> Bool {
        await inTurn { await self.remove() }
    }

    private func remove() async -> Bool {
        let mayRemove = state.withLock { state in
            guard state.loss == nil, !state.isReleased else { return false }
            state.isReleased = true
            return holder.group.isEmpty
        }
        guard mayRemove else { return false }
        do {
            guard let found = try await object.read(), found.document?.holder.id == holder.id else { return false }
            try await object.remove(found.etag)
            return true
        } catch {
            return false
        }
    }
}
