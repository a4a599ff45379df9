import Basics

/// The limits for calls of one method.
package struct MethodRules: Sendable, Hashable {
    /// Whether its handler spends its time waiting for later events, or for the client: such calls are counted separately, and
    /// their duration is limited by ``WaitingLimits``.
    package var waits: Bool
    /// The largest request message, in bytes, also after decompression; `nil` = the listener's limit.
    package var maximumRequest: Int?
    /// Whether the metadata of its calls contains `user-agent`.
    package var keepsUserAgent: Bool
    /// Whether its calls have to be admitted; set by the server, see ``Admission``.
    var needsAdmission = true

    package init(waits: Bool = false, maximumRequest: Int? = nil, keepsUserAgent: Bool = false) {
        self.waits = waits
        self.maximumRequest = maximumRequest
        self.keepsUserAgent = keepsUserAgent
    }
}

/// The limits on the number and duration of calls of waiting methods at a listener.
package struct WaitingLimits: Sendable {
    /// The largest number for one connection.
    package var perConnection = 4
    /// The largest number for one address, over all its connections.
    package var perAddress = 16
    /// The largest number for all clients together.
    package var perListener = 256
    /// The duration of a call until its orderly end; the client may call again.
    package var lifetime = Duration.minutes(10)

    package init() {}
}
