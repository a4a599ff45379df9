import Basics
import Database

/// What the operators of keys must know of devices. The device registry, which stands above this module, answers.
package protocol DeviceDirectory: Sendable {
    /// `nil` when the organization has no such device.
    func device(_ id: String, organizationID: Int64, in connection: Connection) throws -> DirectoryDevice?

    /// Records that the device was given a key, and so counts as initialized.
    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws
}

package struct DirectoryDevice: Sendable, Hashable {
    /// Where it is bound; `nil` while it is not.
    package let place: DeviceKeys.Place?
    package let isDisabled: Bool

    package init(place: DeviceKeys.Place?, isDisabled: Bool) {
        self.place = place
        self.isDisabled = isDisabled
    }
}
