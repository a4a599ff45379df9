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
    private let isCut = Atomic(false)
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
    /// - Returns: whether it was shut down; not again for one whose thread has not closed it yet.
    func cutIfTooSlow(at now: ContinuousClock.Instant) -> Bool {
        guard let (received, acknowledged) = progress else { return false }
        let sample = TransferRule.Sample(
            activity: TransferRule.Activity(rawValue: activity.load(ordering: .relaxed)) ?? .busy,
            stage: stage.load(ordering: .relaxed), hasBegun: received > receivedBefore.load(ordering: .relaxed),
            received: received, acknowledged: acknowledged)
        guard rule.withLock({ $0.isTooSlow(sample, at: now) }) else { return false }
        return shutdown(descriptor, Int32(SHUT_RDWR)) == 0 && !isCut.exchange(true, ordering: .relaxed)
    }
}

/// Sends bodies past libmicrohttpd, which lets the kernel send the bytes of at most one file for a response. Used on the thread of the
/// connection, whose socket does not block.
extension DaemonConnection {
    /// The outcome of sending.
    enum Sending {
        case sent
        /// The client disconnected, or was too slow.
        case disconnected
        /// The file is shorter than its range, or cannot be read.
        case unreadable
    }

    /// The milliseconds after which ``finishSending()`` looks again at what the client has acknowledged.
    private static let acknowledgementInterval: Int32 = 10

    /// Sends a piece of a body. It may stay in the kernel until more bytes follow, or ``finishSending()``.
    ///
    /// - Parameter buffer: contains the bytes, unless they are in a file, and has space for as many.
    func send(_ piece: HTTPBodyPiece, through buffer: UnsafeMutableRawBufferPointer) -> Sending {
        switch piece {
        case .buffered(let count):
            send(UnsafeRawBufferPointer(rebasing: buffer[..<count])) ? .sent : .disconnected
        case .file(let file, let offset, let count):
            file.withDescriptor { send(off_t(offset)..<off_t(offset) + off_t(count), of: $0, through: buffer) }
        }
    }

    private func send(
        _ range: Range<off_t>, of file: Int32, through buffer: UnsafeMutableRawBufferPointer
    ) -> Sending {
        var position = range.lowerBound
        while position < range.upperBound {
            let rest = Int(range.upperBound - position)
            let sent = sendfile(descriptor, file, &position, rest)
            if sent > 0 || sent < 0 && errno == EINTR { continue }
            if sent < 0, errno == EAGAIN {
                guard waitForSpace() else { return .disconnected }
                continue
            }
            // Some file systems do not support sendfile. If the file ended or the disk failed, reading fails as well.
            let count = pread(file, buffer.baseAddress, rest, position)
            guard count > 0 else { return .unreadable }
            guard send(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return .disconnected }
            position += off_t(count)
        }
        return .sent
    }

    private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_MORE | MSG_NOSIGNAL))
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                guard waitForSpace() else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits until the socket takes bytes; returns `false` if it takes none in the idle time.
    private func waitForSpace() -> Bool {
        waitFor(POLLOUT, milliseconds: Int32(clamping: idleTimeout.wholeSeconds * 1000))
    }

    /// Returns whether the socket was ready in that time, or has failed.
    private func waitFor(_ event: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        while true {
            let count = poll(&entry, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    /// Waits until the client has acknowledged every byte or ended its side, and drops what it sends meanwhile: closing a socket with
    /// unread bytes resets the connection, and discards the bytes that are still to be sent.
    ///
    /// - Returns: `false` if the client disconnected before that, or acknowledged nothing in the idle time.
    func finishSending() -> Bool {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return false }
        var (unacknowledged, since) = (Int32.max, ContinuousClock.now)
        while true {
            if let hasEnded = dropInput() { return hasEnded }
            let count = microhttpd_unacknowledged(descriptor)
            if count <= 0 { return count == 0 }
            if count != unacknowledged { (unacknowledged, since) = (count, .now) }
            guard ContinuousClock.now - since < idleTimeout else { return false }
            _ = waitFor(POLLIN, milliseconds: Self.acknowledgementInterval)
        }
    }

    /// Drops some of what the client has sent.
    ///
    /// - Returns: `true` if the client has ended its side, `false` if the connection has failed, `nil` otherwise.
    private func dropInput() -> Bool? {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { space in
            let count = recv(descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count == 0 { return true }
            return count > 0 || errno == EAGAIN || errno == EINTR ? nil : false
        }
    }
}
