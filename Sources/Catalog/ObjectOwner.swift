/// The owner of an upload and its object: the device, or the site, independent of the key that it used. It does not change when the
/// device moves.
package struct ObjectOwner: Sendable, Hashable {
    package let organizationID: Int64
    package let siteID: Int64
    package let suiteID: Int64?
    /// The device; `nil` = the site itself.
    package let deviceID: String?

    package init(organizationID: Int64, siteID: Int64, suiteID: Int64?, deviceID: String?) {
        self.organizationID = organizationID
        self.siteID = siteID
        self.suiteID = suiteID
        self.deviceID = deviceID
    }
}
