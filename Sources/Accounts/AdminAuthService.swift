import Basics
import Crypto
import Database
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for sites, API keys and organizations, for operators.
package struct AdminAuthService: AdminAuthServiceHandler {
    let accounts: Accounts
    let devices: any DeviceDirectory

    /// Returns the requested page of a list that had no pages at first.
    ///
    /// - Parameter scope: the list and its filter.
    func page(_ size: Int32, _ token: String, _ scope: String, for caller: Caller) throws(RPCError) -> Page {
        // Clients from before there were pages expect all entries.
        try Page(
            size: size, token: token, tokens: accounts.registries.pageTokens,
            scope: "\(scope)|\(caller.user.userID)|\(caller.organization.id)", defaultSize: .max)
    }

    package func createSite(_ request: CreateSiteRequest, context: CallContext) async throws -> CreateSiteResponse {
        try FieldRules.title(request.name, field: "name")
        return try await accounts.keptResponses.once(context) {
            try await accounts.registries.sites.create(
                name: request.name, status: try FieldRules.status(request.status), timeZone: request.timeZone,
                by: try Caller(context))
        } respond: {
            CreateSiteResponse(site: $0.message)
        }
    }

    package func getSite(_ request: GetSiteRequest, context: CallContext) async throws -> GetSiteResponse {
        GetSiteResponse(
            site: try await accounts.registries.sites.find(request.siteID, for: try Caller(context)).message)
    }

    package func listSites(_ request: ListSitesRequest, context: CallContext) async throws -> ListSitesResponse {
        let caller = try Caller(context)
        let page = try page(request.pageSize, request.pageToken, "sites", for: caller)
        let sites = try await accounts.registries.sites.list(page, for: caller)
        return ListSitesResponse(
            sites: sites.rows.map(\.message), nextPageToken: page.next(after: sites) { String($0.id) })
    }

    package func enableSite(_ request: EnableSiteRequest, context: CallContext) async throws -> EnableSiteResponse {
        let site = try await accounts.registries.sites.update(request.siteID, status: .enabled, by: try Caller(context))
        return EnableSiteResponse(site: site.message)
    }

    package func disableSite(_ request: DisableSiteRequest, context: CallContext) async throws -> DisableSiteResponse {
        let site = try await accounts.registries.sites.update(
            request.siteID, status: .disabled, by: try Caller(context))
        return DisableSiteResponse(site: site.message)
    }

    package func updateSite(_ request: UpdateSiteRequest, context: CallContext) async throws -> UpdateSiteResponse {
        if let name = request.name { try FieldRules.title(name, field: "name") }
        let site = try await accounts.registries.sites.update(
            request.siteID, name: request.name, status: try request.status.map(FieldRules.newStatus),
            timeZone: request.timeZone, silence: try request.silentAfterHours.map(SilenceLimit.init),
            by: try Caller(context))
        return UpdateSiteResponse(site: site.message)
    }

    package func deleteSite(_ request: DeleteSiteRequest, context: CallContext) async throws -> DeleteSiteResponse {
        try await accounts.registries.sites.delete(request.siteID, by: try Caller(context))
        return DeleteSiteResponse()
    }
}

extension AdminAuthService {
    package func createSiteApiKey(
        _ request: CreateSiteApiKeyRequest, context: CallContext
    ) async throws -> CreateSiteApiKeyResponse {
        try FieldRules.title(request.keyName, field: "key_name")
        return try await accounts.keptResponses.once(context) {
            try await accounts.registries.keys.createSiteKey(
                site: request.siteID, name: request.keyName, status: try FieldRules.status(request.status),
                expiresAt: try request.expiredAt?.expiry, by: try Caller(context))
        } respond: {
            CreateSiteApiKeyResponse(apiKey: $0.key.message, credential: $0.credential.exposedText)
        }
    }

    package func createOrRotateDeviceApiKey(
        _ request: CreateOrRotateDeviceApiKeyRequest, context: CallContext
    ) async throws -> CreateOrRotateDeviceApiKeyResponse {
        let name = request.keyName.isEmpty ? request.deviceID : request.keyName
        try FieldRules.title(name, field: "key_name")
        let mode: DeviceKeyMode
        switch request.mutationMode {
        case .unspecified: mode = .createOrRotate
        case .createOnly: mode = .createOnly
        case .rotateOnly: mode = .rotateOnly
        case .unrecognized: throw RPCError.invalidArgument("mutation_mode must be CREATE_ONLY or ROTATE_ONLY")
        }
        let order = DeviceKeyOrder(
            deviceID: request.deviceID, name: name, status: try FieldRules.status(request.status),
            expiresAt: try request.expiredAt?.expiry, mode: mode)
        return try await accounts.keptResponses.once(context) {
            try await accounts.registries.keys.createOrRotate(order, devices: devices, by: try Caller(context))
        } respond: {
            CreateOrRotateDeviceApiKeyResponse(apiKey: $0.key.message, credential: $0.credential.exposedText)
        }
    }

    package func getApiKey(_ request: GetApiKeyRequest, context: CallContext) async throws -> GetApiKeyResponse {
        GetApiKeyResponse(
            apiKey: try await accounts.registries.keys.find(request.apiKeyID, for: try Caller(context)).message)
    }

    package func listApiKeys(_ request: ListApiKeysRequest, context: CallContext) async throws -> ListApiKeysResponse {
        let isDevices: Bool?
        switch request.ownerKind {
        case .unspecified: isDevices = nil
        case .site: isDevices = false
        case .device: isDevices = true
        case .unrecognized: throw RPCError.invalidArgument("owner_kind must be SITE or DEVICE")
        }
        let caller = try Caller(context)
        let page = try page(
            request.pageSize, request.pageToken,
            "keys|\(request.siteID)|\(isDevices.map(String.init) ?? "")|\(request.deviceID)", for: caller)
        let keys = try await accounts.registries.keys.list(
            siteID: request.siteID == 0 ? nil : request.siteID, isDevices: isDevices,
            deviceID: request.deviceID.isEmpty ? nil : request.deviceID, page, for: caller)
        return ListApiKeysResponse(
            apiKeys: keys.rows.map(\.message), nextPageToken: page.next(after: keys, cursor: APIKeyRegistry.cursor))
    }

    package func updateApiKey(
        _ request: UpdateApiKeyRequest, context: CallContext
    ) async throws -> UpdateApiKeyResponse {
        if let name = request.keyName { try FieldRules.title(name, field: "key_name") }
        let expiry: APIKeyRegistry.Expiry
        switch (request.expiredAt, request.clearExpiredAt) {
        case (nil, false): expiry = .asItWas
        case (nil, true): expiry = .never
        case (let end?, false): expiry = .at(try end.expiry)
        case (_?, true): throw RPCError.invalidArgument("expired_at and clear_expired_at must not both be set")
        }
        let key = try await accounts.registries.keys.update(
            request.apiKeyID, name: request.keyName, status: try request.status.map(FieldRules.newStatus),
            expiry: expiry, by: try Caller(context))
        return UpdateApiKeyResponse(apiKey: key.message)
    }

    package func enableApiKey(
        _ request: EnableApiKeyRequest, context: CallContext
    ) async throws -> EnableApiKeyResponse {
        let key = try await accounts.registries.keys.update(request.apiKeyID, status: .enabled, by: try Caller(context))
        return EnableApiKeyResponse(apiKey: key.message)
    }

    package func disableApiKey(
        _ request: DisableApiKeyRequest, context: CallContext
    ) async throws -> DisableApiKeyResponse {
        let key = try await accounts.registries.keys.update(
            request.apiKeyID, status: .disabled, by: try Caller(context))
        return DisableApiKeyResponse(apiKey: key.message)
    }

    package func rotateApiKeySecret(
        _ request: RotateApiKeySecretRequest, context: CallContext
    ) async throws -> RotateApiKeySecretResponse {
        let (key, credential) = try await accounts.registries.keys.rotate(request.apiKeyID, by: try Caller(context))
        return RotateApiKeySecretResponse(apiKey: key.message, credential: credential.exposedText)
    }

    package func deleteApiKey(
        _ request: DeleteApiKeyRequest, context: CallContext
    ) async throws -> DeleteApiKeyResponse {
        try await accounts.registries.keys.delete(request.apiKeyID, by: try Caller(context))
        return DeleteApiKeyResponse()
    }
}

extension Timestamp {
    /// The value of the field `expired_at`.
    fileprivate var expiry: UnixTime {
        get throws(RPCError) {
            guard let time else { throw .invalidArgument("expired_at is not a valid time") }
            return time
        }
    }
}

extension AdminAuthService {
    package func createOrganization(
        _ request: CreateOrganizationRequest, context: CallContext
    ) async throws -> CreateOrganizationResponse {
        try FieldRules.accountName(request.organization, field: "organization")
        try FieldRules.optionalTitle(request.displayName, field: "display_name")
        try FieldRules.accountName(request.bootstrapAdminUserName, field: "bootstrap_admin_user_name")
        try FieldRules.password(request.bootstrapAdminPassword, field: "bootstrap_admin_password")
        return try await accounts.keptResponses.once(context) {
            try await accounts.registries.users.createOrganization(
                name: request.organization,
                displayName: request.displayName.isEmpty ? request.organization : request.displayName,
                adminName: request.bootstrapAdminUserName, password: Secret(request.bootstrapAdminPassword),
                by: try Caller(context))
        } respond: {
            CreateOrganizationResponse(organization: $0.organization.message, bootstrapAdmin: $0.admin.message)
        }
    }

    package func getOrganization(
        _ request: GetOrganizationRequest, context: CallContext
    ) async throws -> GetOrganizationResponse {
        GetOrganizationResponse(
            organization: try await accounts.registries.users.organization(request.organization).message)
    }

    package func listOrganizations(
        _ request: ListOrganizationsRequest, context: CallContext
    ) async throws -> ListOrganizationsResponse {
        let page = try page(request.pageSize, request.pageToken, "organizations", for: try Caller(context))
        let organizations = try await accounts.registries.users.organizations(page)
        return ListOrganizationsResponse(
            organizations: organizations.rows.map(\.message),
            nextPageToken: page.next(after: organizations) { String($0.id) })
    }

    package func updateOrganization(
        _ request: UpdateOrganizationRequest, context: CallContext
    ) async throws -> UpdateOrganizationResponse {
        guard let displayName = request.displayName else {
            return UpdateOrganizationResponse(
                organization: try await accounts.registries.users.organization(request.organization).message)
        }
        try FieldRules.title(displayName, field: "display_name")
        let organization = try await accounts.registries.users.renameOrganization(
            request.organization, displayName: displayName, by: try Caller(context))
        return UpdateOrganizationResponse(organization: organization.message)
    }

    package func deleteOrganization(
        _ request: DeleteOrganizationRequest, context: CallContext
    ) async throws -> DeleteOrganizationResponse {
        try await accounts.registries.users.deleteOrganization(request.organization, by: try Caller(context))
        return DeleteOrganizationResponse()
    }
}
