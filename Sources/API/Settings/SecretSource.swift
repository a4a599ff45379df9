import Basics
import Crypto
import Foundation

/// The source of a secret: the file in `secret_file`, or the environment variable in `secret_env`. The configuration itself
/// contains no secrets, so that others may read it.
struct SecretSource {
    private enum Origin {
        case file(String)
        case variable(String)
    }

    /// The owner of the secret, e.g. `webhooks.crm`.
    private let place: String
    private let origin: Origin
    private let log: Logger

    /// - Parameters: empty = not given.
    init(of place: String, file: String, variable: String, log: Logger) throws(ConfigurationError) {
        self.place = place
        self.log = log
        switch (file.isEmpty, variable.isEmpty) {
        case (false, true): origin = .file(file)
        case (true, false): origin = .variable(variable)
        default: throw ConfigurationError("\(place) must have either secret_file or secret_env", key: place)
        }
    }

    /// Returns the whole contents; empty for a variable that is not set.
    func bytes() throws(ConfigurationError) -> [UInt8] {
        switch origin {
        case .variable(let name): return Array((ProcessInfo.processInfo.environment[name] ?? "").utf8)
        case .file(let path):
            let content: [UInt8]
            do {
                content = try PrivateFile.contents(of: path)
            } catch {
                throw ConfigurationError(
                    "\(place).secret_file cannot be read: \(error)", key: "\(place).secret_file")
            }
            warnWhereOthersReach(path)
            return content
        }
    }

    /// Logs a warning if other users than the file's owner and group may read or write it.
    private func warnWhereOthersReach(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & (S_IROTH | S_IWOTH) != 0 else { return }
        log.write(
            "other users can read a secret", ["place": place, "file": path, "hint": "run chmod o-rw on the file"],
            level: .warning)
    }

    /// Makes the error that the source's contents violate a rule.
    func wrong(_ rule: String) -> ConfigurationError {
        switch origin {
        case .file(let path):
            ConfigurationError("\(place).secret_file must hold \(rule) (\(path))", key: "\(place).secret_file")
        case .variable(let name):
            ConfigurationError("\(place).secret_env must hold \(rule) (\(name))", key: "\(place).secret_env")
        }
    }
}
