package import Basics
package import Database

/// The record of when devices called, implemented by the device registry, which depends on this module.
package protocol DeviceContacts: Sendable {
    /// Records that the device's key was used.
    func noteSeen(_ deviceID: String, at time: UnixTime, in connection: Connection) throws
}
