package import Basics
package import Database

/// Information about devices for the management of keys and for lists of objects, implemented by the device registry, which depends
/// on this module.
package protocol DeviceDirectory: Sendable {
    /// Returns `nil` if the organization has no such device.
    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice?

    /// Returns those of the devices that are retired.
    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String>

    /// Records that the device has received a key and is therefore initialized.
    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws
}

/// The uploads of devices, implemented by the module of uploads, for the device registry.
package protocol DeviceUploads: Sendable {
    /// Aborts the device's uploads in progress, and removes their data.
    func abort(ofDevice id: String, reason: String, at now: UnixTime, in connection: Connection) throws
}

/// The uploads of a gateway that accepts none.
package struct NoDeviceUploads: DeviceUploads {
    package init() {}

    package func abort(ofDevice id: String, reason: String, at now: UnixTime, in connection: Connection) {}
}

package struct DirectoryDevice: Sendable, Hashable {
    /// The device's suite and site; `nil` while it is unbound.
    package let place: DeviceKeys.Place?
    package let isDisabled: Bool

    package init(place: DeviceKeys.Place?, isDisabled: Bool) {
        self.place = place
        self.isDisabled = isDisabled
    }
}
