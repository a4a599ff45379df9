import Basics
import Capability
import Proto
import RPC
import TestSupport
import Wire

/// Fills a gateway by the calls that operators, devices and users make.
final class Filling: Sendable {
    /// The result, which the program prints as JSON.
    struct Report: Encodable {
        var organizations: [String] = []
        var devices = 0
        var objects = 0
        /// The administrator, the operator and the viewer of each organization.
        let users = ["ada", "oscar", "vera"]
        /// The password of all users.
        let password = ShowcaseGateway.adminPassword
    }

    /// The number of callers at the same time.
    private static let threads = 24

    private let gateway: ShowcaseGateway
    private let plan: Plan
    private let video: [UInt8]
    private let credentials = Lock<[Int: String]>([:])
    private let tokens = Lock<[Int: (token: String, issuedAt: UnixTime)]>([:])
    private let failure = Lock<(any Error)?>(nil)

    /// - Parameter video: the content of all MP4 files.
    init(_ gateway: ShowcaseGateway, _ plan: Plan, video: [UInt8]) {
        self.gateway = gateway
        self.plan = plan
        self.video = video
    }

    func run() throws -> Report {
        var report = Report()
        report.organizations = Plan.organizations.map(\.name)
        for (number, organization) in Plan.organizations.enumerated() { try create(organization, number) }
        report.devices = plan.machines.count
        for batch in plan.batches {
            let wait = batch.time.seconds - gateway.clock.now().seconds
            if wait > 0 { gateway.clock.advance(seconds: wait) }
            try inParallel(batch.files) { try self.upload($0) }
            report.objects += batch.files.count
        }
        return report
    }

    /// Creates an organization with its users, sites, suites and machines.
    private func create(_ organization: PlannedOrganization, _ number: Int) throws {
        let password = ShowcaseGateway.adminPassword
        let system = try login("admin", of: "system")
        let _: CreateOrganizationResponse = try gateway.call(
            AdminAuthServiceMethods.createOrganization,
            CreateOrganizationRequest(
                organization: organization.name, displayName: organization.displayName,
                bootstrapAdminUserName: "ada", bootstrapAdminPassword: password), on: .admin, token: system)
        let token = try login("ada", of: organization.name)
        for (name, role) in [("oscar", "operator"), ("vera", "viewer")] {
            let _: CreateUserResponse = try gateway.call(
                UserAuthServiceMethods.createUser, CreateUserRequest(userName: name, password: password, role: role),
                on: .admin, token: token)
        }
        let suites = try organization.sites.map { site in
            let created: CreateSiteResponse = try gateway.call(
                AdminAuthServiceMethods.createSite, CreateSiteRequest(name: site.name, timeZone: site.timeZone),
                on: .admin, token: token)
            let suite: DeviceSuite = try gateway.call(
                DeviceManagementServiceMethods.createDeviceSuite,
                CreateDeviceSuiteRequest(
                    siteID: created.site?.siteID ?? 0, displayName: "\(organization.machine)s, \(site.name)"),
                on: .admin, token: token)
            return suite.name
        }
        let own = plan.machines.indices.filter { plan.machines[$0].organization == number }
        try inParallel(own) { [self] index in
            let machine = plan.machines[index]
            let _: Device = try gateway.call(
                DeviceManagementServiceMethods.registerDevice,
                RegisterDeviceRequest(
                    deviceID: machine.deviceID, displayName: machine.displayName, suite: suites[machine.site],
                    tags: ["model": machine.deviceID.hasSuffix("1") ? "mk1" : "mk2"]), on: .admin, token: token)
            let initialized: InitDeviceResponse = try gateway.call(
                DeviceInitServiceMethods.initDevice,
                InitDeviceRequest(deviceID: machine.deviceID, sdkVersion: "1.4.2", platform: "linux"), on: .deviceInit)
            credentials.withLock { $0[index] = initialized.apiKey }
        }
    }

    private func login(_ name: String, of organization: String) throws -> String {
        let response: LoginResponse = try gateway.call(
            AuthServiceMethods.login,
            LoginRequest(organization: organization, userName: name, password: ShowcaseGateway.adminPassword),
            on: .auth)
        return response.accessToken
    }

    /// Returns the access token of a machine, which exchanges its credential for a new one every ten minutes.
    private func token(of machine: Int) throws -> String {
        let now = gateway.clock.now()
        if let known = tokens.withLock({ $0[machine] }), now < known.issuedAt.adding(seconds: 600) {
            return known.token
        }
        let response: ExchangeCredentialResponse = try gateway.call(
            AuthServiceMethods.exchangeCredential,
            ExchangeCredentialRequest(credential: credentials.withLock { $0[machine] } ?? ""), on: .auth)
        tokens.withLock { $0[machine] = (response.accessToken, now) }
        return response.accessToken
    }

    /// Uploads a file as a device does: session, one request to the store, completion.
    private func upload(_ file: Plan.File) throws {
        let bytes = content(of: file)
        let token = try token(of: file.machine)
        var hints = [
            "file_name": file.name, "file_size": "\(bytes.count)",
            "recorded_from": RFC3339.text(file.recordedFrom),
            "recorded_to": RFC3339.text(file.recordedFrom.adding(seconds: Int64(file.seconds))),
        ]
        if !file.path.isEmpty { hints["relative_path"] = file.path }
        let created: CreateLogicalUploadResponse = try gateway.call(
            DataGatewayServiceMethods.createLogicalUpload, CreateLogicalUploadRequest(clientHints: hints), on: .gateway,
            token: token)
        let etag = try gateway.put(bytes, with: created.credentials ?? UploadCredentials())
        var request = CompleteUploadRequest()
        request.uploadID = created.uploadID
        request.fileSize = Int64(bytes.count)
        request.rawTags = file.tags
        request.ossObjectEtag = etag
        let _: CompleteUploadResponse = try gateway.call(
            DataGatewayServiceMethods.completeUpload, request, on: .gateway, token: token)
    }

    private func content(of file: Plan.File) -> [UInt8] {
        let machine = plan.machines[file.machine]
        let site = Plan.organizations[machine.organization].sites[machine.site]
        let offset = Double(file.machine) * 1e-3
        let (latitude, longitude) = (site.latitude + offset, site.longitude + offset)
        switch file.kind {
        case .mcap:
            let hasCamera = file.seconds % 97 == 0
            return Recordings.mcap(
                start: UInt64(file.recordedFrom.seconds) * 1_000_000_000, seconds: min(file.seconds, 10),
                latitude: latitude, longitude: longitude,
                picture: hasCamera ? Recordings.png(width: 64, height: 36, hue: UInt8(file.machine)) : [])
        case .png: return Recordings.png(width: 48, height: 27, hue: UInt8(truncatingIfNeeded: file.seconds))
        case .mp4: return video
        case .csv: return Recordings.csv(rows: 20, latitude: latitude, longitude: longitude)
        case .yaml:
            return Array(
                """
                rosbag2_bagfile_information:
                  version: 9
                  storage_identifier: mcap
                  duration: {nanoseconds: \(file.seconds)000000000}
                  message_count: \(file.seconds * 2)

                """.utf8)
        case .log:
            return Array((0..<12).map { "\(RFC3339.text(file.recordedFrom)) step \($0): ok\n" }.joined().utf8)
        }
    }

    /// Runs `body` for each element on threads of their own, and throws the first error.
    private func inParallel<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) throws -> Void
    ) throws {
        let queue = Queue(elements)
        let threads = (0..<min(Self.threads, elements.count)).map { _ in
            TestThread { [self] in
                while let element = queue.next() {
                    do { try body(element) } catch { failure.withLock { $0 = error } }
                }
            }
        }
        for thread in threads { try thread.join() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// The elements that wait for a thread.
private final class Queue<Element: Sendable>: Sendable {
    private let elements: Lock<ArraySlice<Element>>

    init(_ elements: [Element]) {
        self.elements = Lock(elements[...])
    }

    func next() -> Element? { elements.withLock { $0.popFirst() } }
}
