import Accounts
import Basics
import Database
import Foundation
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

/// The reports about devices that are not heard of, and about their return.
@Suite(.timeLimited) struct SilenceTests {
    private typealias Methods = DeviceManagementServiceMethods

    private let id = "260427-000001"

    /// A limit of each level, in hours; `nil` = none is set.
    struct Limits: Sendable {
        var site: Int32?
        var suite: Int32?
        var device: Int32?
        /// The hours after which the device is reported; `nil` = never.
        let expected: Int64?
    }

    /// Returns a world with a device that was just heard of.
    private func world(default hours: Int64 = 72) async throws -> World {
        let world = try await World { $0.silentAfter = .hours(hours) }
        try await world.register(id)
        _ = try await world.initialize(id)
        try await look(in: world)
        return world
    }

    private func look(in world: World) async throws {
        try await world.devices.silence.run(world.clockGuard.permit())
    }

    /// Lets time pass in which a gateway looked for silent devices.
    private func pass(hours: Int64, seconds: Int64 = 0, in world: World) async throws {
        world.clock.advance(seconds: hours * 3600 + seconds)
        let watch = SilenceWatch(at: world.clock.now())
        try await world.database.write { try SilenceRecords($0, defaultHours: 0).record(watch) }
    }

    private func hear(_ id: String, in world: World) async throws {
        let now = world.clock.now()
        try await world.database.write { try DeviceRecords($0).noteSeen(DeviceID(id), at: now) }
    }

    private func execute(_ statement: String, in world: World) async throws {
        _ = try await world.database.write { try $0.execute(statement) }
    }

    private func events(in world: World) async throws -> [String] {
        try await world.database.read { connection in
            try connection.query("SELECT type, subject FROM events ORDER BY position") {
                "\($0.text("type")) \($0.text("subject"))"
            }
        }
    }

    private func set(_ limits: Limits, in world: World) async throws {
        if let hours = limits.site {
            let reply = try await world.adminService.updateSite(
                UpdateSiteRequest(siteID: world.site, silentAfterHours: hours),
                context: world.call(AdminAuthServiceMethods.updateSite, token: world.login()))
            #expect(reply.site?.silentAfterHours == (hours < 0 ? nil : hours))
        }
        if let hours = limits.suite {
            let suite = try await world.devices.managementService.updateDeviceSuite(
                UpdateDeviceSuiteRequest(name: world.suite, silentAfterHours: hours),
                context: world.call(Methods.updateDeviceSuite, token: world.login()))
            #expect(suite.silentAfterHours == (hours < 0 ? nil : hours))
            #expect(suite.displayName == "north")
        }
        if let hours = limits.device { _ = try await setDevice(hours, in: world) }
    }

    private func setDevice(_ hours: Int32, in world: World) async throws -> Device {
        let device = try await world.devices.managementService.updateDevice(
            UpdateDeviceRequest(name: "devices/\(id)", silentAfterHours: hours),
            context: world.call(Methods.updateDevice, token: world.login()))
        #expect(device.silentAfterHours == (hours < 0 ? nil : hours))
        return device
    }

    @Test(arguments: [
        Limits(expected: 72), Limits(site: 5, expected: 5), Limits(site: 5, suite: 4, expected: 4),
        Limits(site: 5, suite: 4, device: 90, expected: 90), Limits(suite: 4, expected: 4),
        Limits(device: 1, expected: 1), Limits(site: 0, expected: nil), Limits(site: 0, device: 2, expected: 2),
        Limits(site: 5, suite: 0, expected: nil), Limits(suite: 3, device: 0, expected: nil),
        Limits(site: 5, suite: -1, device: -1, expected: 5), Limits(site: -1, expected: 72),
    ])
    func closestLimitCounts(_ limits: Limits) async throws {
        let world = try await world()
        try await set(limits, in: world)
        guard let hours = limits.expected else {
            try await pass(hours: 87_600, in: world)
            try await look(in: world)
            #expect(try await events(in: world).isEmpty)
            return
        }
        try await pass(hours: hours, in: world)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
        try await pass(hours: 0, seconds: 1, in: world)
        try await look(in: world)
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
    }

    @Test func withoutADefaultOnlyWhatHasALimitIsReported() async throws {
        let world = try await world(default: 0)
        try await pass(hours: 1000, in: world)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
        try await set(Limits(site: 24, expected: nil), in: world)
        try await look(in: world)
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
    }

    @Test(arguments: [-2, 87_601, Int32.max, .min])
    func limitOutOfItsRangeIsRefused(_ hours: Int32) async throws {
        let world = try await world()
        let error = await refusal { _ = try await setDevice(hours, in: world) }
        #expect(error?.detail == .invalidArgument)
        #expect(error?.message == "silent_after_hours must be -1 to 87600")
        #expect(try await world.device(id).silentAfterHours == nil)
    }

    @Test func silenceAndReturnAreReportedOnce() async throws {
        let world = try await world()
        let lastCall = RFC3339.text(world.clock.now())
        try await pass(hours: 73, in: world)
        for _ in 0..<3 { try await look(in: world) }
        #expect(try await silentSince(in: world) == world.device(id, token: world.login()).lastSeenAt)
        try await pass(hours: 100, in: world)
        try await look(in: world)
        try await hear(id, in: world)
        let nextCall = RFC3339.text(world.clock.now())
        for _ in 0..<3 { try await look(in: world) }
        #expect(try await silentSince(in: world) == nil)
        #expect(
            try await events(in: world) == ["device.silent devices/\(id)", "device.returned devices/\(id)"])
        let data = try await world.database.read { connection in
            try connection.query("SELECT payload FROM events ORDER BY position") { $0.text("payload") }
        }
        let suite = try #require(Int(world.suite.split(separator: "/")[1]))
        let common = #""device_id":"\#(id)","display_name":"robot""#
        let place = #""site_id":\#(world.site)"#
        #expect(
            data[0].contains(
                #"{\#(common),"last_seen_at":"\#(lastCall)","silent_after_hours":72,\#(place),"suite_id":\#(suite)}"#),
            "\(data[0])")
        #expect(
            data[1].contains(
                #"{\#(common),"last_seen_at":"\#(nextCall)","silent_since":"\#(lastCall)",\#(place),"suite_id":\#(suite)}"#
            ), "\(data[1])")
        #expect(
            try world.audit().filter { $0.hasPrefix("gateway Report") } == [
                "gateway ReportSilentDevice devices/\(id)  OK 1", "gateway ReportReturnedDevice devices/\(id)  OK 1",
            ])
        try await pass(hours: 73, in: world)
        try await look(in: world)
        #expect(try await events(in: world).count == 3)
    }

    @Test func gatewaysThatLookAtTheSameTimeReportOnce() async throws {
        let world = try await world()
        try await pass(hours: 73, in: world)
        func lookTwice() async throws {
            async let one: Void = look(in: world)
            async let other: Void = SilenceReports(
                database: world.database, outbox: world.outbox, clock: world.clock, defaultHours: 72
            ).run(world.clockGuard.permit())
            _ = try await (one, other)
        }
        try await lookTwice()
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
        try await hear(id, in: world)
        try await lookTwice()
        #expect(try await events(in: world).count == 2)
    }

    @Test func reportThatFailsIsMadeByTheNextLook() async throws {
        let world = try await world()
        try await pass(hours: 73, in: world)
        try await execute("ALTER TABLE events RENAME TO lost_events", in: world)
        await #expect(throws: (any Error).self) { try await look(in: world) }
        #expect(try await silentSince(in: world) == nil)
        try await execute("ALTER TABLE lost_events RENAME TO events", in: world)
        try await look(in: world)
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
    }

    enum Reason: CaseIterable { case disabled, unbound, retired, siteDisabled, neverCalled, withoutKey }

    @Test(arguments: Reason.allCases)
    func deviceThatCannotCallIsNotReported(_ reason: Reason) async throws {
        let world = try await world()
        try await apply(reason, in: world)
        try await pass(hours: 1000, in: world)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
    }

    @Test(arguments: Reason.allCases)
    func reportEndsWithoutAnEventForADeviceThatCannotCall(_ reason: Reason) async throws {
        let world = try await world()
        try await pass(hours: 73, in: world)
        try await look(in: world)
        #expect(try await silentSince(in: world) != nil)
        try await apply(reason, in: world)
        try await look(in: world)
        #expect(try await reported(in: world).isEmpty)
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
    }

    private func apply(_ reason: Reason, in world: World) async throws {
        let statement =
            switch reason {
            case .disabled: "UPDATE devices SET is_disabled = 1"
            case .unbound: "UPDATE devices SET suite_id = NULL"
            case .retired: "UPDATE devices SET retired_at = 1, suite_id = NULL"
            case .siteDisabled: "UPDATE sites SET status = 2"
            case .neverCalled: "UPDATE devices SET last_seen_at = NULL, silent_since = NULL"
            case .withoutKey: "UPDATE devices SET initialized_at = NULL"
            }
        try await execute(statement, in: world)
    }

    private func silentSince(in world: World) async throws -> Timestamp? {
        try await world.device(id, token: world.login()).silentSince
    }

    private func reported(in world: World) async throws -> [String] {
        try await world.devices.managementService.listDevices(
            ListDevicesRequest(reportedSilent: true), context: world.call(Methods.listDevices, token: world.login())
        ).devices.map(\.deviceID)
    }

    @Test func longerLimitEndsAReportWithoutAnEvent() async throws {
        let world = try await world()
        try await pass(hours: 73, in: world)
        try await look(in: world)
        try await execute("UPDATE devices SET silent_after_hours = 74", in: world)
        try await look(in: world)
        #expect(try await reported(in: world).isEmpty)
        try await pass(hours: 2, in: world)
        try await look(in: world)
        #expect(try await events(in: world).map { $0.split(separator: " ")[0] } == ["device.silent", "device.silent"])
    }

    @Test func listHasTheReportedDevices() async throws {
        let world = try await world()
        try await world.register("260427-000002")
        #expect(try await reported(in: world).isEmpty)
        try await pass(hours: 73, in: world)
        try await look(in: world)
        #expect(try await reported(in: world) == [id])
    }

    @Test func timeWithoutAGatewayIsNoSilence() async throws {
        let world = try await world()
        try await pass(hours: 71, in: world)
        try await look(in: world)
        // The gateway is stopped for four days.
        world.clock.advance(seconds: 96 * 3600)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
        world.clock.advance(seconds: 600)
        for _ in 0..<5 {
            try await look(in: world)
            #expect(try await events(in: world).isEmpty)
            world.clock.advance(seconds: 600)
        }
        world.clock.advance(seconds: 1)
        try await look(in: world)
        #expect(try await events(in: world) == ["device.silent devices/\(id)"])
    }

    @Test(arguments: [10 * 86_400, -10 * 86_400])
    func steppedClockReportsNothing(_ step: Int64) async throws {
        let world = try await world()
        try await pass(hours: 1, in: world)
        world.clock.step(seconds: step)
        #expect(world.clockGuard.permit() == nil)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
        // The machine's clock keeps its new time, which is confirmed after half a day.
        world.clock.advance(seconds: 12 * 3600 + 60)
        #expect(world.clockGuard.permit() != nil)
        try await look(in: world)
        try await pass(hours: 0, in: world)
        try await look(in: world)
        #expect(try await events(in: world).isEmpty)
    }

    @Test func deviceReturnsWhileTheClockIsNotTrusted() async throws {
        let world = try await world()
        try await pass(hours: 73, in: world)
        try await look(in: world)
        world.clock.step(seconds: 10 * 86_400)
        try await hear(id, in: world)
        try await world.devices.silence.run(nil)
        #expect(try await events(in: world).last == "device.returned devices/\(id)")
    }

    @Test func manyDevicesAreReportedInBatches() async throws {
        let world = try await world()
        let count = 1049
        try await execute(
            """
            INSERT INTO devices (id, organization_id, suite_id, display_name, description, tags, initialized_at,
                last_seen_at, created_at, updated_at)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            SELECT '260428-' || CAST(100000 + n AS TEXT), organization_id, suite_id, '', '', '{}', initialized_at,
                last_seen_at, created_at, updated_at
            FROM devices CROSS JOIN numbers WHERE devices.id = '260427-000001'
            """, in: world)
        try await pass(hours: 73, in: world)
        let (looks, reading) = AsyncStream<Void>.makeStream()
        let reports = SilenceReports(
            database: world.database, outbox: world.outbox, clock: WatchedClock(world.clock, looks: reading),
            defaultHours: 72)
        try await reports.run(world.clockGuard.permit())
        try await reports.run(world.clockGuard.permit())
        reading.finish()
        // Each transaction reads the clock once.
        #expect(await looks.reduce(0) { count, _ in count + 1 } == 11)
        let found = try await events(in: world)
        #expect(found.count == count + 1 && Set(found).count == count + 1)
    }

    @Test func gapBetweenLooksIsAPauseFromAQuarterHourOn() throws {
        let start = UnixTime(seconds: 1_000_000)
        let watch = SilenceWatch(at: start)
        #expect(watch.pause == .zero)
        for (seconds, pause): (Int64, Int64?) in [(60, nil), (299, nil), (300, 0), (899, 0), (900, 900), (-1, 0)] {
            let next = watch.looking(at: start.adding(seconds: seconds))
            #expect(next?.pause.wholeSeconds == pause, "\(seconds)")
            if pause == 0 { #expect(next?.resumedAt == start) }
        }
        let later = try #require(watch.looking(at: start.adding(seconds: 4000)))
        #expect(later.resumedAt == start.adding(seconds: 4000))
        #expect(later.looking(at: start.adding(seconds: 4600))?.pause == .seconds(4000))
    }
}
