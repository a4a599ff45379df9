import Basics

/// Something that ends at a time and is fetched anew before it does: a token, temporary credentials.
actor Renewable<Value: Sendable> {
    struct Issue: Sendable {
        let value: Value
        let expiresAt: UnixTime
    }

    /// A value, and which of those that were fetched.
    struct Current: Sendable {
        let value: Value
        let number: Int
        /// When it is fetched anew, `nil` = when it is refused.
        fileprivate let staleAt: UnixTime?
    }

    private let lead: Duration
    private let clock: any WallClock
    private let fetch: @Sendable () async throws -> Issue
    private var held: Current?
    private var fetching: Task<Current, any Error>?
    private var count = 0

    /// - Parameters:
    ///   - lead: how long before its end a value is not used any more; a quarter of its life, where that is
    ///     less.
    ///   - first: one that is there already.
    init(
        lead: Duration, clock: any WallClock, first: Issue? = nil, fetch: @escaping @Sendable () async throws -> Issue
    ) {
        self.lead = lead
        self.clock = clock
        self.fetch = fetch
        held = first.map { Self.current($0, number: 0, lead: lead, now: clock.now()) }
    }

    /// One that is good for a while yet.
    func current() async throws -> Current {
        if let held, held.staleAt.map({ clock.now() < $0 }) ?? true { return held }
        return try await renewed()
    }

    /// Another than the one that somebody refused; one that was fetched meanwhile is good.
    func replacing(_ refused: Current) async throws -> Current {
        if let held, held.number != refused.number { return held }
        return try await renewed()
    }

    /// Callers that need one at the same time wait for the same.
    private func renewed() async throws -> Current {
        if let fetching { return try await fetching.value }
        count += 1
        let task = Task { [count, lead, clock, fetch] in
            Self.current(try await fetch(), number: count, lead: lead, now: clock.now())
        }
        fetching = task
        defer { fetching = nil }
        let fresh = try await task.value
        held = fresh
        return fresh
    }

    /// What has ended when it arrives, ended by a clock that is wrong, here or there: it is used until it is refused.
    private static func current(_ issue: Issue, number: Int, lead: Duration, now: UnixTime) -> Current {
        let lifetime = issue.expiresAt.seconds - now.seconds
        let staleAt = lifetime > 0 ? issue.expiresAt.adding(seconds: -min(lead.wholeSeconds, lifetime / 4)) : nil
        return Current(value: issue.value, number: number, staleAt: staleAt)
    }
}
