import Basics
import GatewayFormats
import HTTPClient
import HTTPTypes
import Proto
import RPC
import StoreClient
import Synchronization
import TestSupport
import Testing
import Wire

@testable import DeviceClient

@Suite(.timeLimited) struct RetryTests {
    @Test func waitsDoubleAndAreBounded() {
        let policy = RetryPolicy(retryDuration: .seconds(1000))
        func delay(_ failures: Int, random: Double = 1, least: Duration? = nil) -> Duration? {
            policy.delay(failures: failures, elapsed: .zero, least: least, random: random)
        }
        #expect(
            (1...8).map { delay($0) } == [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000].map { .milliseconds($0) })
        #expect(delay(1000) == .seconds(30))
        #expect(delay(3, random: 0) == .seconds(1))
        #expect(delay(1, least: .seconds(7)) == .seconds(7))
        #expect(delay(1, least: .seconds(100_000)) == .seconds(1000))
    }

    @Test func retryDurationEndsAfterAFewAttemptsAtLeast() {
        let policy = RetryPolicy(retryDuration: .seconds(60))
        #expect(policy.delay(failures: 5, elapsed: .seconds(7200), least: nil, random: 0) != nil)
        #expect(policy.delay(failures: 6, elapsed: .seconds(7200), least: nil, random: 0) == nil)
        #expect(policy.delay(failures: 6, elapsed: .seconds(10), least: nil, random: 0) != nil)
    }

    private static func failed(
        _ code: StatusCode, _ detail: DetailCode? = nil, after: Int? = nil,
        _ method: MethodDescriptor = DataGatewayServiceMethods.completeUpload
    ) -> CallFailure {
        let details = detail.map { ErrorDetail(code: $0.rawValue, message: "").encoded() }
        return CallFailure(
            status: GRPCStatus(code, "", details: details, retryAfterMilliseconds: after), method: method,
            server: PeerAddress(host: "h", port: 1))
    }

    @Test func transientFailureIsRetried() {
        let passing: [any Error] = [
            Self.failed(.unavailable), Self.failed(.unavailable, .overloaded), Self.failed(.deadlineExceeded),
            Self.failed(.internalError), TransferFailure.connection("cut"),
            StoreRefusal(status: 503, code: "SlowDown", message: ""), StoreRefusal(status: 500, code: "", message: ""),
            StoreRefusal(status: 429, code: "", message: ""), StoreRefusal(status: 408, code: "", message: ""),
            StoreRefusal(status: 400, code: "BadDigest", message: ""),
        ]
        for error in passing { #expect(FailureResponse(error) == .retry(after: nil), "\(error)") }
        #expect(
            FailureResponse(Self.failed(.unavailable, .rateLimited, after: 1500)) == .retry(after: .milliseconds(1500)))
    }

    /// The agent does not try such a file again.
    @Test func refusalOfTheFileItselfIsRecognized() {
        let refused: [any Error] = [
            Self.failed(.invalidArgument, .invalidArgument), Self.failed(.invalidArgument),
            StoreRefusal(status: 400, code: "EntityTooLarge", message: ""),
            StoreRefusal(status: 400, code: "InvalidArgument", message: ""),
        ]
        for error in refused { #expect(FileRefusal(error, of: "/x") != nil, "\(error)") }
        let others: [any Error] = [
            Self.failed(.unavailable), Self.failed(.resourceExhausted), Self.failed(.failedPrecondition),
            Self.failed(.permissionDenied), Self.failed(.unauthenticated), TransferFailure.connection("cut"),
            StoreRefusal(status: 403, code: "AccessDenied", message: ""),
            StoreRefusal(status: 507, code: "", message: ""), StoreRefusal(status: 400, code: "", message: ""),
            StoreRefusal(status: 400, code: "RequestTimeout", message: ""),
        ]
        for error in others { #expect(FileRefusal(error, of: "/x") == nil, "\(error)") }
    }

    @Test(arguments: [
        ("a\nb", "a%0Ab"), ("a\u{1B}[31m", "a%1B[31m"), ("\u{85}", "%C2%85"), ("a\tb/c", "a%09b/c"), ("ü%", "ü%"),
    ])
    func controlCharactersOfNamesAreEscaped(name: String, sent: String) {
        #expect(FileLabels.escaped(name) == sent)
    }

    @Test(
        arguments: [
            ("/d/a.txt", "r/a.txt", nil),
            ("/d/a.txt", "b\td/a.txt", #"/d/a.txt is stored under the path "b%09d/a.txt""#),
            ("/d/.a", "r/.a", #"/d/.a is stored as "_a"; its path stays "r/.a""#),
            ("/d/a\n", "r/a\n", "/d/a\n is stored as \"a%0A\" and under the path \"r/a%0A\""),
        ] as [(String, String, String?)])
    func changedNamesAndPathsAreSaid(file: String, path: String, change: String?) {
        #expect(FileLabels.change(of: file, relativePath: path) == change)
    }

    @Test(arguments: ["/a", "a/../b", "a//b", "a/", "./a", "a\u{7F}/b", String(repeating: "a/", count: 32) + "a"])
    func pathsThatTheGatewayRefusesAreInvalid(path: String) {
        #expect(RelativePath(path) == nil)
        #expect(RelativePath("run 1/ü/.hidden")?.names == ["run 1", "ü", ".hidden"])
    }

    @Test func tagsThatTheGatewayRefusesAreRefusedBeforeAnythingIsSent() throws {
        try FileRefusal.check("/data\n/a", ["run": "7"])
        let refusal = #expect(throws: FileRefusal.self) { try FileRefusal.check("/data/a", ["run": "7\n"]) }
        #expect(refusal?.message == "/data/a cannot be uploaded: tags[run] must not contain control characters")
        let many = Dictionary(uniqueKeysWithValues: (0..<257).map { ("t\($0)", "") })
        #expect(throws: FileRefusal.self) { try FileRefusal.check("/data/a", many) }
    }

    @Test func permanentFailureIsNotRetried() {
        let lasting: [any Error] = [
            Self.failed(.invalidArgument, .invalidArgument), Self.failed(.permissionDenied, .uploadNotOwned),
            Self.failed(.unauthenticated, .authKeyDisabled), Self.failed(.resourceExhausted),
            Self.failed(.unimplemented), Self.failed(.notFound), CancellationError(),
            TransferFailure.unusable("certificate"),
            StoreRefusal(status: 403, code: "InvalidSecurityToken", message: ""),
            StoreRefusal(status: 501, code: "NotImplemented", message: ""),
            Self.failed(.failedPrecondition, nil, AuthServiceMethods.exchangeCredential),
        ]
        for error in lasting { #expect(FailureResponse(error) == .none, "\(error)") }
    }

    @Test func outdatedUploadIsRecovered() {
        let outdated: [any Error] = [
            Self.failed(.notFound, .uploadNotFound), Self.failed(.failedPrecondition, .uploadNotRefreshable),
            Self.failed(.failedPrecondition, .failedPrecondition),
            StoreRefusal(status: 404, code: "NoSuchUpload", message: ""),
            StoreRefusal(status: 404, code: "", message: ""),
        ]
        for error in outdated { #expect(FailureResponse(error) == .askForRecovery, "\(error)") }
    }

    @Test(arguments: ["SecurityTokenExpired", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied"])
    func credentialsThatAreRefusedAreReplaced(code: String) {
        #expect(StoreRefusal(status: 403, code: code, message: "").retryability == .refreshCredentials)
        #expect(StoreRefusal(status: 401, code: "", message: "").retryability == .refreshCredentials)
    }

    @Test func retriesEndWithTheLastFailure() async {
        var policy = RetryPolicy(retryDuration: .zero)
        policy.base = .milliseconds(1)
        let waits = Lock(0)
        let retrying = Retrying(policy: policy, failureKind: { FailureResponse($0).failureKind }) { _, _, _ in
            waits.withLock { $0 += 1 }
        }
        await #expect(throws: TransferFailure.connection("7")) {
            var count = 0
            try await retrying.run("x") {
                count += 1
                throw TransferFailure.connection(count == policy.attempts ? "7" : "\(count)")
            }
        }
        #expect(waits.withLock { $0 } == policy.attempts - 1)
    }
}

@Suite(.timeLimited) struct RenewableTests {
    private let clock = ManualClock(UnixTime(seconds: 1000))

    /// Values 1, 2, … with a lifetime of that many seconds.
    private func renewable(_ lifetime: Int64, lead: Duration = .seconds(60)) -> Renewable<Int> {
        let fetched = Counter()
        return Renewable(lead: lead, clock: clock) { [clock] in
            Renewable.Issue(value: fetched.next(), expiresAt: clock.now().adding(seconds: lifetime))
        }
    }

    private final class Counter: Sendable {
        private let value = Lock(0)

        func next() -> Int {
            value.withLock {
                $0 += 1
                return $0
            }
        }
    }

    @Test func aValueIsFetchedAnewWellBeforeItsEnd() async throws {
        let token = renewable(900)
        #expect(try await token.current().value == 1)
        clock.advance(seconds: 839)
        #expect(try await token.current().value == 1)
        clock.advance(seconds: 1)
        #expect(try await token.current().value == 2)
    }

    @Test func aShortLifeIsUsedForThreeQuarters() async throws {
        let token = renewable(8)
        #expect(try await token.current().value == 1)
        clock.advance(seconds: 5)
        #expect(try await token.current().value == 1)
        clock.advance(seconds: 1)
        #expect(try await token.current().value == 2)
    }

    @Test func expiredTokenIsUsedUntilItIsRefused() async throws {
        let token = renewable(-5)
        let first = try await token.current()
        clock.advance(seconds: 100_000)
        #expect(try await token.current().value == 1)
        #expect(try await token.replacing(first).value == 2)
    }

    @Test func secondRefusedCallerTakesTheRenewedToken() async throws {
        let token = renewable(900)
        let first = try await token.current()
        #expect(try await token.replacing(first).value == 2)
        #expect(try await token.replacing(first).value == 2)
    }
}
