import Basics
import Crypto
import Database

/// What the device registry asks and tells of keys and sites, inside its own transactions.
///
/// A device has at most one key. Whether the key may be used is written in this room's tables alone, so a call
/// is let in or refused without a look at the device.
package struct DeviceKeys: Sendable {
    /// Where a device stands: what its key says in every token's principal.
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
        /// When a call was last made with the key, to the minute; `nil` = never.
        package let lastUsedAt: UnixTime?

        package init(usability: KeyUsability, lastUsedAt: UnixTime?) {
            self.usability = usability
            self.lastUsedAt = lastUsedAt
        }
    }

    let identifiers: Identifiers
    let pepper: [UInt8]

    /// Whether the site may be used; `nil` when the organization has none of that id.
    package func siteStatus(
        _ siteID: Int64, organizationID: Int64, in connection: Connection
    ) throws -> Availability? {
        try SiteRecords.find(id: siteID, organizationID: organizationID, in: connection)?.status
    }

    /// `nil` when the device has no key.
    package func state(of deviceID: String, at now: UnixTime, in connection: Connection) throws -> State? {
        try APIKeyRecords.find(deviceID: deviceID, in: connection).map { key in
            State(usability: key.usability(at: now), lastUsedAt: key.lastUsedAt)
        }
    }

    /// Gives the device a new key, and ends the one it had with everything that was issued for it.
    ///
    /// - Returns: the new credential, which is shown this once.
    package func issue(to place: Place, at now: UnixTime, in connection: Connection) throws -> Secret {
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        try APIKeyRecords.delete(deviceID: place.deviceID, in: connection)
        try APIKeyRecords.insert(
            id: token.id, organizationID: place.organizationID, siteID: place.siteID,
            owner: .device(id: place.deviceID, suiteID: place.suiteID), name: place.deviceID,
            digest: token.digest(pepper: pepper), status: .enabled, expiresAt: nil, at: now, in: connection)
        return Secret(token.text)
    }

    /// Stops the device's key with the next call, until ``release(_:at:in:)``.
    package func hold(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords.setHeld(deviceID: deviceID, true, at: now, in: connection)
    }

    package func release(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords.setHeld(deviceID: deviceID, false, at: now, in: connection)
    }

    /// Lets the key speak from the device's new place.
    package func move(to place: Place, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords.move(
            deviceID: place.deviceID, suiteID: place.suiteID, siteID: place.siteID, at: now, in: connection)
    }
}
