import CommandLineInterface
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Commands

@Suite(.timeLimited) struct ClientCommandTests {
    private let calls = Calls()
    private let recorder = Recorder()

    /// Serves a list of one site to callers with one of the tokens.
    private func serveSites(_ router: inout Router, to tokens: Set<String>) {
        router.add(AdminAuthServiceMethods.listSites) { [calls] (_: ListSitesRequest, context) in
            let token = context.metadata["authorization"] ?? "nobody"
            calls.add("list as \(token) for \(context.metadata["x-organization"] ?? "itself")")
            guard tokens.contains(token) else { throw RPCError(.unauthenticated, "the token has expired") }
            return ListSitesResponse(sites: [Site(siteID: 7, name: "Plant", status: 1)])
        }
    }

    private func serveRefresh(_ router: inout Router) {
        router.add(AuthServiceMethods.refreshToken) { [calls] (request: RefreshTokenRequest, _) in
            calls.add("refresh \(request.refreshToken)")
            guard request.refreshToken == "refresh-1" else { throw RPCError(.authInvalidCredential, "unknown") }
            return RefreshTokenResponse(
                accessToken: "access-2", accessTokenExpiresAtUnix: 1_950_000_000, refreshToken: "refresh-2",
                refreshTokenExpiresAtUnix: 2_050_000_000)
        }
    }

    @Test func callsInTheNameOfWhoIsSignedIn() async throws {
        try await TestGateway.serving({ serveSites(&$0, to: ["Bearer access-1"]) }) { gateway in
            try gateway.signIn()
            #expect(await gateway.run("site list --organization other", recorder) == .success)
            #expect(recorder.output == "SITE ID  NAME   STATUS   CREATED AT\n7        Plant  enabled  -")
            #expect(calls.all == ["list as Bearer access-1 for other"])
        }
    }

    @Test func aTokenThatHasEndedIsRenewedBeforeTheCall() async throws {
        try await TestGateway.serving({
            serveSites(&$0, to: ["Bearer access-2"])
            serveRefresh(&$0)
        }) { gateway in
            try gateway.signIn(expiry: 1_767_225_600)
            #expect(await gateway.run("site list", recorder) == .success)
            #expect(calls.all == ["refresh refresh-1", "list as Bearer access-2 for itself"])
            let session = try gateway.file.read()
            #expect(session?.accessToken == "access-2")
            #expect(session?.accessTokenExpiresAtUnix == 1_950_000_000)
            #expect(session?.refreshToken == "refresh-2")
            #expect(session?.userName == "ada")
        }
    }

    @Test func aTokenThatIsRefusedIsRenewedOnce() async throws {
        try await TestGateway.serving({
            serveSites(&$0, to: [])
            serveRefresh(&$0)
        }) { gateway in
            try gateway.signIn()
            #expect(await gateway.run("site list", recorder) == .refused)
            #expect(
                calls.all == [
                    "list as Bearer access-1 for itself", "refresh refresh-1", "list as Bearer access-2 for itself",
                ])
            #expect(recorder.errors.contains("run data-gateway login (the token has expired, DATA_GATEWAY_"))
        }
    }

    @Test(arguments: ["refresh-0", ""])
    func aSessionThatIsOverSaysSo(refreshToken: String) async throws {
        try await TestGateway.serving({ serveRefresh(&$0) }) { gateway in
            try gateway.signIn(expiry: 0, refreshToken: refreshToken)
            #expect(await gateway.run("site list", recorder) == .refused)
            #expect(recorder.errors == "data-gateway: the session of ada ended: run data-gateway login --user ada")
            #expect(recorder.output.isEmpty)
        }
    }

    @Test func listCommandAsksForEveryPage() async throws {
        try await TestGateway.serving({ router in
            router.add(AdminAuthServiceMethods.getSite) { (request: GetSiteRequest, _) in
                GetSiteResponse(site: Site(siteID: request.siteID))
            }
            router.add(DeviceManagementServiceMethods.getDeviceSuite) { (request: GetDeviceSuiteRequest, _) in
                DeviceSuite(name: request.name)
            }
            router.add(DeviceManagementServiceMethods.listDevices) { [calls] (request: ListDevicesRequest, _) in
                calls.add(
                    """
                    \(request.suite) \(request.siteID) \(request.status) \(request.silentForSeconds) \(request.sdkVersion) \
                    '\(request.orderBy)' '\(request.pageToken)' \(request.noUploadForSeconds)
                    """)
                return request.pageToken.isEmpty
                    ? ListDevicesResponse(devices: [Device(deviceID: "1")], nextPageToken: "more")
                    : ListDevicesResponse(devices: [Device(deviceID: "2")])
            }
        }) { gateway in
            try gateway.signIn()
            let options =
                "--status disabled --silent-for 3d --no-upload-for 4d --sdk-version 1. --order-by last_seen_at"
            #expect(await gateway.run("device list --suite 7 --site 3 \(options)", recorder) == .success)
            #expect(
                calls.all == [
                    "deviceSuites/7 3 disabled 259200 1. 'last_seen_at' '' 345600",
                    "deviceSuites/7 3 disabled 259200 1. 'last_seen_at' 'more' 345600",
                ])
            #expect(recorder.output.split(separator: "\n").count == 3)
        }
    }

    @Test func typedOptionsReachTheRequest() async throws {
        try await TestGateway.serving({ router in
            router.add(DeviceManagementServiceMethods.registerDevice) { (request: RegisterDeviceRequest, _) in
                Device(
                    deviceID: request.deviceID, displayName: request.displayName, description: request.description,
                    suite: request.suite, tags: request.tags)
            }
            router.add(DeviceManagementServiceMethods.updateDevice) { [calls] (request: UpdateDeviceRequest, _) in
                calls.add("\(request)")
                return Device(name: request.name)
            }
        }) { gateway in
            try gateway.signIn()
            let register = "device register 260427-000001 --suite 7 --display-name D --description E --tag a=b=c"
            #expect(await gateway.run(register + " --json", recorder) == .success)
            let sent = [
                "\"device_id\":\"260427-000001\"", "\"suite\":\"deviceSuites/7\"", "\"display_name\":\"D\"",
                "\"description\":\"E\"", "\"tags\":{\"a\":\"b=c\"}",
            ]
            #expect(sent.allSatisfy(recorder.output.contains))
            #expect(await gateway.run("device update 260427-000001 --tag k=v --replace-tags", recorder) == .success)
            let update = UpdateDeviceRequest(
                name: "devices/260427-000001", displayName: nil, description: nil, tags: ["k": "v"], replaceTags: true)
            #expect(calls.all == ["\(update)"])
        }
    }

    @Test func logoutRevokesTheSession() async throws {
        try await TestGateway.serving({ router in
            router.add(SessionServiceMethods.logout) { [calls] (request: LogoutRequest, _) in
                calls.add(request.refreshToken)
                return LogoutResponse()
            }
        }) { gateway in
            try gateway.signIn()
            #expect(await gateway.run("logout --json", recorder) == .success)
            #expect(recorder.output == "{}")
            #expect(recorder.errors.isEmpty)
            #expect(calls.all == ["refresh-1"])
            #expect(try gateway.file.read() == nil)
        }
    }

    @Test func logoutNeedsNoGateway() async throws {
        try await TestGateway.serving({ _ in }) { gateway in
            try gateway.signIn()
            // A gateway without SessionService cannot end the session, so there is nothing more to do.
            #expect(await gateway.run("logout", recorder) == .success)
            #expect(recorder.errors.isEmpty)
            #expect(try gateway.file.read() == nil)
        }
    }
}
