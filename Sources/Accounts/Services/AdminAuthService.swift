import Basics
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
            size: size, token: token, tokens: accounts.pageTokens,
            scope: "\(scope)|\(caller.user.userID)|\(caller.organization.id)", defaultSize: .max)
    }

    package func createSite(_ request: CreateSiteRequest, context: CallContext) async throws -> CreateSiteResponse {
        try FieldRules.title(request.name, field: "name")
        let site = try await accounts.sites.create(
            name: request.name, status: try FieldRules.status(request.status), by: try Caller(context))
        return CreateSiteResponse(site: site.message)
    }

    package func getSite(_ request: GetSiteRequest, context: CallContext) async throws -> GetSiteResponse {
        GetSiteResponse(site: try await accounts.sites.find(request.siteID, for: try Caller(context)).message)
    }

    package func listSites(_ request: ListSitesRequest, context: CallContext) async throws -> ListSitesResponse {
        let caller = try Caller(context)
        let page = try page(request.pageSize, request.pageToken, "sites", for: caller)
        let sites = try await accounts.sites.list(page, for: caller)
        return ListSitesResponse(
            sites: sites.rows.map(\.message), nextPageToken: page.next(after: sites) { String($0.id) })
    }

    package func enableSite(_ request: EnableSiteRequest, context: CallContext) async throws -> EnableSiteResponse {
        let site = try await accounts.sites.update(request.siteID, status: .enabled, by: try Caller(context))
        return EnableSiteResponse(site: site.message)
    }

    package func disableSite(_ request: DisableSiteRequest, context: CallContext) async throws -> DisableSiteResponse {
        let site = try await accounts.sites.update(request.siteID, status: .disabled, by: try Caller(context))
        return DisableSiteResponse(site: site.message)
    }

    package func updateSite(_ request: UpdateSiteRequest, context: CallContext) async throws -> UpdateSiteResponse {
        if let name = request.name { try FieldRules.title(name, field: "name") }
        let site = try await accounts.sites.update(
            request.siteID, name: request.name, status: try request.status.map(FieldRules.newStatus),
            by: try Caller(context))
        return UpdateSiteResponse(site: site.message)
    }

    package func deleteSite(_ request: DeleteSiteRequest, context: CallContext) async throws -> DeleteSiteResponse {
        try await accounts.sites.delete(request.siteID, by: try Caller(context))
        return DeleteSiteResponse()
    }
}
