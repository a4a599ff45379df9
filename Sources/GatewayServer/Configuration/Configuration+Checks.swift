import Capability
import HTTPTypes
import Settings
import StoreProtocol

/// The rules about listeners.
extension Configuration {
    func check(_ settings: SettingsReader, allowsCleartext: Bool) {
        checkCleartext(settings, allowsCleartext: allowsCleartext)
        checkAddresses(settings)
    }

    /// Requires an explicit setting before secrets can be sent beyond this machine.
    private func checkCleartext(_ settings: SettingsReader, allowsCleartext: Bool) {
        // With a fault in the section, it is not known which listeners were to use TLS.
        let isTLSUnknown = settings.faults.contains { $0.key?.hasPrefix("tls.") == true }
        guard !allowsCleartext, !isTLSUnknown else { return }
        for (name, address) in listeners.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !address.isLoopback && !isSecure(name) {
            settings.report(
                ConfigurationError(
                    "the \(name.rawValue) listener \(address) is reachable from other machines and carries secrets:"
                        + " configure TLS (tls.certificate), listen on 127.0.0.1 behind a proxy with TLS,"
                        + " or set listeners.allow_cleartext to true", key: name.key))
        }
    }

    /// Requires what devices and clients of the object store need to know or to expect.
    private func checkAddresses(_ settings: SettingsReader) {
        let isEndpointGiven = settings.contains("object_store.public_endpoint")
        if let address = listeners[.objectStore], address.isWildcard, publicEndpoint == nil, !isEndpointGiven {
            settings.report(
                ConfigurationError(
                    "the object-store listener \(address) does not have a single address for clients:"
                        + " set object_store.public_endpoint, for example to http://192.0.2.7:\(address.port)",
                    key: ListenerName.objectStore.key))
        }
        if listeners[.objectStore] == nil, listeners[.gateway] != nil {
            settings.reject(
                ListenerName.objectStore.key,
                "is off, but the gateway listener gives clients its address for uploads:"
                    + " set listeners.gateway to off, too")
        }
        if let publicEndpoint, isSecure(.objectStore), !publicEndpoint.isSecure {
            settings.reject(
                "object_store.public_endpoint",
                "begins with http://, but the object-store listener uses TLS:"
                    + " begin it with https://, or remove object-store from tls.listeners")
        }
    }
}
