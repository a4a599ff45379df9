import Basics
import Crypto
import Foundation
import HTTPClient
import HTTPTestClient
import StoreProtocol
import TestSupport
import Testing

@testable import StoreClient

/// A service that issues credentials, and answers as the test says.
private final class ScriptedService: Sendable {
    struct Request: Sendable {
        let head: String
        let body: String

        var line: String { String(head.prefix { $0 != "\r\n" }) }

        func field(_ name: String) -> String? {
            head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private final class Log: Sendable {
        let requests = Lock<[Request]>([])
    }

    private let log: Log
    private let folder: TestFolder
    let server: RawServer

    /// - Parameter respond: returns the status, further fields and the body; `nil` = no response at all.
    init(_ respond: @escaping @Sendable (Request) -> (status: Int, fields: String, body: String)?) throws {
        let log = Log()
        self.log = log
        folder = try TestFolder(inMemory: true)
        server = try RawServer { peer in
            while let head = try? peer.head() {
                let length = Request(head: head, body: "").field("content-length").flatMap { Int($0) } ?? 0
                let request = Request(head: head, body: String(decoding: peer.body(length), as: UTF8.self))
                log.requests.withLock { $0.append(request) }
                guard let (status, fields, body) = respond(request) else {
                    // Until the client closes the connection.
                    _ = try? peer.head()
                    return
                }
                try peer.send("HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
    }

    /// A service with one response for every request.
    convenience init(status: Int = 200, fields: String = "", _ body: String) throws {
        try self.init { _ in (status, fields, body) }
    }

    deinit {
        server.stop()
    }

    var url: String { server.url }

    /// Writes a file with a token, which exists as long as the service.
    func tokenFile(_ text: String) throws -> String {
        let path = folder.path + "/token"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
    var requests: [Request] { log.requests.withLock { $0 } }
}

/// The credentials of services: web identities, containers, instances.
@Suite(.timeLimited) struct CredentialServiceTests {
    private static let values = """
        "AccessKeyId": "id", "SecretAccessKey": "hidden", "Token": "token", "Expiration": "2026-01-01T01:00:00Z"
        """
    private static let document =
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
        + "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>id</AccessKeyId>"
        + "<SecretAccessKey>hidden</SecretAccessKey><SessionToken>token</SessionToken>"
        + "<Expiration>2026-01-01T01:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
        + "</AssumeRoleWithWebIdentityResponse>"
    private static let expiry = UnixTime(seconds: 1_767_229_200)

    private static func webIdentity(
        _ service: ScriptedService, _ path: String, _ options: HTTPConnection.Options? = nil
    ) throws -> WebIdentityCredentials {
        let role = WebIdentityCredentials.Role("arn:aws:iam::1:role/r", tokenFile: path, session: "s")
        return WebIdentityCredentials(role, at: try StoreEndpoint(service.url), options)
    }

    private func expectValues(_ loaded: LoadedCredentials) {
        #expect(loaded.credentials.accessKeyID == "id" && loaded.credentials.securityToken == "token")
        #expect(loaded.credentials.secret.matches(Secret("hidden")))
        #expect(loaded.expiresAt == Self.expiry)
    }

    /// Returns the reason why nothing is loaded, which must not contain secrets.
    private func problem(_ loader: some CredentialLoader) async -> CredentialProblem? {
        let problem = await #expect(throws: CredentialProblem.self) { try await loader.load() }
        #expect(problem?.description.contains("hidden") == false)
        return problem
    }

    // MARK: Web identity

    @Test func webIdentityIsExchanged() async throws {
        let service = try ScriptedService(Self.document)
        let path = try service.tokenFile("ey.a+b/c=\n")
        let loader = try Self.webIdentity(service, path)
        expectValues(try await loader.load())
        let request = try #require(service.requests.first)
        #expect(request.line == "POST / HTTP/1.1")
        #expect(request.field("content-type") == "application/x-www-form-urlencoded")
        #expect(
            request.body
                == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
                + "&RoleSessionName=s&WebIdentityToken=ey.a%2Bb%2Fc%3D")
        _ = try service.tokenFile("second")
        _ = try await loader.load()
        #expect(service.requests.last?.body.hasSuffix("WebIdentityToken=second") == true)
    }

    @Test func refusalOfTheTokenServiceIsExplained() async throws {
        let service = try ScriptedService(
            status: 400,
            "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>old</Message></Error></ErrorResponse>")
        let problem = await problem(try Self.webIdentity(service, service.tokenFile("t")))
        #expect(problem?.isTransient == false)
        #expect(problem?.description.hasSuffix("refused the request: old (ExpiredTokenException)") == true)
    }

    @Test(arguments: [
        "", "hidden", "<a/>", "<AssumeRoleWithWebIdentityResponse/>", "{\"AccessKeyId\": \"hidden\"}",
        document.replacingOccurrences(of: "<AccessKeyId>id", with: "<AccessKeyId>i d"),
        document.replacingOccurrences(of: "<SecretAccessKey>hidden</SecretAccessKey>", with: ""),
        document.replacingOccurrences(of: "<SessionToken>token", with: "<SessionToken>to&#13;&#10;ken: x"),
        document.replacingOccurrences(of: "<SessionToken>token</SessionToken>", with: ""),
        document.replacingOccurrences(of: "2026-01-01T01:00:00Z", with: "tomorrow"),
        "<!DOCTYPE a [<!ENTITY b \"hidden\">]><a>&b;</a>",
        document + String(repeating: " ", count: 70_000),
    ])
    func otherDocumentsAreRefused(document: String) async throws {
        let service = try ScriptedService(document)
        #expect(await problem(try Self.webIdentity(service, service.tokenFile("t")))?.isTransient == false)
    }

    @Test(arguments: ["", "two words", "line\nline", String(repeating: "t", count: 70_000)])
    func invalidTokenFileIsNotSent(text: String) async throws {
        let service = try ScriptedService(Self.document)
        #expect(
            await problem(try Self.webIdentity(service, service.tokenFile(text)))?.description.contains("has no token")
                == true)
        #expect(service.requests.isEmpty)
    }

    @Test func missingTokenFileIsNamed() async throws {
        let service = try ScriptedService(Self.document)
        let loader = try Self.webIdentity(service, "/nonexistent/token")
        await #expect(throws: FileReader.Failure.self) { try await loader.load() }
    }

    // MARK: Every service

    @Test func redirectIsNotFollowed() async throws {
        let other = try ScriptedService("{\(Self.values)}")
        let service = try ScriptedService(status: 302, fields: "Location: \(other.url)/\r\n", "hidden")
        #expect(await problem(ContainerCredentials(at: service.url, .none))?.description.hasSuffix("HTTP 302") == true)
        #expect(await problem(try Self.webIdentity(service, service.tokenFile("t"))) != nil)
        #expect(await problem(InstanceCredentials(at: service.url)) != nil)
        #expect(other.requests.isEmpty)
    }

    @Test func slowServiceIsGivenUp() async throws {
        let service = try ScriptedService { _ in nil }
        var options = HTTPConnection.Options()
        options.totalTimeout = .milliseconds(50)
        #expect(await problem(ContainerCredentials(at: service.url, .none, options))?.isTransient == true)
        #expect(await problem(InstanceCredentials(at: service.url, options: options))?.isTransient == true)
        #expect(await problem(try Self.webIdentity(service, service.tokenFile("t"), options))?.isTransient == true)
    }

    @Test func overloadIsTransient() async throws {
        let service = try ScriptedService(status: 503, "hidden")
        #expect(await problem(ContainerCredentials(at: service.url, .none))?.isTransient == true)
    }

    @Test(arguments: [
        "", "[]", "hidden", "{}", "{\"Code\": \"Failed\", \(values)}", "{\"AccessKeyId\": 7}",
        "{\(values)".replacingOccurrences(of: "\"Token\": \"token\"", with: "\"Token\": \"a\\r\\nb\"") + "}",
        "{\(values)}" + String(repeating: " ", count: 70_000), String(repeating: "[", count: 50_000),
    ])
    func otherJSONIsRefused(body: String) async throws {
        let service = try ScriptedService(body)
        #expect(await problem(ContainerCredentials(at: service.url, .none))?.isTransient == false)
    }

    // MARK: Containers

    @Test func containerSendsItsAuthorization() async throws {
        let service = try ScriptedService("{\(Self.values)}")
        expectValues(try await ContainerCredentials(at: service.url + "/v2/x?id=1", .token(Secret("Bearer t"))).load())
        #expect(service.requests.last?.line == "GET /v2/x?id=1 HTTP/1.1")
        #expect(service.requests.last?.field("authorization") == "Bearer t")
        let path = try service.tokenFile("one")
        let loader = ContainerCredentials(at: service.url, .file(path))
        _ = try await loader.load()
        #expect(service.requests.last?.field("authorization") == "one")
        _ = try service.tokenFile("two\n")
        _ = try await loader.load()
        #expect(service.requests.last?.field("authorization") == "two")
        #expect(await problem(ContainerCredentials(at: service.url, .token(Secret("a\r\nb: c")))) != nil)
        #expect(service.requests.count == 3)
    }

    @Test(arguments: [
        ("http://169.254.170.2/v2", true), ("http://169.254.170.23/v1", true), ("http://[fd00:ec2::23]/v1", true),
        ("http://127.0.0.1:8080/a", true), ("http://localhost/a", true), ("http://[::1]:80/", true),
        ("https://keys.example.com/a", true), ("http://keys.example.com/a", false), ("http://169.254.170.2@h/", false),
        ("http://169.254.170.2\\@h/", false), ("http://h#@169.254.170.2", false), ("ftp://127.0.0.1/", false),
        ("http://127.0.0.1.example.com/", false),
        ("http://169.254.170.2:80@h/", false), ("http://[::1].example.com/", false), ("https://u@h/", false),
        ("http://127.0.0.1:80\\@h/", false), ("http://[::1", false), ("http:///", false), ("https://h/a b", false),
        ("", false),
    ])
    func addressOfAContainerServiceIsLimited(url: String, isPermitted: Bool) {
        #expect(ContainerCredentials.isPermitted(url) == isPermitted)
    }

    // MARK: Instances

    private static func metadata(role: String = "robot-role", token: String = "session") throws -> ScriptedService {
        try ScriptedService { request in
            switch request.line {
            case "PUT /latest/api/token HTTP/1.1": (200, "", token)
            case "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1": (200, "", role + "\n")
            case "GET /latest/meta-data/iam/security-credentials/robot-role HTTP/1.1":
                (200, "", "{\"Code\": \"Success\", \(values)}")
            default: (404, "", "")
            }
        }
    }

    @Test func instanceHasASession() async throws {
        let service = try Self.metadata()
        expectValues(try await InstanceCredentials(at: service.url).load())
        #expect(service.requests.map { $0.line.prefix { $0 != " " } } == ["PUT", "GET", "GET"])
        #expect(service.requests.first?.field("x-aws-ec2-metadata-token-ttl-seconds") != nil)
        #expect(service.requests.dropFirst().allSatisfy { $0.field("x-aws-ec2-metadata-token") == "session" })
    }

    @Test(arguments: [
        ("", "session", 2), ("../../user-data", "session", 2), ("a b", "session", 2), ("..", "session", 2),
        ("other", "session", 3), ("robot-role", "", 1), ("robot-role", "a b", 1),
        ("robot-role", String(repeating: "t", count: 5000), 1),
    ])
    func hostileMetadataEndTheRequests(role: String, token: String, requests: Int) async throws {
        let service = try Self.metadata(role: role, token: token)
        #expect(await problem(InstanceCredentials(at: service.url)) != nil)
        #expect(service.requests.count == requests)
    }

    // MARK: Renewal

    @Test func credentialsAreRenewedBeforeTheyExpire() async throws {
        let service = try ScriptedService("{\(Self.values)}")
        let clock = ManualClock(Self.expiry.adding(seconds: -301))
        let source = RenewedCredentials(ContainerCredentials(at: service.url, .none), clock: clock)
        _ = try await source.current()
        _ = try await source.current()
        #expect(service.requests.count == 1)
        clock.advance(seconds: 2)
        _ = try await source.current()
        #expect(service.requests.count == 2)
    }

    // MARK: Origins

    private func environment(_ variables: [String: String]) -> CredentialEnvironment {
        CredentialEnvironment(region: "eu-1") { variables[$0] }
    }

    @Test func environmentDecidesInOrder() {
        var variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": ""]
        #expect(environment(variables).automatic == .instance)
        variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/x"
        #expect(environment(variables).automatic == .container)
        variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/t"
        #expect(environment(variables).automatic == .webIdentity)
        variables["AWS_ACCESS_KEY_ID"] = "id"
        #expect(environment(variables).automatic == .environment)
    }

    @Test(arguments: [
        (CredentialOrigin.webIdentity, ["AWS_ROLE_ARN": "r"], "AWS_WEB_IDENTITY_TOKEN_FILE"),
        (
            .webIdentity, ["AWS_ROLE_ARN": "r", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ENDPOINT_URL_STS": "h"],
            "is h"
        ),
        (.container, [:], "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        (.container, ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://h/"], "must be https"),
        (.container, ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "@h/"], "must begin with a slash"),
        (.automatic, ["AWS_EC2_METADATA_DISABLED": "TRUE"], "AWS_EC2_METADATA_DISABLED"),
    ])
    func unusableEnvironmentIsExplained(origin: CredentialOrigin, variables: [String: String], text: String) {
        let problem = #expect(throws: CredentialProblem.self) { try environment(variables).loader(origin) }
        #expect(problem?.description.contains(text) == true)
    }

    @Test func loaderUsesTheEnvironment() async throws {
        let service = try ScriptedService { request in
            request.line.hasPrefix("POST") ? (200, "", Self.document) : (200, "", "{\(Self.values)}")
        }
        let path = try service.tokenFile("t")
        let variables = [
            "AWS_ROLE_ARN": "r", "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ENDPOINT_URL_STS": service.url,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": service.url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "auth",
        ]
        expectValues(try await environment(variables).loader(.automatic).load())
        #expect(service.requests.last?.body.contains("RoleArn=r&RoleSessionName=data-gateway&") == true)
        expectValues(try await environment(variables).loader(.container).load())
        #expect(service.requests.last?.line == "GET /c HTTP/1.1")
        #expect(service.requests.last?.field("authorization") == "auth")
        let metadata = try Self.metadata()
        let instance = environment(["AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.url + "/"])
        expectValues(try await instance.loader(.automatic).load())
    }
}
