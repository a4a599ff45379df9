import Accounts
import Basics
import Database
import GRPCWire
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

@Suite(.timeLimited) struct DeviceManagementServiceTests {
    private typealias Methods = DeviceManagementServiceMethods

    @Test func aDeviceIsRegisteredOnce() async throws {
        let world = try await World()
        let device = try await world.register("260427-000001", tags: ["fleet": "a"])
        #expect(device.name == "devices/260427-000001")
        #expect((device.deviceID, device.suite, device.siteID) == ("260427-000001", world.suite, world.site))
        #expect(device.status == .registered)
        #expect(device.tags == ["fleet": "a"])
        #expect(device.initializedAt == nil)
        var found = try await world.device("260427-000001")
        #expect(found.diagnosis?.condition == .neverCalled)
        found.diagnosis = nil
        #expect(found == device)
        #expect(await refusal { try await world.register("260427-000001") }?.status == .alreadyExists)
        #expect(await refusal { try await world.register("robot-1") }?.detail == .deviceIDInvalid)
        #expect(try world.audit().last == "user:system/admin RegisterDevice devices/260427-000001 192.0.2.7 OK 1")
    }

    @Test func withoutAnIDOneOfTodayIsAssigned() async throws {
        let world = try await World()
        let ids = [try await world.register().deviceID, try await world.register().deviceID]
        #expect(Set(ids).count == 2)
        #expect(ids.allSatisfy { $0.hasPrefix("260101-") })
    }

    @Test func malformedDeviceIsRefusedAndNothingIsStored() async throws {
        let world = try await World()
        let many = Dictionary(uniqueKeysWithValues: (0..<193).map { ("k\($0)", "v") })
        #expect(await refusal { try await world.register("260427-000001", tags: many) }?.detail == .invalidArgument)
        #expect(
            await refusal { try await world.register("260427-000001", tags: ["": "v"]) }?.detail == .invalidArgument)
        for suite in ["7", "deviceSuites/", "deviceSuites/0", "deviceSuites/01", "deviceSuites/+1", "devices/1"] {
            let error = await refusal { try await world.register("260427-000001", suite: suite) }
            #expect(error?.detail == .invalidArgument, "\(suite)")
        }
        #expect(
            await refusal { try await world.register("260427-000001", suite: "deviceSuites/99") }?.status == .notFound)
        #expect(await refusal { _ = try await world.device("260427-000001") }?.status == .notFound)
        let noSite = await refusal {
            _ = try await world.devices.managementService.createDeviceSuite(
                CreateDeviceSuiteRequest(siteID: 99, displayName: "x"),
                context: world.call(Methods.createDeviceSuite))
        }
        #expect(noSite?.status == .notFound)
    }

    @Test func bindingFollowsTheRules() async throws {
        let world = try await World()
        let id = "260427-000001"
        try await world.register(id)
        let (_, south) = try await world.createPlace("south", token: world.admin)
        for suite in [world.suite, south] {
            #expect(await refusal { try await world.add(id, to: suite) }?.status == .failedPrecondition)
        }
        #expect(await refusal { try await world.remove(id, from: south) }?.status == .failedPrecondition)
        let unbound = try await world.remove(id, from: world.suite)
        #expect((unbound.suite, unbound.siteID) == ("", 0))
        #expect(await refusal { try await world.remove(id, from: world.suite) }?.status == .failedPrecondition)
        #expect(try await world.add(id, to: south).suite == south)
    }

    @Test func eachNameThatASearchFindsChangesTheVersionOfNames() async throws {
        let world = try await World()
        let organization = try #require(
            try await world.database.read { try $0.first("SELECT organization_id FROM sites") { $0.int64(0) } })
        func version() throws -> Int64 {
            try world.database.readBlocking {
                try world.devices.directory.displayNameVersion(organizationID: organization, in: $0)
            }
        }
        var last = try version()
        func expectChange(_ isChange: Bool, _ body: () async throws -> Void) async throws {
            try await body()
            #expect(try (version() != last) == isChange)
            last = try version()
        }
        try await expectChange(true) { try await world.register("260427-000001") }
        try await expectChange(false) {
            _ = try await world.devices.managementService.registerDevice(
                RegisterDeviceRequest(deviceID: "260427-000002"),
                context: world.call(Methods.registerDevice))
        }
        try await expectChange(true) {
            _ = try await world.devices.managementService.updateDevice(
                UpdateDeviceRequest(name: "devices/260427-000001", displayName: "Mover"),
                context: world.call(Methods.updateDevice))
        }
        try await expectChange(false) { _ = try await world.remove("260427-000001", from: world.suite) }
        try await expectChange(true) { _ = try await world.createPlace("south", token: world.admin) }
        try await expectChange(true) {
            _ = try await world.adminService.updateSite(
                UpdateSiteRequest(siteID: world.site, name: "west"),
                context: world.call(AdminAuthServiceMethods.updateSite))
        }
    }

    @Test func namesOfDevicesAreThoseOfTheOrganization() async throws {
        let world = try await World()
        let boss = try await world.createOrganization("acme")
        let (_, suite) = try await world.createPlace("acme", token: boss)
        try await world.register("260427-000001")
        try await world.register("260427-000002", suite: suite, token: boss)
        func names(_ ids: [String]) async throws -> [String: String] {
            try await world.devices.managementService.getDeviceNames(
                GetDeviceNamesRequest(deviceIDs: ids), context: world.call(Methods.getDeviceNames)
            ).displayNames
        }
        let all = (1...1000).map { "260427-" + String(String(1_000_000 + $0).dropFirst()) }
        #expect(try await names(all) == ["260427-000001": "robot"])
        #expect(try await names([]).isEmpty)
        #expect(await refusal { _ = try await names(all + all) }?.detail == .invalidArgument)
    }

    @Test func anUpdateChangesWhatItNames() async throws {
        let world = try await World()
        try await world.register("260427-000001", tags: ["a": "1", "b": "2"])
        func update(_ request: UpdateDeviceRequest) async throws -> Device {
            try await world.devices.managementService.updateDevice(
                request, context: world.call(Methods.updateDevice))
        }
        let name = "devices/260427-000001"
        var device = try await update(UpdateDeviceRequest(name: name, description: "by the door", tags: ["b": "3"]))
        #expect((device.displayName, device.description) == ("robot", "by the door"))
        #expect(device.tags == ["a": "1", "b": "3"])
        device = try await update(UpdateDeviceRequest(name: name, displayName: "", tags: ["c": "4"], replaceTags: true))
        #expect((device.displayName, device.description) == ("", "by the door"))
        #expect(device.tags == ["c": "4"])
        let many = Dictionary(uniqueKeysWithValues: (0..<192).map { ("k\($0)", "v") })
        let error = await refusal { _ = try await update(UpdateDeviceRequest(name: name, tags: many)) }
        #expect(error?.detail == .invalidArgument)
        #expect(try await world.device("260427-000001").tags == ["c": "4"])
    }

    @Test func listsArePagedAndNarrowed() async throws {
        let world = try await World()
        let ids = (1...7).map { "260427-00000\($0)" }
        for id in ids { try await world.register(id) }
        _ = try await world.initialize(ids[0])
        try await world.disable(ids[1])
        try await world.remove(ids[2], from: world.suite)
        func list(_ request: ListDevicesRequest) async throws -> ListDevicesResponse {
            try await world.devices.managementService.listDevices(request, context: world.call(Methods.listDevices))
        }
        var seen: [String] = []
        var token = ""
        var pages = 0
        repeat {
            let page = try await list(ListDevicesRequest(pageSize: 3, pageToken: token))
            seen += page.devices.map(\.deviceID)
            token = page.nextPageToken
            pages += 1
        } while !token.isEmpty
        #expect(seen == ids)
        #expect(pages == 3)
        #expect(try await list(ListDevicesRequest(pageSize: 7)).nextPageToken.isEmpty)

        #expect(try await list(ListDevicesRequest(status: .initialized)).devices.map(\.deviceID) == [ids[0]])
        #expect(try await list(ListDevicesRequest(status: .disabled)).devices.map(\.deviceID) == [ids[1]])
        #expect(try await list(ListDevicesRequest(suite: world.suite)).devices.count == 6)
        #expect(try await list(ListDevicesRequest(siteID: world.site, status: .registered)).devices.count == 4)

        let first = try await list(ListDevicesRequest(pageSize: 3)).nextPageToken
        for bad in [
            ListDevicesRequest(pageSize: -1), ListDevicesRequest(pageToken: "x"),
            ListDevicesRequest(siteID: world.site, pageToken: first), ListDevicesRequest(status: .unrecognized(9)),
        ] {
            #expect(await refusal { _ = try await list(bad) }?.detail == .invalidArgument)
        }
    }

    private func list(_ request: ListDevicesRequest, in world: World) async throws -> ListDevicesResponse {
        try await world.devices.managementService.listDevices(request, context: world.call(Methods.listDevices))
    }

    /// Registers four devices: the first two are seen at the seconds 0 and 100, the third one has a key from an operator that was
    /// never used, and the fourth one none.
    private func fleet() async throws -> (world: World, ids: [String]) {
        let world = try await World()
        let ids = (1...4).map { "260427-00000\($0)" }
        for id in ids { try await world.register(id) }
        _ = try await world.initialize(ids[0])
        _ = try await world.adminService.createOrRotateDeviceApiKey(
            CreateOrRotateDeviceApiKeyRequest(deviceID: ids[2]),
            context: world.call(AdminAuthServiceMethods.createOrRotateDeviceApiKey))
        world.clock.advance(seconds: 100)
        _ = try await world.initialize(ids[1])
        return (world, ids)
    }

    @Test(arguments: [
        (ListDevicesRequest(silentForSeconds: 100), [0, 2]), (ListDevicesRequest(silentForSeconds: 101), []),
        (ListDevicesRequest(silentForSeconds: 1), [0, 2]),
        // No device has an upload here.
        (ListDevicesRequest(noUploadForSeconds: 100, withLastUpload: true), [0, 2]),
        (ListDevicesRequest(noUploadForSeconds: 101), []),
        (ListDevicesRequest(sdkVersion: "1.2.3"), [0, 1]), (ListDevicesRequest(sdkVersion: "1."), [0, 1]),
        (ListDevicesRequest(sdkVersion: "1%"), []),
        (ListDevicesRequest(orderBy: "last_seen_at"), [2, 3, 0, 1]),
        (ListDevicesRequest(orderBy: "last_seen_at desc"), [1, 0, 3, 2]),
        (ListDevicesRequest(orderBy: "device_id desc"), [3, 2, 1, 0]),
        (ListDevicesRequest(status: .initialized, silentForSeconds: 10, orderBy: "last_seen_at"), [2, 0]),
    ])
    func listOfDevicesHasThoseOfTheFilterInItsOrder(_ request: ListDevicesRequest, _ expected: [Int]) async throws {
        let (world, ids) = try await fleet()
        #expect(try await list(request, in: world).devices.map(\.deviceID) == expected.map { ids[$0] })
        var (seen, token): ([String], String) = ([], "")
        repeat {
            var page = request
            (page.pageSize, page.pageToken) = (1, token)
            let response = try await list(page, in: world)
            seen += response.devices.map(\.deviceID)
            token = response.nextPageToken
        } while !token.isEmpty
        #expect(seen == expected.map { ids[$0] })
    }

    @Test func listOfDevicesIsNarrowedByTheTimeOfTheLastCall() async throws {
        let (world, ids) = try await fleet()
        let now = Timestamp(world.clock.now())
        #expect(try await list(ListDevicesRequest(lastSeenSince: now), in: world).devices.map(\.deviceID) == [ids[1]])
        #expect(try await list(ListDevicesRequest(lastSeenBefore: now), in: world).devices.map(\.deviceID) == [ids[0]])
    }

    @Test func devicesAreOrderedByNameWithoutRegardToCase() async throws {
        let (world, ids) = try await fleet()
        for (id, name) in zip(ids, ["beta", "Alpha", "alpha", "Gamma"]) {
            _ = try await world.devices.managementService.updateDevice(
                UpdateDeviceRequest(name: "devices/\(id)", displayName: name),
                context: world.call(Methods.updateDevice))
        }
        let ordered = try await list(ListDevicesRequest(orderBy: "display_name"), in: world).devices
        #expect(ordered.map(\.displayName) == ["Alpha", "alpha", "beta", "Gamma"])
    }

    @Test func malformedFilterAndOrderAreRefused() async throws {
        let (world, _) = try await fleet()
        let token = try await list(ListDevicesRequest(pageSize: 1, orderBy: "last_seen_at"), in: world).nextPageToken
        for bad in [
            ListDevicesRequest(silentForSeconds: -1), ListDevicesRequest(silentForSeconds: .max),
            ListDevicesRequest(noUploadForSeconds: -1), ListDevicesRequest(noUploadForSeconds: .max),
            ListDevicesRequest(pageSize: 1, pageToken: token, orderBy: "last_seen_at", noUploadForSeconds: 1),
            ListDevicesRequest(lastSeenSince: Timestamp(seconds: .max)),
            ListDevicesRequest(sdkVersion: "\n"), ListDevicesRequest(orderBy: "size"),
            ListDevicesRequest(orderBy: "device_id asc"),
            ListDevicesRequest(pageSize: 1, pageToken: token),
            ListDevicesRequest(pageSize: 1, pageToken: token, orderBy: "last_seen_at desc"),
            ListDevicesRequest(pageSize: 1, pageToken: token, silentForSeconds: 1, orderBy: "last_seen_at"),
        ] {
            #expect(await refusal { _ = try await list(bad, in: world) }?.detail == .invalidArgument, "\(bad)")
        }
    }

    @Test func suitesArePaged() async throws {
        let world = try await World()
        for name in ["a", "b", "c"] { _ = try await world.createPlace(name, token: world.admin) }
        func list(_ request: ListDeviceSuitesRequest) async throws -> ListDeviceSuitesResponse {
            try await world.devices.managementService.listDeviceSuites(
                request, context: world.call(Methods.listDeviceSuites))
        }
        let first = try await list(ListDeviceSuitesRequest(pageSize: 3))
        let second = try await list(ListDeviceSuitesRequest(pageSize: 3, pageToken: first.nextPageToken))
        #expect((first.deviceSuites + second.deviceSuites).map(\.displayName) == ["north", "a", "b", "c"])
        #expect(second.nextPageToken.isEmpty)
        let ofSite = try await list(ListDeviceSuitesRequest(siteID: world.site))
        #expect(ofSite.deviceSuites.map(\.name) == [world.suite])
    }

    @Test func suiteIsRenamedAndKeepsItsOtherFields() async throws {
        let world = try await World()
        func update(_ request: UpdateDeviceSuiteRequest, token: String? = nil) async throws -> DeviceSuite {
            try await world.devices.managementService.updateDeviceSuite(
                request, context: world.call(Methods.updateDeviceSuite, token: token))
        }
        _ = try await update(UpdateDeviceSuiteRequest(name: world.suite, description: "beside the gate"))
        let renamed = try await update(UpdateDeviceSuiteRequest(name: world.suite, displayName: "arctic"))
        #expect((renamed.displayName, renamed.description) == ("arctic", "beside the gate"))
        #expect(renamed.siteID == world.site)
        let emptied = try await update(UpdateDeviceSuiteRequest(name: world.suite, description: ""))
        #expect((emptied.displayName, emptied.description) == ("arctic", ""))
        for bad in [
            UpdateDeviceSuiteRequest(name: world.suite, displayName: ""),
            UpdateDeviceSuiteRequest(name: world.suite, description: String(repeating: "x", count: 2000)),
            UpdateDeviceSuiteRequest(name: "devices/1", displayName: "a"),
        ] {
            #expect(await refusal { _ = try await update(bad) }?.status == .invalidArgument)
        }
        let boss = try await world.createOrganization("acme")
        let foreign = UpdateDeviceSuiteRequest(name: world.suite, displayName: "ours")
        #expect(await refusal { _ = try await update(foreign, token: boss) }?.status == .notFound)
    }

    @Test func nothingIsDeletedThatOthersReferTo() async throws {
        let world = try await World()
        let id = "260427-000001"
        try await world.register(id)
        func deleteSuite() async throws {
            _ = try await world.devices.managementService.deleteDeviceSuite(
                DeleteDeviceSuiteRequest(name: world.suite), context: world.call(Methods.deleteDeviceSuite))
        }
        func deleteDevice() async throws {
            _ = try await world.devices.managementService.deleteDevice(
                DeleteDeviceRequest(name: "devices/\(id)"), context: world.call(Methods.deleteDevice))
        }
        let held = await refusal(deleteSuite)
        #expect(held?.status == .failedPrecondition)
        #expect(held?.message.contains(id) == true)
        try await deleteDevice()
        #expect(await refusal(deleteDevice)?.status == .notFound)
        try await world.register(id)
        _ = try await world.initialize(id)
        #expect(await refusal(deleteDevice)?.status == .failedPrecondition)
        try await world.remove(id, from: world.suite)
        try await deleteSuite()
        #expect(await refusal(deleteSuite)?.status == .notFound)
    }

    @Test func anotherOrganizationsAreNotFound() async throws {
        let world = try await World()
        let boss = try await world.createOrganization("acme")
        let id = "260427-000001"
        try await world.register(id)
        #expect(await refusal { _ = try await world.device(id, token: boss) }?.status == .notFound)
        #expect(await refusal { try await world.register("260427-000002", token: boss) }?.status == .notFound)
        let (_, suite) = try await world.createPlace("theirs", token: boss)
        #expect(await refusal { try await world.add(id, to: suite) }?.status == .notFound)
        let foreign = await refusal {
            _ = try await world.devices.managementService.createDeviceSuite(
                CreateDeviceSuiteRequest(siteID: world.site, displayName: "x"),
                context: world.call(Methods.createDeviceSuite, token: boss))
        }
        #expect(foreign?.status == .notFound)
        let listed = try await world.devices.managementService.listDevices(
            ListDevicesRequest(), context: world.call(Methods.listDevices, token: boss))
        #expect(listed.devices.isEmpty)
    }

    @Test func aKeyMadeByAnOperatorCountsAsInitialization() async throws {
        let world = try await World()
        let id = "260427-000001"
        try await world.register(id)
        func createKey() async throws -> String {
            try await world.adminService.createOrRotateDeviceApiKey(
                CreateOrRotateDeviceApiKeyRequest(deviceID: id),
                context: world.call(AdminAuthServiceMethods.createOrRotateDeviceApiKey)
            ).credential
        }
        let key = try await createKey()
        #expect(try world.upload(try await world.exchange(key).accessToken)?.deviceID == id)
        #expect(try await world.device(id).status == .initialized)
        #expect(await refusal { _ = try await world.initialize(id) }?.detail == .deviceAlreadyInitialized)
        try await world.disable(id)
        let held = try await createKey()
        #expect(await refusal { _ = try await world.exchange(held) }?.detail == .authKeyDisabled)
        try await world.remove(id, from: world.suite)
        #expect(await refusal { _ = try await createKey() }?.status == .failedPrecondition)
    }

    @Test func lastSeenFollowsTheKey() async throws {
        let world = try await World()
        let id = "260427-000001"
        try await world.register(id)
        let key = try await world.initialize(id).apiKey
        let initialized = Timestamp(world.clock.now())
        #expect(try await world.device(id).lastSeenAt == initialized)
        world.clock.advance(seconds: 100)
        _ = try await world.exchange(key)
        try await world.database.write { _ in }
        #expect(try await world.device(id).lastSeenAt == Timestamp(world.clock.now()))
    }
}
