import Basics
import Crypto
import Glibc
import HTTPClient
import StoreProtocol
import Synchronization

/// The reason why no credentials can be loaded: a sentence without a full stop.
package struct CredentialProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether a later attempt may succeed.
    package var isTransient = false
}

/// Credentials in the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
package struct EnvironmentCredentials: CredentialLoader {
    private let variable: @Sendable (String) -> String?

    package init(_ variable: @escaping @Sendable (String) -> String?) {
        self.variable = variable
    }

    package func load() throws -> LoadedCredentials {
        guard let id = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY"), !id.isEmpty,
            !secret.isEmpty
        else {
            throw CredentialProblem(
                description: "the environment has no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        let token = variable("AWS_SESSION_TOKEN").flatMap { $0.isEmpty ? nil : $0 }
        return LoadedCredentials(SigningCredentials(accessKeyID: id, secret: Secret(secret), securityToken: token))
    }

    package func hasChanged() -> Bool { false }
}

/// Credentials in a file in the format of the tools for S3: lines `aws_access_key_id = …`, `aws_secret_access_key = …` and, for temporary
/// ones, `aws_session_token = …` below `[default]`.
package final class FileCredentials: CredentialLoader {
    private static let maximumBytes = 64 << 10

    /// The properties of a file that differ after each change.
    private struct Version: Equatable, Sendable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private let path: String
    private let profile: String
    private let loaded = Lock<Version?>(nil)

    package init(_ path: String, profile: String = "default") {
        self.path = path
        self.profile = profile
    }

    package func load() async throws -> LoadedCredentials {
        let (version, bytes) = try await Worker.disk.run { [path] in
            let file = try FileReader(path)
            return (Version(try file.status()), try file.contents(limit: Self.maximumBytes))
        }
        let values = Self.values(String(decoding: bytes, as: UTF8.self), profile: profile)
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
            throw CredentialProblem(
                description: "\(path) has no aws_access_key_id and aws_secret_access_key below [\(profile)]")
        }
        loaded.withLock { $0 = version }
        return LoadedCredentials(
            SigningCredentials(
                accessKeyID: id, secret: Secret(secret), securityToken: values["aws_session_token"]))
    }

    package func hasChanged() -> Bool {
        var status = stat()
        // A file that is being replaced may be missing for a moment.
        guard stat(path, &status) == 0 else { return false }
        return loaded.withLock { $0 } != Version(status)
    }

    /// Returns the values of a section.
    private static func values(_ text: String, profile: String) -> [String: String] {
        var values: [String: String] = [:]
        var isInProfile = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = String(line).trimmingSpaces()
            if line.hasPrefix("[") {
                isInProfile = line == "[\(profile)]"
            } else if isInProfile, !line.hasPrefix("#"), !line.hasPrefix(";"),
                case (let name, let value?) = line[...].halves(atFirst: "=")
            {
                values[String(name).trimmingSpaces().lowercased()] = String(value).trimmingSpaces()
            }
        }
        return values.filter { !$0.value.isEmpty }
    }
}
