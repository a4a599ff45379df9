import Basics
import HTTPClient
import Proto
import RPC
import Wire

/// Makes the calls of a device: with its token, which is renewed in time, and with retries of temporary errors.
///
/// Every call of DataGatewayService may be repeated; a CreateLogicalUpload whose response is lost leaves an upload that the gateway
/// removes after a time.
struct DeviceCalls: CallTransport {
    /// The time before a token's expiry at which it is exchanged again.
    private static let tokenLead = Duration.minutes(1)

    private let address: GatewayAddress
    private let token: Renewable<String>
    private let retrying: Retrying

    init(at address: GatewayAddress, clock: any WallClock, retrying: Retrying) {
        self.address = address
        self.retrying = retrying
        token = Renewable(lead: Self.tokenLead, clock: clock) {
            let reply = try await address.exchange()
            return Renewable.Issue(value: reply.accessToken, expiresAt: UnixTime(seconds: reply.expiresAtUnix))
        }
    }

    /// Fetches a token if there is no valid one.
    func authenticate() async throws { _ = try await token.current() }

    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        try await retrying.run(method.name) {
            let current = try await token.current()
            do {
                return try await send(method, request, options.signed(current.value))
            } catch let failure as CallFailure where failure.status.code == .unauthenticated {
                // Exchanged and tried once more: a token ends with its key, and may be expired by a wrong clock.
                let fresh = try await token.replacing(current)
                return try await send(method, request, options.signed(fresh.value))
            }
        }
    }

    private func send<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, _ options: CallOptions
    ) async throws -> Output {
        try await address.trying { try await $0.gateway.unary(method, request, options: options) }
    }

    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        let signed = options.signed(try await token.current().value)
        try await address.place.gateway.serverStreaming(method, request, options: signed, receive: receive)
    }
}

extension CallOptions {
    fileprivate func signed(_ token: String) -> CallOptions {
        CallOptions(timeout: timeout, metadata: metadata + [("authorization", "Bearer \(token)")])
    }
}

/// A value with an expiry time that is replaced before it: a token, temporary credentials.
actor Renewable<Value: Sendable> {
    struct Issue: Sendable {
        let value: Value
        let expiresAt: UnixTime
    }

    /// A value with its sequence number.
    struct Current: Sendable {
        let value: Value
        let number: Int
        /// The time from which it is replaced; `nil` = only after a refusal.
        fileprivate let staleAt: UnixTime?
    }

    private let lead: Duration
    private let clock: any WallClock
    private let fetch: @Sendable () async throws -> Issue
    private var held: Current?
    private var fetching: Task<Current, any Error>?
    private var count = 0

    /// - Parameters:
    ///   - lead: the time before its expiry from which a value is not used any more; at most a quarter of its lifetime.
    ///   - first: an existing value.
    init(
        lead: Duration, clock: any WallClock, first: Issue? = nil, fetch: @escaping @Sendable () async throws -> Issue
    ) {
        self.lead = lead
        self.clock = clock
        self.fetch = fetch
        held = first.map { Self.current($0, number: 0, lead: lead, now: clock.now()) }
    }

    /// Returns a value that remains valid for some time.
    func current() async throws -> Current {
        if let held, held.staleAt.map({ clock.now() < $0 }) ?? true { return held }
        return try await renewed()
    }

    /// Returns a value other than the refused one; one fetched meanwhile is used.
    func replacing(_ refused: Current) async throws -> Current {
        if let held, held.number != refused.number { return held }
        return try await renewed()
    }

    /// Fetches a value. Concurrent callers wait for the same one.
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

    /// Returns the value with its renewal time. A value that is expired on arrival, because of a wrong clock on either side, is
    /// used until it is refused.
    private static func current(_ issue: Issue, number: Int, lead: Duration, now: UnixTime) -> Current {
        let lifetime = issue.expiresAt.seconds - now.seconds
        let staleAt = lifetime > 0 ? issue.expiresAt.adding(seconds: -min(lead.wholeSeconds, lifetime / 4)) : nil
        return Current(value: issue.value, number: number, staleAt: staleAt)
    }
}
