import Accounts
import AppSupport
import Backup
import Capability
import Commands
import Configuration
import Foundation
import Observability
import Protobuf
import RPC
import TestSupport
import Testing

@testable import Serve

/// The services of a real gateway, each of which fails to start once.
@Suite(.serialized, .timeLimited) struct GatewayServicesTests {
    /// A service that does not start.
    private struct Failing: Service {
        let name: String

        func start(_ ended: @escaping @Sendable (any Error) -> Void) throws { throw TestFailure() }
        func stop() { Issue.record("\(name) was stopped, and had not started") }
    }

    /// A data directory, and addresses for the listeners.
    private final class Place: Sendable {
        let directory = NSTemporaryDirectory() + "data-gateway-\(UUID().uuidString)"
        let ports: [ListenerName: UInt16]

        init() throws {
            let listeners = ListenerName.allCases.filter { $0 != .apps || !Program.apps.isEmpty }
            ports = Dictionary(uniqueKeysWithValues: try listeners.map { ($0, try FreePort.any().port) })
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        func services() throws -> GatewayServices {
            let listen = ports.map { ($0.rawValue, "127.0.0.1:\($1)") }
            let configuration = try Configuration(
                ServeOptions(listen: Dictionary(uniqueKeysWithValues: listen)), apps: Program.apps,
                variables: Program.apps.reduce(into: ["DATA_GATEWAY_DATABASE__RESERVE_BYTES": "0"]) {
                    $0["DATA_GATEWAY_APPS__\($1.name.uppercased())__ENABLED"] = "true"
                })
            return GatewayServices(
                configuration, dataDirectory: directory, loops: 2, process: ProcessState(ProcessLog()),
                certificates: try GatewayCertificates(configuration))
        }

        /// Checks that no port is in use, and that the data directory is unlocked.
        ///
        /// - Parameter failed: the service that did not start.
        func expectNothingLeft(_ failed: String = "") {
            for (name, port) in ports { #expect(!FreePort.isTaken(port), "\(name) after \(failed)") }
            #expect(throws: Never.self, "\(failed)") { try DataDirectory.forServing(directory) }
        }
    }

    private static let names = leafNames(of: (try? Place().services().all) ?? [])

    private static func leafNames(of services: [any Service]) -> [String] {
        services.flatMap { service in
            (service as? ServiceGroup).map { leafNames(of: $0.services) } ?? [service.name]
        }
    }

    /// Returns the same list, with a failing service in place of the named one.
    private static func failing(_ name: String, in services: [any Service]) -> [any Service] {
        services.map { service in
            if let group = service as? ServiceGroup {
                return ServiceGroup(group.name, failing(name, in: group.services), stopOrder: .together)
            }
            return service.name == name ? Failing(name: name) : service
        }
    }

    @Test func theListOfServices() {
        let apps = Program.apps.isEmpty ? [] : ["apps listener"]
        #expect(
            Self.names == [
                "data directory", "event loops", "modules", "call servers", "ops listener", "auth listener",
                "gateway listener", "admin listener", "internal listener", "device-init listener", "web listener",
            ] + apps + [
                "object-store listener", "waiting reads", "background work", "readiness",
            ])
    }

    @Test func everyListenerAcceptsFromTheStartToTheStop() async throws {
        let place = try Place()
        let group = ServiceGroup("gateway", try place.services().all)
        try await group.start()
        for (name, port) in place.ports { #expect(FreePort.isTaken(port), "\(name)") }
        #expect(throws: DataDirectory.Problem.self) { try DataDirectory.forServing(place.directory) }
        await group.stop()
        place.expectNothingLeft()
    }

    @Test func everyCapabilityNamesTheCallersOfItsMethods() async throws {
        let services = try Place().services()
        let group = ServiceGroup("gateway", services.all)
        try await group.start()
        let modules = services.modules.value
        let registered = Set(ListenerName.allCases.flatMap { modules.router($0).methods.map(\.descriptor.path) })
        let access = modules.core.accounts.access.paths
        await group.stop()
        #expect(registered.subtracting(access).isEmpty)
        // The health service and reflection are no capability's.
        #expect(access.subtracting(registered).allSatisfy { $0.hasPrefix("/grpc.") })
    }

    /// The methods that write no audit line of their own, though they are not declared free of effects.
    private static let unaudited: Set<String> = [
        "BeginSignIn", "ExchangeCredential", "GetUploadRecovery", "CreateNonce",
    ]

    /// The methods of apps that write no audit line of their own: what members do with their own data, and the ends of their sessions
    /// and accounts, which are lines of the accounts.
    private static let unauditedOfApps: Set<String> = [
        // Share codes have no accounts.
        "AnswerStatusRequest", "CheckShareCode", "ClaimUmid", "DeleteUmid", "ListStatusRequests", "RecordCollision",
        "RegisterShareCode", "SendStatusRequest",
        "CreateKnowledgeBase", "DeleteKnowledgeBase", "DeleteMe", "EndSession", "NotifyByApple", "RefreshSession",
        "UpdateKnowledgeBase", "UpdateMe",
        "BlockCompanion", "CancelMatch", "ChangeCompanion", "DeleteCompanion", "GetFriend", "GetMatch", "LeaveMatch",
        "ListMessages", "RegisterCompanion", "RequestMatch", "SetWilling", "UnblockCompanion", "UploadPicture",
        "WatchMessages",
        "DeleteArchiveAccount", "EndArchiveSession", "ImportArchive",
    ]

    /// The actions of the gateway that no method requests.
    private static let ownActions: Set<String> = [
        "ApplyDeleteObjects", "ApplyPurgeObjects", "ApplyRestoreObjects", "ApplyRetention", "ApplyUndoObjectOperation",
        "DeleteExpiredObjects", "MarkBad", "MarkVerified", "PurgeAuditLog", "ReportNearlyFullStorage",
        "ReportReturnedDevice", "ReportSilentDevice", "Restore", "RotateSigningKey", "ScheduledBackup", "SweepTrash",
        "SweepUpload",
    ]

    @Test func everyCapabilityDescribesItsActionsInTheAuditLog() async throws {
        let services = try Place().services()
        let group = ServiceGroup("gateway", services.all)
        try await group.start()
        let modules = services.modules.value
        let methods = ListenerName.allCases.flatMap { modules.router($0).methods.map(\.descriptor) }
        let vocabulary = modules.vocabulary
        await group.stop()
        let names = Set(methods.filter { !$0.isSideEffectFree }.map(\.name))
        #expect(Self.unauditedOfApps.subtracting(names).sorted() == [])
        let changing = names.subtracting(Self.unaudited).subtracting(Self.unauditedOfApps)
        #expect(changing.count > 80)
        let described = changing.union(Self.ownActions)
        #expect(described.filter { vocabulary.sentence(for: $0) == nil }.sorted() == [])
    }

    /// Uses one data directory, so that remains of a start would obstruct the next.
    @Test func failingStartLeavesNothingBehind() async throws {
        let place = try Place()
        for name in Self.names {
            let group = ServiceGroup("gateway", Self.failing(name, in: try place.services().all))
            await #expect(throws: TestFailure.self, "\(name)") { try await group.start() }
            place.expectNothingLeft(name)
        }
    }

    @Test func takenAddressLeavesNothingBehind() async throws {
        let place = try Place()
        for (name, port) in place.ports {
            let services = try place.services()
            do {
                let taken = try FreePort(port)
                await #expect(throws: (any Error).self, "\(name)") {
                    try await ServiceGroup("gateway", services.all).start()
                }
                withExtendedLifetime(taken) {}
            }
            place.expectNothingLeft(name.rawValue)
        }
    }

    /// The modules listen for the store's clients before writing the first administrator's password fails.
    @Test func modulesThatFailLateLeaveNothingBehind() async throws {
        let place = try Place()
        try FileManager.default.createDirectory(
            atPath: place.directory + "/initial-admin-password", withIntermediateDirectories: true)
        try "1\n".write(toFile: place.directory + "/format", atomically: false, encoding: .utf8)
        let services = try place.services()
        await #expect(throws: (any Error).self) { try await ServiceGroup("gateway", services.all).start() }
        #expect(services.directory.current == nil)
        place.expectNothingLeft()
    }
}
