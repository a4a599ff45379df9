import Basics
import Crypto
import Foundation

/// Where a secret is: in the file that `secret_file` names, or in the environment variable that `secret_env` does. The
/// configuration itself holds none, so that others may read it.
struct SecretSource {
    private enum Origin {
        case file(String)
        case variable(String)
    }

    /// What the secret belongs to, e.g. `webhooks.crm`.
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
        default: throw ConfigurationError("\(place) must have either secret_file or secret_env")
        }
    }

    /// All that is there; of a variable that is not set, nothing.
    func bytes() throws(ConfigurationError) -> [UInt8] {
        switch origin {
        case .variable(let name): return Array((ProcessInfo.processInfo.environment[name] ?? "").utf8)
        case .file(let path):
            guard let content = try? PrivateFile.read(path) else {
                throw ConfigurationError("\(place).secret_file cannot be read: \(path)")
            }
            warnWhereOthersReach(path)
            return content
        }
    }

    /// Says so where users of the machine other than the file's owner and group may read or write it.
    private func warnWhereOthersReach(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & (S_IROTH | S_IWOTH) != 0 else { return }
        log.write(
            "other users can read a secret", ["place": place, "file": path, "hint": "run chmod o-rw on the file"],
            level: .warning)
    }

    /// The first line.
    ///
    /// - Parameter least: bytes.
    func secret(least: Int) throws(ConfigurationError) -> Secret {
        let line = Array(try bytes().prefix { $0 != 0x0A && $0 != 0x0D })
        guard line.count >= least else { throw wrong("a secret of at least \(least) bytes") }
        return Secret(line)
    }

    /// The error that says that the source does not hold what it must.
    func wrong(_ rule: String) -> ConfigurationError {
        switch origin {
        case .file(let path): ConfigurationError("\(place).secret_file must hold \(rule) (\(path))")
        case .variable(let name): ConfigurationError("\(place).secret_env must hold \(rule) (\(name))")
        }
    }
}
