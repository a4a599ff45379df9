import AppProto
import Basics
import Capability
import Crypto
import Database
import GatewayAPI
import GatewayTesting
import HTTPTypes
import RPC
import Wire

@testable import ShareCodes

/// The app on a database of its own, with a clock that stands still. Its waits end only by what they wait for.
final class TestShareCodes: Sendable {
    static let address = "192.0.2.7"

    let clock = ManualClock()
    let app: ShareCodes
    let keyring = Keyring(root: Secret([UInt8](repeating: 7, count: 32)))
    private let base: TestDatabase
    private let clockGuard: ClockGuard
    let state = ServingState()

    convenience init(
        isShared: Bool = false, _ configure: (inout ShareCodesConfiguration) -> Void = { _ in }
    ) throws {
        try self.init(try TestDatabase(ShareCodesApp.migrations, isShared: isShared), configure)
    }

    /// Opens the app at another gateway with the same database.
    convenience init(replicaOf first: TestShareCodes) throws {
        try self.init(first.base) { _ in }
    }

    private init(_ base: TestDatabase, _ configure: (inout ShareCodesConfiguration) -> Void) throws {
        self.base = base
        clockGuard = ClockGuard(clock: clock)
        var configuration = ShareCodesConfiguration()
        configure(&configuration)
        let environment = ModuleEnvironment(
            database: base.database, keyring: keyring, clock: clock, clockGuard: clockGuard,
            identifiers: Identifiers(clock: clock))
        let time = ContinuousClock.now
        app = ShareCodes(environment, state: state, configuration: configuration, monotonicTime: { time })
    }

    var service: ShareCodeService { app.service }

    var database: Database { base.database }
    var calls: CallCounter { base.calls }

    func advance(_ time: Duration) { clock.advance(seconds: time.wholeSeconds) }

    /// Returns a call in the form that handlers receive.
    func call(token: String? = nil, host: String = address) -> CallContext {
        var metadata = Metadata()
        if let token { metadata.append(name: "authorization", value: "Bearer \(token)") }
        return CallContext(
            method: ShareCodeServiceMethods.checkShareCode, metadata: metadata,
            peer: PeerAddress(host: host, port: 40_000))
    }

    @discardableResult
    func register(
        _ code: String, umid: String = "ada", data: String = "sealed by the app", minutes: Int32? = 5,
        expiresAt: String = "", host: String = address
    ) async throws -> RegisterShareCodeResponse {
        try await service.registerShareCode(
            RegisterShareCodeRequest(
                umid: umid, shareCode: code, encryptedData: data, validityMinutes: minutes, expiresAt: expiresAt),
            context: call(host: host))
    }

    /// Registers ada's code once more.
    @discardableResult
    func replace(
        _ code: String, data: String = "sealed by the app", minutes: Int32 = 5, token: String?
    ) async throws -> RegisterShareCodeResponse {
        try await service.registerShareCode(
            RegisterShareCodeRequest(umid: "ada", shareCode: code, encryptedData: data, validityMinutes: minutes),
            context: call(token: token))
    }

    func isUnique(_ code: String, host: String = address) async throws -> Bool {
        try await service.checkShareCode(CheckShareCodeRequest(shareCode: code), context: call(host: host)).isUnique
    }

    func lookUp(_ code: String, host: String = address) async throws -> SharedData {
        try await service.lookUpShareCode(LookUpShareCodeRequest(shareCode: code), context: call(host: host))
    }

    /// Claims a umid and returns its token.
    func claim(_ umid: String, host: String = address) async throws -> String {
        try await service.claimUmid(ClaimUmidRequest(umid: umid), context: call(host: host)).token
    }

    @discardableResult
    func ask(
        _ id: String, from sender: String = "bob", to addressee: String = "ada", message: String = "how are you?",
        host: String = address
    ) async throws -> String {
        try await service.sendStatusRequest(
            SendStatusRequestRequest(
                requestID: id, fromUserID: sender, toUserID: addressee, message: message), context: call(host: host)
        ).status
    }

    func inbox(
        _ token: String, status: String = "", after: String = "", wait: Int32 = 0
    ) async throws -> ListStatusRequestsResponse {
        try await service.listStatusRequests(
            ListStatusRequestsRequest(status: status, after: after, wait: wait), context: call(token: token))
    }

    @discardableResult
    func answer(_ id: String, _ status: String, data: String = "", token: String) async throws -> String {
        try await service.answerStatusRequest(
            AnswerStatusRequestRequest(requestID: id, status: status, encryptedData: data), context: call(token: token)
        ).status
    }

    func sent(_ id: String, token: String) async throws -> SentStatusRequest {
        try await service.getStatusRequest(GetStatusRequestRequest(requestID: id), context: call(token: token))
    }

    /// Runs all removals once, and returns the numbers of removed things by kind.
    func sweep() async throws -> [String: Int] {
        guard let permit = clockGuard.permit() else { return [:] }
        var removed: [String: Int] = [:]
        for sweep in app.sweeps { removed[sweep.kind] = try await sweep.run(permit) }
        return removed.filter { $0.value > 0 }
    }

    func count(_ table: String) throws -> Int {
        try database.readBlocking { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0 }
    }
}

extension RPCError {
    /// The status and the field, or the status and its own code.
    var summary: String {
        [status.name, field ?? detail?.rawValue].compactMap { $0 }.joined(separator: " ")
    }
}
