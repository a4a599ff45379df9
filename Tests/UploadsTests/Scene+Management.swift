import Accounts
import Basics
import Capability
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
