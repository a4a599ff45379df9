/// Names of environment variables that stand for keys: `DATA_GATEWAY_` and the key in capitals, two underscores for each
/// dot; `rpc.max_handlers` is `DATA_GATEWAY_RPC__MAX_HANDLERS`.
///
/// Two, because a name and a section hold single ones, and so that nothing else that begins with `DATA_GATEWAY_` is taken
/// for a key: neither what the commands read, nor what Kubernetes sets for a service that is called data-gateway.
enum ConfigurationVariable {
    private static let prefix = "DATA_GATEWAY_"

    static func name(of key: String) -> String {
        prefix + key.uppercased().replacing(".", with: "__")
    }

    /// `nil` where `variable` stands for no key at all, known or not.
    static func key(of variable: String) -> String? {
        guard variable.hasPrefix(prefix) else { return nil }
        let rest = variable.dropFirst(prefix.count)
        guard let mark = rest.firstRange(of: "__"), mark.lowerBound > rest.startIndex else { return nil }
        return rest.lowercased().replacing("__", with: ".")
    }
}
