import Proto
import RPC

extension DeviceManagementServiceClient {
    /// All pages.
    ///
    /// - Parameter request: which devices; its page is not looked at.
    func allDevices(_ request: ListDevicesRequest = ListDevicesRequest()) async throws -> [Device] {
        try await Pages.all { token in
            var request = request
            request.pageSize = Pages.size
            request.pageToken = token
            let page = try await listDevices(request)
            return (page.devices, page.nextPageToken)
        }
    }

    /// All pages.
    ///
    /// - Parameter siteID: 0 = of every site.
    func allSuites(siteID: Int64 = 0) async throws -> [DeviceSuite] {
        try await Pages.all { token in
            let page = try await listDeviceSuites(
                ListDeviceSuitesRequest(siteID: siteID, pageSize: Pages.size, pageToken: token))
            return (page.deviceSuites, page.nextPageToken)
        }
    }
}
