import Platform
import Proto
import RPC

/// Sites, API keys and organizations, for operators.
public struct AdminAuthService: AdminAuthServiceHandler {
    let accounts: Accounts

    public func createSite(_ request: CreateSiteRequest, context: CallContext) async throws -> CreateSiteResponse {
        try FieldRules.title(request.name, field: "name")
        let site = try await accounts.sites.create(
            name: request.name, status: try FieldRules.status(request.status), by: try Caller(context))
        return CreateSiteResponse(site: site.message)
    }

    public func getSite(_ request: GetSiteRequest, context: CallContext) async throws -> GetSiteResponse {
        GetSiteResponse(site: try accounts.sites.find(request.siteID, for: try Caller(context)).message)
    }

    public func listSites(_ request: ListSitesRequest, context: CallContext) async throws -> ListSitesResponse {
        ListSitesResponse(sites: try accounts.sites.list(for: try Caller(context)).map(\.message))
    }

    public func enableSite(_ request: EnableSiteRequest, context: CallContext) async throws -> EnableSiteResponse {
        let site = try await accounts.sites.setStatus(request.siteID, .enabled, by: try Caller(context))
        return EnableSiteResponse(site: site.message)
    }

    public func disableSite(_ request: DisableSiteRequest, context: CallContext) async throws -> DisableSiteResponse {
        let site = try await accounts.sites.setStatus(request.siteID, .disabled, by: try Caller(context))
        return DisableSiteResponse(site: site.message)
    }

    public func createSiteApiKey(
        _ request: CreateSiteApiKeyRequest, context: CallContext
    ) async throws -> CreateSiteApiKeyResponse {
        try FieldRules.title(request.keyName, field: "key_name")
        let expiresAt = try request.expiredAt.map { timestamp in
            guard let time = timestamp.time else { throw RPCError.invalidArgument("expired_at is no point in time") }
            return time
        }
        let (key, credential) = try await accounts.keys.createSiteKey(
            site: request.siteID, name: request.keyName, status: try FieldRules.status(request.status),
            expiresAt: expiresAt, by: try Caller(context))
        return CreateSiteApiKeyResponse(apiKey: key.message, credential: credential.exposedText)
    }

    public func getApiKey(_ request: GetApiKeyRequest, context: CallContext) async throws -> GetApiKeyResponse {
        GetApiKeyResponse(apiKey: try accounts.keys.find(request.apiKeyID, for: try Caller(context)).message)
    }

    public func enableApiKey(
        _ request: EnableApiKeyRequest, context: CallContext
    ) async throws -> EnableApiKeyResponse {
        let key = try await accounts.keys.setStatus(request.apiKeyID, .enabled, by: try Caller(context))
        return EnableApiKeyResponse(apiKey: key.message)
    }

    public func disableApiKey(
        _ request: DisableApiKeyRequest, context: CallContext
    ) async throws -> DisableApiKeyResponse {
        let key = try await accounts.keys.setStatus(request.apiKeyID, .disabled, by: try Caller(context))
        return DisableApiKeyResponse(apiKey: key.message)
    }

    public func createOrganization(
        _ request: CreateOrganizationRequest, context: CallContext
    ) async throws -> CreateOrganizationResponse {
        try FieldRules.accountName(request.organization, field: "organization")
        try FieldRules.note(request.displayName, field: "display_name", limit: 128)
        try FieldRules.accountName(request.bootstrapAdminUserName, field: "bootstrap_admin_user_name")
        try FieldRules.password(request.bootstrapAdminPassword, field: "bootstrap_admin_password")
        let (organization, admin) = try await accounts.users.createOrganization(
            name: request.organization,
            displayName: request.displayName.isEmpty ? request.organization : request.displayName,
            adminName: request.bootstrapAdminUserName, password: Secret(request.bootstrapAdminPassword),
            by: try Caller(context))
        return CreateOrganizationResponse(organization: organization.message, bootstrapAdmin: admin.message)
    }

    public func getOrganization(
        _ request: GetOrganizationRequest, context: CallContext
    ) async throws -> GetOrganizationResponse {
        GetOrganizationResponse(organization: try accounts.users.organization(request.organization).message)
    }

    public func listOrganizations(
        _ request: ListOrganizationsRequest, context: CallContext
    ) async throws -> ListOrganizationsResponse {
        ListOrganizationsResponse(organizations: try accounts.users.organizations().map(\.message))
    }
}
