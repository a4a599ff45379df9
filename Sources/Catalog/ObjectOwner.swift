/// To whom an upload and its object belong: the device, or the site, and never the key that they came with. It stays as it
/// was when the upload began, wherever the device moves.
package struct ObjectOwner: Sendable, Hashable {
    package let organizationID: Int64
    package let siteID: Int64
    package let suiteID: Int64?
    /// `nil` = the site itself.
    package let deviceID: String?

    package init(organizationID: Int64, siteID: Int64, suiteID: Int64?, deviceID: String?) {
        self.organizationID = organizationID
        self.siteID = siteID
        self.suiteID = suiteID
        self.deviceID = deviceID
    }
}
