import Basics
import Crypto
import Database

/// What the device registry asks and tells of keys and sites, inside its own transactions.
///
/// A device has at most one key. Whether the key may be used is written in this module's tables alone, so a call
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

    /// How a device's site and key stand, as one transaction found them.
    package struct Standing: Sendable {
        /// `nil` when the organization has no site of that id.
        package let siteStatus: Availability?
        /// `nil` when the device has no key.
        package let key: State?
        /// The row of ``key``.
        fileprivate let record: APIKeyRecord?
    }

    /// Something that a write depends on has changed since it was read.
    package struct ChangedSinceRead: Error {
        package init() {}
    }

    let identifiers: Identifiers
    let pepper: [UInt8]

    /// Whether the site may be used; `nil` when the organization has none of that id.
    package func siteStatus(
        _ siteID: Int64, organizationID: Int64, in connection: Connection
    ) throws -> Availability? {
        try SiteRecords(connection).find(id: siteID, organizationID: organizationID)?.status
    }

    /// `nil` when the device has no key.
    package func state(of deviceID: String, at now: UnixTime, in connection: Connection) throws -> State? {
        try APIKeyRecords(connection).find(deviceID: deviceID).map { Self.state($0, at: now) }
    }

    private static func state(_ key: APIKeyRecord, at now: UnixTime) -> State {
        State(usability: key.usability(at: now), lastUsedAt: key.lastUsedAt)
    }

    /// Makes the same statements for a site or a device that does not exist, so that it takes as long.
    package func standing(
        of deviceID: String, atSite siteID: Int64, organizationID: Int64, at now: UnixTime, in connection: Connection
    ) throws -> Standing {
        let siteStatus = try siteStatus(siteID, organizationID: organizationID, in: connection)
        let key = try APIKeyRecords(connection).find(deviceID: deviceID)
        return Standing(siteStatus: siteStatus, key: key.map { Self.state($0, at: now) }, record: key)
    }

    /// Gives the device a new key, and ends the one it had with everything that was issued for it.
    ///
    /// - Parameter standing: what was decided by; its site is enabled.
    /// - Returns: the new credential, which is shown this once.
    /// - Throws: ``ChangedSinceRead`` where the site or the key stands otherwise by now; the write must fail then.
    package func issue(
        to place: Place, by standing: Standing, at now: UnixTime, in connection: Connection
    ) throws -> Secret {
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        if let key = standing.record, try !APIKeyRecords(connection).delete(key) { throw ChangedSinceRead() }
        let isIssued = try APIKeyRecords(connection).insert(
            id: token.id, for: place, digest: token.digest(pepper: pepper), at: now)
        guard isIssued else { throw ChangedSinceRead() }
        return Secret(token.text)
    }

    /// Stops the device's key with the next call, until ``release(_:at:in:)``.
    package func hold(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).setHeld(deviceID: deviceID, true, at: now)
    }

    package func release(_ deviceID: String, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).setHeld(deviceID: deviceID, false, at: now)
    }

    /// Lets the key speak from the device's new place.
    package func move(to place: Place, at now: UnixTime, in connection: Connection) throws {
        try APIKeyRecords(connection).move(
            deviceID: place.deviceID, suiteID: place.suiteID, siteID: place.siteID, at: now)
    }
}
