package import Accounts
package import Basics
package import Database

/// A directory with one device, which is bound to site 1 of organization 1.
package struct OneDevice: DeviceDirectory {
    package static let id = "260427-000001"

    package init() {}

    package func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice? {
        guard id == Self.id, organizationID == 1 else { return nil }
        return DirectoryDevice(
            place: DeviceKeys.Place(deviceID: id, suiteID: 1, siteID: 1, organizationID: 1), isDisabled: false)
    }

    package func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        guard organizationID == 1 else { return DisplayNames(devices: [], sites: []) }
        return DisplayNames(devices: [(id: Self.id, name: "Picker 041")], sites: [(id: 7, name: "Brémen West")])
    }

    package func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64 { 0 }

    package func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> { [] }

    package func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {}
}
