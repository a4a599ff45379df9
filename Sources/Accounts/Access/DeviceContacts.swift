package import Basics
package import Database

/// The record of devices' calls, implemented by the device registry, which depends on this module.
package protocol DeviceContacts: Sendable {
    /// Records that the device's key was used.
    func noteSeen(_ deviceID: String, at time: UnixTime, in connection: Connection) throws

    /// Adds refused calls to those that are recorded already, also by other gateways.
    ///
    /// - Parameter reason: the detail code of the error, or its status.
    func note(_ refusals: RefusalTally, _ reason: String, of deviceID: String, in connection: Connection) throws

    /// Records the number of seconds by which the device's clock is ahead.
    func noteClock(offset: Int64, of deviceID: String, at time: UnixTime, in connection: Connection) throws
}

/// The number of calls that were refused for one reason, although they had a device's credential or its token.
package struct RefusalTally: Sendable, Hashable {
    package private(set) var count: Int64
    package let firstAt: UnixTime
    package private(set) var lastAt: UnixTime
    /// The message of the last error.
    package private(set) var message: String

    init(_ message: String, at time: UnixTime) {
        (count, firstAt, lastAt, self.message) = (1, time, time, message)
    }

    mutating func add(_ message: String, at time: UnixTime) {
        count += 1
        lastAt = max(lastAt, time)
        self.message = message
    }
}
