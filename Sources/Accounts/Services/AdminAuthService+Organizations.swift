import Crypto
import Database
import GatewayAPI
package import Proto
package import RPC

extension AdminAuthService {
    package func createOrganization(
        _ request: CreateOrganizationRequest, context: CallContext
    ) async throws -> CreateOrganizationResponse {
        try FieldRules.accountName(request.organization, field: "organization")
        try FieldRules.optionalTitle(request.displayName, field: "display_name")
        try FieldRules.accountName(request.bootstrapAdminUserName, field: "bootstrap_admin_user_name")
        try FieldRules.password(request.bootstrapAdminPassword, field: "bootstrap_admin_password")
        let (organization, admin) = try await accounts.users.createOrganization(
            name: request.organization,
            displayName: request.displayName.isEmpty ? request.organization : request.displayName,
            adminName: request.bootstrapAdminUserName, password: Secret(request.bootstrapAdminPassword),
            by: try Caller(context))
        return CreateOrganizationResponse(organization: organization.message, bootstrapAdmin: admin.message)
    }

    package func getOrganization(
        _ request: GetOrganizationRequest, context: CallContext
    ) async throws -> GetOrganizationResponse {
        GetOrganizationResponse(organization: try await accounts.users.organization(request.organization).message)
    }

    package func listOrganizations(
        _ request: ListOrganizationsRequest, context: CallContext
    ) async throws -> ListOrganizationsResponse {
        let page = try page(request.pageSize, request.pageToken, "organizations", for: try Caller(context))
        let organizations = try await accounts.users.organizations(page)
        return ListOrganizationsResponse(
            organizations: organizations.rows.map(\.message),
            nextPageToken: page.next(after: organizations) { String($0.id) })
    }

    package func updateOrganization(
        _ request: UpdateOrganizationRequest, context: CallContext
    ) async throws -> UpdateOrganizationResponse {
        guard let displayName = request.displayName else {
            return UpdateOrganizationResponse(
                organization: try await accounts.users.organization(request.organization).message)
        }
        try FieldRules.title(displayName, field: "display_name")
        let organization = try await accounts.users.renameOrganization(
            request.organization, displayName: displayName, by: try Caller(context))
        return UpdateOrganizationResponse(organization: organization.message)
    }

    package func deleteOrganization(
        _ request: DeleteOrganizationRequest, context: CallContext
    ) async throws -> DeleteOrganizationResponse {
        try await accounts.users.deleteOrganization(request.organization, by: try Caller(context))
        return DeleteOrganizationResponse()
    }
}
