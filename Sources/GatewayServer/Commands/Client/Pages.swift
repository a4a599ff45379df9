import CommandLineInterface
import Proto
import RPC

/// Reads paginated lists.
enum Pages {
    /// The number of entries per page.
    static let size: Int32 = 500

    /// Returns the entries of all pages.
    ///
    /// - Parameter page: fetches the page of a token, beginning with the empty one; the last page has no next token.
    static func all<Entry>(
        _ page: (_ token: String) async throws -> (entries: [Entry], next: String)
    ) async throws -> [Entry] {
        var (entries, next) = try await page("")
        while !next.isEmpty {
            let (more, following) = try await page(next)
            guard following != next else { throw ClientFailure("the gateway's list does not end") }
            entries += more
            next = following
        }
        return entries
    }
}

extension DeviceManagementServiceClient {
    /// Returns the devices of all pages.
    ///
    /// - Parameter request: the filter; its page is ignored.
    func allDevices(_ request: ListDevicesRequest = ListDevicesRequest()) async throws -> [Device] {
        try await Pages.all { token in
            var request = request
            request.pageSize = Pages.size
            request.pageToken = token
            let page = try await listDevices(request)
            return (page.devices, page.nextPageToken)
        }
    }

    /// Returns the suites of all pages.
    ///
    /// - Parameter siteID: 0 = all sites.
    func allSuites(siteID: Int64 = 0) async throws -> [DeviceSuite] {
        try await Pages.all { token in
            let page = try await listDeviceSuites(
                ListDeviceSuitesRequest(siteID: siteID, pageSize: Pages.size, pageToken: token))
            return (page.deviceSuites, page.nextPageToken)
        }
    }
}

extension AdminAuthServiceClient {
    /// Returns the organization's sites of all pages.
    func allSites() async throws -> [Site] {
        try await Pages.all { token in
            let page = try await listSites(ListSitesRequest(pageToken: token))
            return (page.sites, page.nextPageToken)
        }
    }

    /// Returns the keys of all pages.
    ///
    /// - Parameter request: the filter; its page is ignored.
    func allAPIKeys(_ request: ListApiKeysRequest) async throws -> [ApiKey] {
        try await Pages.all { token in
            var request = request
            request.pageToken = token
            let page = try await listApiKeys(request)
            return (page.apiKeys, page.nextPageToken)
        }
    }

    /// Returns the organizations of all pages.
    func allOrganizations() async throws -> [Organization] {
        try await Pages.all { token in
            let page = try await listOrganizations(ListOrganizationsRequest(pageToken: token))
            return (page.organizations, page.nextPageToken)
        }
    }
}
