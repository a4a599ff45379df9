import Capability
import Configuration
import RPC
import S3Engine
import Settings

/// Whether several gateways (replicas) use the database and the bucket together: the section `replicas`.
package struct ReplicasConfiguration: Sendable {
    package let isEnabled: Bool

    init(_ settings: SettingsReader) {
        isEnabled = settings.section("replicas").flag("enabled", default: false)
    }

    /// Refuses what replicas cannot have, each with the setting that they need.
    static func check(_ configuration: Configuration, _ settings: SettingsReader) {
        guard configuration[ReplicasConfiguration.self].isEnabled else { return }
        let section = settings.section("replicas")
        let store = configuration[StoreConfiguration.self]
        var problems: [String] = []
        if configuration.database.server == nil {
            problems.append("a database on a server, which all replicas use: set database.url")
        }
        if configuration.database.rootKeyFile == nil {
            problems.append("the same root key, which cluster init makes: set database.root_key_file")
        }
        if store.engine.kind != .s3 || store.engine.previous != nil {
            problems.append(
                "the bytes of all objects in a bucket: set objects.engine to s3, and copy the objects before "
                    + "(data-gateway objects copy)")
        }
        if configuration.trustedProxies.ranges.isEmpty {
            problems.append(
                "the addresses of callers from the balancer, for limits and the audit log: set rpc.trusted_proxies")
        }
        let untold = configuration.publicAddresses.missing(configuration.listeners.keys).map {
            "listeners.public.\($0.settingName)"
        }
        if !untold.isEmpty {
            problems.append("the balancer's addresses for clients: set \(untold.joined(separator: ", "))")
        }
        if configuration.publicEndpoint == nil, configuration.listeners[.objectStore] != nil {
            problems.append("the balancer's address for the object store: set object_store.public_endpoint")
        }
        if !problems.isEmpty {
            section.reject("enabled", "is true, and replicas need " + problems.joined(separator: "; "))
        }
    }
}
