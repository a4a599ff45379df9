package import Basics
package import Crypto
package import Database

/// The device registry's interface to keys and sites, for use in its own transactions.
///
/// A device has at most one key. The key's usability is stored in this module's tables only, so that authentication does not have
/// to read the device.
package struct DeviceKeys: Sendable {
    /// A device's suite, site and organization, which are part of the principal of its key.
    package struct Place: Sendable, Hashable {
        package let deviceID: String
        package let suiteID: Int64
        package let siteID: Int64
        package let organizationID: Int64

        package init(deviceID: String, suiteID: Int64, siteID: Int64, organizationID: Int64) {
            self.deviceID = deviceID
            self.suiteID = suiteID
            self.siteID = siteID
            self.organizationID = organizationID
        }
    }

    package struct State: Sendable, Hashable {
        package let usability: KeyUsability
        /// The last use of the key, to the minute; `nil` = never.
        package let lastUsedAt: UnixTime?

        package init(usability: KeyUsability, lastUsedAt: UnixTime?) {
            self.usability = usability
            self.lastUsedAt = lastUsedAt
        }
    }

    /// The states of a device's site and key, read in one transaction.
    package struct KeyStatus: Sendable {
        /// `nil` if the organization has no such site.
        package let siteStatus: Availability?
        /// `nil` if the device has no key.
        package let key: State?
        /// The row of ``key``.
        fileprivate let record: APIKeyRecord?
    }

    /// A row that a write depends on has changed since it was read.
    package struct ChangedSinceRead: Error {
        package init() {}
    }

    let identifiers: Identifiers
    let pepper: [UInt8]

    /// Returns the status of the site; `nil` if the organization has no such site.
    package func siteStatus(
        _ siteID: Int64, organizationID: Int64, in connection: ReadConnection
    ) throws -> Availability? {
        try SiteRecords(connection).find(id: siteID, organizationID: organizationID)?.status
    }

    /// Returns `nil` if the device has no key.
    package func state(of deviceID: String, at now: UnixTime, in connection: ReadConnection) throws -> State? {
        try APIKeyRecords(connection).find(deviceID: deviceID).map { Self.state($0, at: now) }
    }

    private static func state(_ key: APIKeyRecord, at now: UnixTime) -> State {
        State(usability: key.usability(at: now), lastUsedAt: key.lastUsedAt)
    }

    /// Reads the states. Executes the same statements for a site or device that does not exist, so that it takes as long.
    package func keyStatus(
        of deviceID: String, atSite siteID: Int64, organizationID: Int64, at now: UnixTime,
        in connection: ReadConnection
    ) throws -> KeyStatus {
        let siteStatus = try siteStatus(siteID, organizationID: organizationID, in: connection)
        let key = try APIKeyRecords(connection).find(deviceID: deviceID)
        return KeyStatus(siteStatus: siteStatus, key: key.map { Self.state($0, at: now) }, record: key)
    }

    /// Gives the device a new key, and revokes its old one with everything issued for it.
    ///
    /// - Parameter keyStatus: the states on which the decision was based; the site is enabled.
    /// - Returns: the new credential, which is shown only once.
    /// - Throws: ``ChangedSinceRead`` if the site or the key has changed since; the transaction must then be rolled back.
    package func issue(
        to place: Place, by keyStatus: KeyStatus, at now: UnixTime, in connection: Connection
    ) throws -> Secret {
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        if let key = keyStatus.record, try !APIKeyRecords(connection).delete(key) { throw ChangedSinceRead() }
        let isIssued = try APIKeyRecords(connection).insert(
            id: token.id, for: place, digest: token.digest(pepper: pepper), at: now)
        guard isIssued else { throw ChangedSinceRead() }
        return Secret(token.text)
    }

    /// Holds the device's key from the next call on, until ``release(_:at:in:)``.
    package func hold(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).setHeld(deviceID: deviceID, true, at: now)
    }

    package func release(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).setHeld(deviceID: deviceID, false, at: now)
    }

    /// Deletes the device's key, if it has one; everything issued for it is invalid from the next call on.
    package func delete(_ deviceID: String, in connection: Connection) throws {
        try APIKeyRecords(connection).delete(deviceID: deviceID)
    }

    /// Requests that the devices replace their keys, each with its next token.
    ///
    /// - Returns: the number of devices that have a key.
    package func requestRotation(
        of deviceIDs: [String], at now: UnixTime, in connection: Connection
    ) throws -> KeyRotationCounts {
        try KeyRotationRecords(connection).request(of: deviceIDs, at: now)
    }

    /// Moves the key to the device's new suite and site.
    package func move(to place: Place, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).move(
            deviceID: place.deviceID, suiteID: place.suiteID, siteID: place.siteID, at: now)
    }
}

/// Information about devices for the management of keys and for lists of objects, implemented by the device registry, which depends
/// on this module.
package protocol DeviceDirectory: Sendable {
    /// Returns `nil` if the organization has no such device.
    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice?

    /// Returns the display names of an organization's devices and sites.
    func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames

    /// Returns the display names of those devices of the organization that have one.
    func displayNames(of ids: [String], organizationID: Int64, in connection: ReadConnection) throws -> [String: String]

    /// Returns a number that differs as soon as ``displayNames(organizationID:in:)`` may.
    func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64

    /// Returns those of the devices that are retired.
    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String>

    /// Records that the device has received a key and is therefore initialized.
    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws
}

extension DeviceDirectory {
    package func displayNames(
        of ids: [String], organizationID: Int64, in connection: ReadConnection
    ) throws -> [String: String] {
        let names = try displayNames(organizationID: organizationID, in: connection).devices.filter {
            ids.contains($0.id)
        }
        return Dictionary(names.map { ($0.id, $0.name) }) { first, _ in first }
    }
}

/// The display names of devices and sites, by their ids.
package struct DisplayNames: Sendable {
    package var devices: [(id: String, name: String)]
    package var sites: [(id: Int64, name: String)]

    package init(devices: [(id: String, name: String)], sites: [(id: Int64, name: String)]) {
        self.devices = devices
        self.sites = sites
    }
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
