import Basics
import Foundation
import HTTPTypes

/// The rule for the URLs of identity providers, and for those to which they send browsers back: `https`, or `http` on a loopback
/// address.
package enum ProviderURL {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
    private static let longest = 2048

    package static func isAcceptable(_ text: String) -> Bool {
        guard let parts = parts(text) else { return false }
        return parts.scheme == "https" || (parts.scheme == "http" && isLoopback(parts))
    }

    /// Whether the URL is on this machine.
    package static func isOnLoopback(_ text: String) -> Bool { parts(text).map(isLoopback) ?? false }

    private static func parts(_ text: String) -> URLComponents? {
        guard text.utf8.count <= longest, text.utf8.allSatisfy(\.isASCIIVisible),
            let parts = URLComponents(string: text), parts.host?.isEmpty == false, parts.user == nil,
            parts.password == nil, parts.fragment == nil
        else { return nil }
        return parts
    }

    private static func isLoopback(_ parts: URLComponents) -> Bool {
        let host = (parts.host ?? "").trimmingCharacters(in: ["[", "]"])
        return host == "localhost" || loopback.contain(host)
    }
}
