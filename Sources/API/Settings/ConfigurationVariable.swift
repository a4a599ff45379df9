/// The names of environment variables for keys: `DATA_GATEWAY_` and the key in capitals, with two underscores for each dot;
/// `rpc.max_handlers` is `DATA_GATEWAY_RPC__MAX_HANDLERS`.
///
/// Two, because names and sections contain single underscores, and so that other variables with the prefix `DATA_GATEWAY_` are not
/// taken for keys: those of the commands, and those that Kubernetes sets for a service named data-gateway.
enum ConfigurationVariable {
    private static let prefix = "DATA_GATEWAY_"

    static func name(of key: String) -> String {
        prefix + key.uppercased().replacing(".", with: "__")
    }

    /// Returns the key; `nil` if the variable has not the form of a key, known or not.
    static func key(of variable: String) -> String? {
        guard variable.hasPrefix(prefix) else { return nil }
        let rest = variable.dropFirst(prefix.count)
        guard let mark = rest.firstRange(of: "__"), mark.lowerBound > rest.startIndex else { return nil }
        return rest.lowercased().replacing("__", with: ".")
    }
}
