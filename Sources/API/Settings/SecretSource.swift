import Basics
package import Crypto
import FoundationEssentials
import Glibc

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

extension SettingsReader {
    /// Reads the secret in the file or the environment variable that `secret_file` or `secret_env` names; `nil` after a fault.
    ///
    /// - Parameter least: the smallest accepted number of bytes.
    package func secret(least: Int) -> Secret? {
        secret("a secret of at least \(least) bytes") { Secret(firstLineOf: $0, least: least) }
    }

    /// Reads such a secret; `nil` also if neither is set.
    package func optionalSecret(least: Int) -> Secret? {
        guard contains("secret_file") || contains("secret_env") else {
            _ = secretKeys()
            return nil
        }
        return secret(least: least)
    }

    /// Reads such a secret in a form of its own.
    ///
    /// - Parameters:
    ///   - rule: the words for what is valid.
    ///   - parse: returns `nil` for contents that are not.
    package func secret<Value>(_ rule: String, _ parse: ([UInt8]) -> Value?) -> Value? {
        let (file, variable) = secretKeys()
        do throws(ConfigurationError) {
            let origin = try SecretSource(of: place, file: file, variable: variable, log: source.log)
            guard let value = parse(try origin.bytes()) else { throw origin.wrong(rule) }
            return value
        } catch {
            report(error)
            return nil
        }
    }

    private func secretKeys() -> (file: String, variable: String) {
        (text("secret_file", default: "", unit: "path"), text("secret_env", default: "", unit: "variable"))
    }
}
