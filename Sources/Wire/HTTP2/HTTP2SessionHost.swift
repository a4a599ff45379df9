/// The owner of a session, which provides streams and a clock and is notified of the session's events.
public protocol HTTP2SessionHost: AnyObject {
    /// Server: accepts a stream that the peer opens. `nil` refuses it (REFUSED_STREAM).
    func openStream() -> HTTP2Stream?
    /// Output is available: `nextOutput` has to be called soon.
    func outputPending()
    /// The peer acknowledged the PING with this number.
    func receivedPingAcknowledgement(_ number: UInt8)
    func receivedGoAway()
    func receivedSettings()
    /// Server: whether further header sections may be processed now. Asked after some of them, if bytes were received with more.
    var mayReceiveCalls: Bool { get }
    /// The monotonic clock in nanoseconds.
    var now: UInt64 { get }
    /// The peer exceeded a limit, and the connection is being terminated; the name of the limit is for metrics.
    func exceeded(_ limit: String)
}

extension HTTP2SessionHost {
    public func openStream() -> HTTP2Stream? { nil }
    public func exceeded(_ limit: String) {}
    public func receivedPingAcknowledgement(_ number: UInt8) {}
    public func receivedGoAway() {}
    public func receivedSettings() {}
    public var mayReceiveCalls: Bool { true }
}
