import Basics
package import Crypto
package import HTTPClient
import HTTPTypes
import JSON
package import StoreProtocol
import XML

/// A service that issues credentials: each request has one response of a bounded size, within a bounded time, from the address that
/// was asked. Redirects are failures. What the service answers is part of no message except the code and the text of its errors.
struct CredentialService: Sendable {
    /// The largest response in bytes.
    static let maximumResponseBytes = 64 << 10
    /// The largest file with a token in bytes.
    private static let maximumTokenFile = 64 << 10

    /// The number of scalars that are kept of a service's text.
    private static let longestText = 256

    /// The options of a connection to a service.
    static let options = {
        var options = HTTPConnection.Options()
        options.connectTimeout = .seconds(5)
        options.stallTimeout = .seconds(10)
        options.totalTimeout = .seconds(15)
        return options
    }()

    /// The name for people.
    let name: String
    private let connection: HTTPConnection

    init(_ name: String, _ options: HTTPConnection.Options) {
        self.name = name
        connection = HTTPConnection(options)
    }

    /// Returns the body of a successful response.
    ///
    /// - Throws: ``CredentialProblem``; `CancellationError`.
    func body(_ request: HTTPRequest) async throws -> [UInt8] {
        let reply: HTTPReply
        do {
            reply = try await connection.exchange(request)
        } catch let failure as TransferFailure {
            guard case .connection = failure else { throw problem("cannot be used: \(failure)") }
            throw problem("cannot be reached: \(failure)", isTransient: true)
        }
        guard reply.body.count <= Self.maximumResponseBytes else { throw problem("sent a response above 64 KiB") }
        guard reply.status == 200 else { throw refusal(reply) }
        return reply.body
    }

    /// Describes an unsuccessful response by the code and the text in its document, if it has one.
    private func refusal(_ reply: HTTPReply) -> CredentialProblem {
        let isTransient = reply.status == 429 || reply.status >= 500
        let document = try? XMLElement(parsing: reply.body, maximumBytes: Self.maximumResponseBytes)
        let error = document?.children.first { $0.name == "Error" } ?? document
        func text(_ name: String) -> String {
            String(String.UnicodeScalarView((error?[name] ?? "").unicodeScalars.prefix(Self.longestText)))
        }
        let code = text("Code")
        guard !code.isEmpty else { return problem("responded with HTTP \(reply.status)", isTransient: isTransient) }
        return problem("refused the request: \(text("Message")) (\(code))", isTransient: isTransient)
    }

    func problem(_ what: String, isTransient: Bool = false) -> CredentialProblem {
        CredentialProblem(description: "\(name) \(what)", isTransient: isTransient)
    }

    /// Reads credentials in the JSON of an instance's metadata and of a container's endpoint.
    func credentials(json body: [UInt8]) throws(CredentialProblem) -> LoadedCredentials {
        guard let members = (try? JSONValue(parsing: body))?.members else {
            throw problem("sent no JSON object with credentials")
        }
        if let code = members["Code"]?.stringValue, code != "Success" {
            throw problem(
                "has no credentials: \(String(code.unicodeScalars.filter { $0.properties.isAlphabetic }.prefix(64)))")
        }
        return try credentials { members[$0]?.stringValue }
    }

    /// Reads credentials by the names of their values; those that a service issues always expire.
    func credentials(_ value: (String) -> String?) throws(CredentialProblem) -> LoadedCredentials {
        guard let id = value("AccessKeyId"), let secret = value("SecretAccessKey"), Self.isValue(id, longest: 256),
            Self.isValue(secret, longest: 1024)
        else { throw problem("sent no valid AccessKeyId and SecretAccessKey") }
        guard let token = value("Token") ?? value("SessionToken"), Self.isValue(token, longest: 32 << 10) else {
            throw problem("sent no valid session token")
        }
        guard let expiresAt = value("Expiration").flatMap({ RFC3339.parse($0)?.time }) else {
            throw problem("sent no valid Expiration")
        }
        return LoadedCredentials(
            SigningCredentials(accessKeyID: id, secret: Secret(secret), securityToken: token), expiresAt: expiresAt)
    }

    /// Whether a text may be the value of a header field, without spaces.
    static func isValue(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIVisible)
    }

    /// Reads a token from a file, which may be replaced while the process runs.
    static func token(in path: String) async throws -> String {
        let bytes = try await Worker.disk.run { try FileReader(path).contents(limit: Self.maximumTokenFile) }
        let token = String(decoding: bytes, as: UTF8.self).trimmingSpacesAndLineEnds()
        guard isValue(token, longest: Self.maximumTokenFile - 1) else {
            throw CredentialProblem(description: "\(path) has no token: one line without spaces, below 64 KiB")
        }
        return token
    }
}

/// Temporary credentials of a role, for the token of another identity provider: AssumeRoleWithWebIdentity of the Security Token
/// Service. The token is in a file, as Kubernetes provides it, and read for each request.
package struct WebIdentityCredentials: CredentialLoader {
    /// The role, and the proof that this process may assume it.
    package struct Role: Sendable, Equatable {
        package let name: String
        package let tokenFile: String
        /// The name of the session in the provider's logs.
        package let session: String

        package init(_ name: String, tokenFile: String, session: String) {
            self.name = name
            self.tokenFile = tokenFile
            self.session = session
        }
    }

    private let role: Role
    private let endpoint: StoreEndpoint
    private let service: CredentialService

    package init(_ role: Role, at endpoint: StoreEndpoint, _ options: HTTPConnection.Options? = nil) {
        self.role = role
        self.endpoint = endpoint
        service = CredentialService(
            "the security token service \(endpoint.authority)", options ?? CredentialService.options)
    }

    package func load() async throws -> LoadedCredentials {
        let form = URLEncoding.form([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role.name),
            ("RoleSessionName", role.session),
            ("WebIdentityToken", try await CredentialService.token(in: role.tokenFile)),
        ])
        let body = try await service.body(
            HTTPRequest(
                "POST", endpoint.text + "/",
                fields: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/xml"],
                body: .bytes(Array(form.utf8))))
        let document = try? XMLElement(parsing: body, maximumBytes: CredentialService.maximumResponseBytes)
        let result = document?.children.first { $0.name == "AssumeRoleWithWebIdentityResult" }
        guard document?.name == "AssumeRoleWithWebIdentityResponse",
            let credentials = result?.children.first(where: { $0.name == "Credentials" })
        else { throw service.problem("sent no AssumeRoleWithWebIdentityResponse") }
        return try service.credentials { credentials[$0] }
    }

    package func hasChanged() -> Bool { false }
}

/// Credentials of the role of a virtual machine, from its metadata service (IMDSv2): a session token, the role's name, its credentials.
package struct InstanceCredentials: CredentialLoader {
    package static let standardEndpoint = "http://169.254.169.254"
    private static let roles = "/latest/meta-data/iam/security-credentials/"

    private let endpoint: String
    private let service: CredentialService

    /// - Parameter endpoint: the service's URL without a path.
    package init(
        at endpoint: String = InstanceCredentials.standardEndpoint, options: HTTPConnection.Options? = nil
    ) {
        self.endpoint = endpoint
        service = CredentialService("the instance metadata service", options ?? CredentialService.options)
    }

    package func load() async throws -> LoadedCredentials {
        let issued = try await service.body(
            HTTPRequest(
                "PUT", endpoint + "/latest/api/token", fields: ["X-aws-ec2-metadata-token-ttl-seconds": "300"],
                body: .bytes([])))
        let token = String(decoding: issued, as: UTF8.self)
        guard CredentialService.isValue(token, longest: 4096) else { throw service.problem("sent no valid token") }
        let names = try await get(Self.roles, token)
        let role = String(decoding: names.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard Self.isRole(role) else { throw service.problem("has no role: attach one to the instance") }
        return try service.credentials(json: try await get(Self.roles + role, token))
    }

    /// Whether a text is the name of a role: letters, digits and `+=,.@_-`.
    private static func isRole(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "+=,.@_-".utf8.contains($0) } && name != "."
            && name != ".."
    }

    private func get(_ path: String, _ token: String) async throws -> [UInt8] {
        try await service.body(HTTPRequest("GET", endpoint + path, fields: ["X-aws-ec2-metadata-token": token]))
    }

    package func hasChanged() -> Bool { false }
}

/// Credentials from the endpoint that a container's platform provides, such as ECS or EKS Pod Identity.
package struct ContainerCredentials: CredentialLoader {
    /// The authorization of the requests.
    package enum Authorization: Sendable, Equatable {
        case none
        case token(Secret)
        /// A file with the token, read for each request.
        case file(String)

        package static func == (left: Authorization, right: Authorization) -> Bool {
            switch (left, right) {
            case (.none, .none): true
            case (.token(let left), .token(let right)): left.matches(right)
            case (.file(let left), .file(let right)): left == right
            default: false
            }
        }
    }

    /// The address for URLs without a host.
    package static let standardEndpoint = "http://169.254.170.2"
    /// The hosts that receive the authorization over plain HTTP, besides those of this machine.
    private static let plainHosts: Set = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]

    private let url: String
    private let authorization: Authorization
    private let service: CredentialService

    /// - Parameter url: must satisfy ``isPermitted(_:)``.
    package init(at url: String, _ authorization: Authorization, _ options: HTTPConnection.Options? = nil) {
        self.url = url
        self.authorization = authorization
        service = CredentialService("the container's credential service", options ?? CredentialService.options)
    }

    /// Whether credentials may be requested at the URL: `https`, or an address that does not leave the machine.
    package static func isPermitted(_ url: String) -> Bool {
        guard url.utf8.allSatisfy(\.isASCIIVisible), url.utf8.count <= 2048,
            let scheme = ["http://", "https://"].first(where: url.hasPrefix)
        else { return false }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return false }
        let isIPv6 = authority.first == "["
        guard !isIPv6 || authority.contains("]") else { return false }
        let host = String(isIPv6 ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" })
        let bare = isIPv6 ? String(host.dropFirst().dropLast()) : host
        let port = authority.dropFirst(host.count)
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy(\.isASCIIDigit) else {
            return false
        }
        return scheme == "https://" || plainHosts.contains(host) || PeerAddress(host: bare, port: 80).isLoopback
    }

    package func load() async throws -> LoadedCredentials {
        let token: String? =
            switch authorization {
            case .none: nil
            case .token(let secret): secret.exposedText
            case .file(let path): try await CredentialService.token(in: path)
            }
        if let token, token.hasControlCharacter() {
            throw CredentialProblem(description: "AWS_CONTAINER_AUTHORIZATION_TOKEN has control characters")
        }
        return try service.credentials(
            json: try await service.body(
                HTTPRequest("GET", url, fields: token.map { ["Authorization": $0] } ?? [:])))
    }

    package func hasChanged() -> Bool { false }
}
