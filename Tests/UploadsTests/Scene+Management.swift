import Accounts
import Basics
import Capability
import Database
import GatewayAPI
import RPC
import Wire

@testable import Uploads

/// Users' calls.
extension Scene {
    func management(
        _ configure: (inout UploadsConfiguration) -> Void = { _ in }
    ) throws -> UploadManagementService {
        UploadManagementService(
            listing: UploadListing(database: database, store: store, steady: clockGuard.steady),
            failures: FailedUploadListing(database: database, devices: NamedDevices()),
            cancellation: UploadCancellation(database: database, store: store, clock: clock),
            siteUploads: try siteUploads(configure), tokens: PageTokens(keyring: Self.keyring))
    }

    /// Makes the context of a call by a user of an organization, whose number is also the user's.
    func context(
        _ method: MethodDescriptor, by name: String, _ role: Role, of organization: Int64, isSystem: Bool = false
    ) -> CallContext {
        let home = OrganizationReference(id: organization, name: "organization-\(organization)")
        let user = UserPrincipal(
            userID: organization, name: name, role: role, epoch: 1, home: home, isSystem: isSystem)
        return CallContext(method: method, identity: Principal.user(user))
    }
}

/// A directory in which device 1 of the scene has a name.
struct NamedDevices: DeviceDirectory {
    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice? { nil }

    func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        DisplayNames(devices: organizationID == 1 ? [(id: "260101-000001", name: "Picker 041")] : [], sites: [])
    }

    func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64 { 0 }

    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> { [] }

    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {}
}
