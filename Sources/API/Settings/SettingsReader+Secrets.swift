package import Crypto

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
