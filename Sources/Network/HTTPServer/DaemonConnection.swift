import Basics
import CMicrohttpd
import Glibc
import HTTPTypes
import Synchronization

/// One connection of an ``HTTPDaemon``, from its acceptance to its end: its peer, and its progress.
final class DaemonConnection: Sendable {
    /// The peer's numeric address; empty if it is unknown.
    let host: String
    /// The party that requests count for while their callers are not known; `nil` for a proxy, which represents many clients.
    let party: WorkOwner?
    /// The certificate and key of a TLS connection, kept as long as it lives.
    private let identity: TLSIdentity?
    /// The socket.
    let descriptor: Int32
    /// The time without progress after which a response is given up.
    let idleTimeout: Duration
    private let activity = Atomic(TransferRule.Activity.waiting.rawValue)
    private let stage = Atomic(0)
    /// The number of bytes received when the wait for a request began.
    private let receivedBefore = Atomic<UInt64>(0)
    private let rule: Lock<TransferRule>
    private let bodySent = Atomic(false)

    init(
        _ native: OpaquePointer, proxies: [AddressRange], identity: TLSIdentity?, rule: TransferRule,
        idleTimeout: Duration
    ) {
        self.identity = identity
        self.idleTimeout = idleTimeout
        self.rule = Lock(rule)
        host = microhttpd_peer(native).map { Self.host(of: $0) } ?? ""
        party = proxies.contain(host) ? nil : .address(AddressRange.countedAsOne(host))
        descriptor = microhttpd_socket(native)
        if let identity { microhttpd_identify(native, identity.pointer) }
    }

    /// Returns the object that was made when `native` started.
    static func of(_ native: OpaquePointer) -> DaemonConnection? {
        microhttpd_held(native).map { Unmanaged<DaemonConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the numeric host of a peer's address; empty if it has none.
    static func host(of address: UnsafePointer<sockaddr>) -> String {
        let isIPv6 = address.pointee.sa_family == sa_family_t(AF_INET6)
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return ""
        }
        return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the complete body of a response was sent past the library, which takes the response for an incomplete one then. The
    /// connection ends after it.
    var hasSentBody: Bool {
        get { bodySent.load(ordering: .relaxed) }
        set { bodySent.store(newValue, ordering: .relaxed) }
    }

    /// - Parameter isNew: whether a request, a response, or the wait for the next request begins.
    func enter(_ activity: TransferRule.Activity, isNew: Bool = false) {
        if activity == .waiting { receivedBefore.store(progress?.received ?? 0, ordering: .relaxed) }
        self.activity.store(activity.rawValue, ordering: .relaxed)
        if isNew { stage.add(1, ordering: .relaxed) }
    }

    /// The numbers of bytes so far, counted by the kernel.
    private var progress: (received: UInt64, acknowledged: UInt64)? {
        var (received, acknowledged) = (UInt64(0), UInt64(0))
        return microhttpd_progress(descriptor, &received, &acknowledged) == 0 ? (received, acknowledged) : nil
    }

    /// From now on a request without any progress for a while is too slow: the server stops.
    func beginDrain() {
        rule.withLock { $0 = TransferRule(minimumRate: 1, grace: .milliseconds(1500), now: .now) }
    }

    /// Shuts the socket down if the connection is too slow; its thread notices that and closes it. May only be called while the
    /// library has the socket open.
    ///
    /// - Returns: whether it was shut down.
    func cutIfTooSlow(at now: ContinuousClock.Instant) -> Bool {
        guard let (received, acknowledged) = progress else { return false }
        let sample = TransferRule.Sample(
            activity: TransferRule.Activity(rawValue: activity.load(ordering: .relaxed)) ?? .busy,
            stage: stage.load(ordering: .relaxed), hasBegun: received > receivedBefore.load(ordering: .relaxed),
            received: received, acknowledged: acknowledged)
        guard rule.withLock({ $0.isTooSlow(sample, at: now) }) else { return false }
        return shutdown(descriptor, Int32(SHUT_RDWR)) == 0
    }
}
