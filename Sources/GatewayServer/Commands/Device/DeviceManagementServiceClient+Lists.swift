import Proto
import RPC

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
