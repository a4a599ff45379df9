import Basics
import CommandLineInterface
import EventLoops
import Foundation
import HTTPTypes
import Proto
import RPC
import Synchronization
import Wire

@testable import Commands

/// A gateway whose methods are defined by the test, with a signed-in user.
final class TestGateway: Sendable {
    let file: SessionFile
    private let folder = NSTemporaryDirectory() + "data-gateway-\(UUID().uuidString)"
    private let listener: RPCListener
    private let loop = EventLoop(name: "gateway")

    /// - Parameter methods: registers the methods that the test calls.
    private init(_ methods: (inout Router) -> Void) throws {
        var router = Router()
        methods(&router)
        listener = try RPCListener(
            PeerAddress(host: "127.0.0.1", port: 0), server: RPCServer(router: router), loops: [loop])
        file = SessionFile(path: folder + "/session.json")
    }

    static func serving(
        _ methods: (inout Router) -> Void, _ test: (TestGateway) async throws -> Void
    ) async throws {
        let gateway = try TestGateway(methods)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(gateway))
        } catch {
            outcome = .failure(error)
        }
        await gateway.listener.stop(limit: .zero)
        gateway.loop.stop()
        try? FileManager.default.removeItem(atPath: gateway.folder)
        try outcome.get()
    }

    /// Signs ada in with the tokens `access-1` and `refresh-1`.
    ///
    /// - Parameter expiry: the expiry of the access token; the recorder's clock shows 1,767,225,600.
    func signIn(expiry: Int64 = 1_900_000_000, refreshToken: String = "refresh-1") throws {
        try file.write(
            SignedInSession(
                authServer: ListenerEndpoint(listener.address, isSecure: false),
                adminServer: ListenerEndpoint(listener.address, isSecure: false),
                organization: "system", userName: "ada", role: "admin", accessToken: "access-1",
                accessTokenExpiresAtUnix: expiry, refreshToken: refreshToken, refreshTokenExpiresAtUnix: 2_000_000_000))
    }

    func run(_ line: String, _ recorder: Recorder) async -> ExitCode {
        await recorder.run(line, [SessionFile.variable: file.path])
    }
}

/// The recorded calls, in order.
final class Calls: Sendable {
    private let seen = Lock<[String]>([])

    var all: [String] { seen.withLock { $0 } }

    func add(_ call: String) { seen.withLock { $0.append(call) } }
}
