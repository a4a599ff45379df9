import CommandLineInterface
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Commands

@Suite(.timeLimited) struct ClientFailureTests {
    private let server = PeerAddress(host: "gateway.example", port: 50054)

    private func failure(
        _ code: StatusCode, _ message: String = "", detail: String = "",
        of method: MethodDescriptor = DeviceManagementServiceMethods.getDevice
    ) -> ClientFailure {
        let details = detail.isEmpty ? nil : ErrorDetail(code: detail, message: message).encoded()
        return ClientFailure(GRPCStatus(code, message, details: details), of: method, at: server)
    }

    @Test func messageAndDetailCodeAreShown() {
        let refused = failure(.notFound, "device 1 does not exist", detail: "DATA_GATEWAY_DEVICE_NOT_FOUND")
        #expect(refused.message == "device 1 does not exist (DATA_GATEWAY_DEVICE_NOT_FOUND)")
        #expect(refused.exitCode == .refused)
        #expect(failure(.permissionDenied, "needs admin").message == "needs admin (PERMISSION_DENIED)")
        #expect(failure(.internalError).message == "GetDevice failed (INTERNAL)")
    }

    @Test func failureOfAnExpiredTokenSaysHowToSignIn() {
        let ended = failure(.unauthenticated, "the token has expired", detail: "DATA_GATEWAY_UNAUTHENTICATED")
        #expect(ended.message.contains("run data-gateway login"))
        #expect(ended.message.contains("the token has expired, DATA_GATEWAY_UNAUTHENTICATED"))
        #expect(ended.exitCode == .refused)
        let login = failure(
            .unauthenticated, "wrong", detail: "AUTH_INVALID_CREDENTIAL", of: AuthServiceMethods.login)
        #expect(login.message == "wrong (AUTH_INVALID_CREDENTIAL)")
    }

    @Test(arguments: [StatusCode.unavailable, .deadlineExceeded])
    func transientFailureHasItsOwnExitCode(code: StatusCode) {
        let passing = failure(code, "too busy")
        #expect(passing.exitCode == .unreachable)
        #expect(passing.message == "gateway.example:50054 is not available: too busy (\(code.name))")
    }

    @Test func wrongListenerIsNamedInTheFailure() {
        let message = failure(.unimplemented, "no such method").message
        #expect(message.hasPrefix("gateway.example:50054 does not have GetDevice"))
    }

    @Test func malformedDetailsAreIgnored() {
        let status = GRPCStatus(.aborted, "no", details: [0xFF])
        let message = ClientFailure(status, of: AuthServiceMethods.login, at: server).message
        #expect(message == "no (ABORTED)")
    }

    @Test func repeatedTagIsRefused() throws {
        let tags = try ["a=1", "a=2"].map { try TagArgument(argument: $0) }
        #expect(throws: ClientFailure("the tag a is given twice", exitCode: .usage)) { try tags.dictionary() }
        #expect(try tags.dropLast().map(\.self).dictionary() == ["a": "1"])
    }

    @Test func shortNamesBecomeResourceNames() {
        #expect(DeviceNames.device("260427-000001") == "devices/260427-000001")
        #expect(DeviceNames.device("devices/260427-000001") == "devices/260427-000001")
        #expect(DeviceNames.suite("7") == "deviceSuites/7")
        #expect(DeviceNames.suite("") == "")
    }

    @Test func pagesAreReadToTheLastAndALoopIsRefused() async throws {
        let pages: [String: (entries: [Int], next: String)] = ["": ([1], "a"), "a": ([], "b"), "b": ([2, 3], "")]
        #expect(try await Pages.all { pages[$0] ?? ([], "") } == [1, 2, 3])
        await #expect(throws: ClientFailure.self) { try await Pages.all { _ in (entries: [1], next: "again") } }
    }
}
