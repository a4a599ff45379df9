import Basics

/// How calls of one method are treated beside the others of its listener.
package struct MethodRules: Sendable, Hashable {
    /// Whether its handler spends its time waiting for what happens later, or for the client: such calls are counted
    /// apart, and end when they have lasted as long as ``WaitingLimits`` lets them.
    package var waits: Bool
    /// The largest request message, in bytes, also after decompression; `nil` = the listener's.
    package var maximumRequest: Int?

    package init(waits: Bool = false, maximumRequest: Int? = nil) {
        self.waits = waits
        self.maximumRequest = maximumRequest
    }
}

/// How many calls of methods that wait there may be at a listener, and for how long.
package struct WaitingLimits: Sendable {
    /// The limit for one connection.
    package var perConnection = 4
    /// The limit for one address, over all its connections.
    package var perAddress = 16
    /// The limit for all clients together.
    package var perListener = 256
    /// From the start of the call to its orderly end; who still wants to wait calls again.
    package var lifetime = Duration.minutes(10)

    package init() {}
}
