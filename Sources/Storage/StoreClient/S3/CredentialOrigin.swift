import Basics
import Crypto
package import HTTPClient
package import StoreProtocol

/// The place that the credentials for a bucket are loaded from.
package enum CredentialOrigin: Sendable, Equatable {
    /// The first of those that the environment names: its own variables, a web identity, a container's service. If it names none,
    /// the instance metadata service.
    case automatic
    case file(path: String, profile: String)
    case environment
    case webIdentity
    case container
    case instance
}

/// The variables of the environment by which the tools for S3 find credentials.
package struct CredentialEnvironment: Sendable {
    private let variable: @Sendable (String) -> String?
    private let region: String
    private let tokenService: StoreEndpoint?
    private let options: HTTPConnection.Options?

    /// - Parameters:
    ///   - region: the region of the security token service.
    ///   - tokenService: the address of that service; `nil` = that in `AWS_ENDPOINT_URL_STS`, or Amazon's own.
    ///   - options: of the connections to services; `nil` = the usual ones.
    ///   - variable: returns the value of a variable.
    package init(
        region: String, tokenService: StoreEndpoint? = nil, _ options: HTTPConnection.Options? = nil,
        variable: @escaping @Sendable (String) -> String?
    ) {
        self.region = region
        self.tokenService = tokenService
        self.options = options
        self.variable = { name in variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The first origin that the environment names. It is used alone: if it fails, no other one replaces it, because the identity
    /// would change without anybody's decision.
    package var automatic: CredentialOrigin {
        if variable("AWS_ACCESS_KEY_ID") != nil || variable("AWS_SECRET_ACCESS_KEY") != nil { return .environment }
        if variable("AWS_WEB_IDENTITY_TOKEN_FILE") != nil { return .webIdentity }
        let names = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"]
        return names.contains { variable($0) != nil } ? .container : .instance
    }

    /// Makes the loader for an origin.
    ///
    /// - Throws: the reason why the environment cannot be used for it.
    package func loader(_ origin: CredentialOrigin) throws(CredentialProblem) -> any CredentialLoader {
        switch origin == .automatic ? automatic : origin {
        case .automatic, .environment: return EnvironmentCredentials(variable)
        case .file(let path, let profile): return FileCredentials(path, profile: profile)
        case .webIdentity: return try webIdentity()
        case .container: return try container()
        case .instance: return try instance()
        }
    }

    private func webIdentity() throws(CredentialProblem) -> WebIdentityCredentials {
        guard let role = variable("AWS_ROLE_ARN"), let path = variable("AWS_WEB_IDENTITY_TOKEN_FILE") else {
            throw CredentialProblem(
                description: "a web identity needs the variables AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE")
        }
        return WebIdentityCredentials(
            WebIdentityCredentials.Role(
                role, tokenFile: path, session: variable("AWS_ROLE_SESSION_NAME") ?? "data-gateway"),
            at: try tokenServiceEndpoint(), options)
    }

    private func tokenServiceEndpoint() throws(CredentialProblem) -> StoreEndpoint {
        if let tokenService { return tokenService }
        let text = variable("AWS_ENDPOINT_URL_STS") ?? "https://sts.\(region).amazonaws.com"
        do {
            return try StoreEndpoint(text)
        } catch {
            throw CredentialProblem(
                description: "the security token service must be http[s]://HOST[:PORT], and is \(text): \(error)")
        }
    }

    private func container() throws(CredentialProblem) -> ContainerCredentials {
        let authorization: ContainerCredentials.Authorization =
            if let path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
                .file(path)
            } else if let token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN") {
                .token(Secret(token))
            } else {
                .none
            }
        let url: String
        if let path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/") else {
                throw CredentialProblem(description: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must begin with a slash")
            }
            url = ContainerCredentials.standardEndpoint + path
        } else if let full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            url = full
        } else {
            throw CredentialProblem(
                description: "a container's credentials need AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or "
                    + "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        }
        guard ContainerCredentials.isPermitted(url) else {
            throw CredentialProblem(
                description: "AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or an address of this machine or of "
                    + "its container platform")
        }
        return ContainerCredentials(at: url, authorization, options)
    }

    private func instance() throws(CredentialProblem) -> InstanceCredentials {
        guard variable("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else {
            throw CredentialProblem(
                description: "there are no credentials: the environment names none, and AWS_EC2_METADATA_DISABLED is "
                    + "true")
        }
        guard let endpoint = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") else {
            return InstanceCredentials(options: options)
        }
        return InstanceCredentials(
            at: endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint, options: options)
    }
}
